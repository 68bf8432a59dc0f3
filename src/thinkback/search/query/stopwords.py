"""English words that shape a question but name nothing in it, and parts of words that do.

They are left out of a bare keyword query only when other words remain, so no query is ever emptied by them.
"""

from thinkback.languages import FUNCTION_WORDS as FUNCTION_WORDS

_NEGATED = (
    "ain aren can couldn daren didn doesn don hadn hasn haven isn mayn mightn mustn needn oughtn shan shouldn wasn "
    "weren won wouldn"
)

# What stands after the apostrophe of a contraction or possessive: it's, we'll, I've, you're, I'd, I'm, don't.
CONTRACTED_ENDINGS: frozenset[str] = frozenset({"s", "t", "ll", "ve", "re", "d", "m"})

# What stands before the apostrophe of a contracted negation. Only there: "won" and "don" are words of their own.
NEGATED_STEMS: frozenset[str] = frozenset(_NEGATED.split())

# Function words that are also names; a capital in mid-sentence means the name ("What did Will plan for May?").
NAMES_WHEN_CAPITALISED: frozenset[str] = frozenset({"may", "will"})
