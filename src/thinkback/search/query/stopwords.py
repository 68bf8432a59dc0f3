"""English words that shape a question but name nothing in it.

They are left out of a bare keyword query only when other words remain, so no query is ever emptied by them.
"""

_QUESTION_WORDS = (
    "what which who whom whose when where why how whatever whichever whoever whenever wherever whats whos wheres hows"
)
_DETERMINERS = "a an the this that these those some any all both none other another each every either neither such"
_PRONOUNS = (
    "i me my mine myself you your yours yourself yourselves he him his himself she her hers herself it its itself "
    "we us our ours ourselves they them their theirs themselves one ones"
)
_AUXILIARIES = (
    "am is are was were be been being do does did doing done have has had having can could may might must shall "
    "should will would ought dont doesnt didnt isnt arent wasnt werent hasnt havent hadnt cant couldnt wouldnt "
    "shouldnt im ive"
)
_PREPOSITIONS = "of in on at for to"  # others tell texts apart: "with", "about" and "from" are worth a point of any@5
_CONJUNCTIONS = "and or nor but if as than so"
_ADVERBS = "not no only own same too very just there here ever also"
_NEGATED = (
    "ain aren can couldn daren didn doesn don hadn hasn haven isn mayn mightn mustn needn oughtn shan shouldn wasn "
    "weren won wouldn"
)

FUNCTION_WORDS: frozenset[str] = frozenset(
    f"{_QUESTION_WORDS} {_DETERMINERS} {_PRONOUNS} {_AUXILIARIES} {_PREPOSITIONS} {_CONJUNCTIONS} {_ADVERBS}".split()
)

# What stands after the apostrophe of a contraction or possessive: it's, we'll, I've, you're, I'd, I'm, don't.
CONTRACTED_ENDINGS: frozenset[str] = frozenset({"s", "t", "ll", "ve", "re", "d", "m"})

# What stands before the apostrophe of a contracted negation. Only there: "won" and "don" are words of their own.
NEGATED_STEMS: frozenset[str] = frozenset(_NEGATED.split())

# Function words that are also names; a capital in mid-sentence means the name ("What did Will plan for May?").
NAMES_WHEN_CAPITALISED: frozenset[str] = frozenset({"may", "will"})
