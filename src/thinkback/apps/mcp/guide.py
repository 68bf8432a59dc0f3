"""The guide: what the short schemas of the tools leave out, as a resource that a model reads when it needs it."""

from thinkback.apps.mcp.tools import RememberFields, UpdateFields
from thinkback.fields import FIELDS, FILTERS

_CHANGES = {
    "recipe": "a named ranking recipe: default, precise, keyword, …",
    "cycle": "the current cycle, for recency by cycles.",
    "overrides": 'changes to the recipe by path, such as {"signals.recency.weight": 0.3}.',
    "explain": "true: add provenance, scores and what each leg and signal added.",
    "min_relevance": "leave out memories that answer with less than this probability; 0.4 is strict, 0.15 generous.",
    "reflections_only": "true: search only the reflections on themes; recency (0 to 1) blends in how fresh they are.",
    "vector": "the embedding of the query, instead of the embedder's.",
}

_STATED = {
    'user "me", thread "this"': "the user and the conversation that your client states with a request, if it does.",
}
_WHERE = {
    "a field": '{"user": "ann"}, {"tags": "draft"}, {"metadata.n": {"gt": 6}}, {"created_at": {"lt": "2026-01-01"}}, …',
    "operators": "eq, ne, gt, gte, lt, lte, in, not, exists, any, all; conditions join by and, or, not.",
    "dry_run": "true, unless given: shows what would go. With ids alone it is false.",
}
_LINKS = {
    "contests": "from_id is newer and contradicts to_id; both stay valid.",
    "supersedes": "the same, and to_id is no longer valid from the time of from_id on.",
    "any other": "what the link means in your words; it only helps to find the other memory.",
}
_STORE = {"store": "where a server with two stores keeps it: repository (default), or user for all your projects."}


def guide() -> str:
    """Every filter, field and change, one a line."""
    filters = {row.name: row.help for row in FILTERS}
    parts = {
        "Filters of recall and search_keywords": filters | _STATED,
        "where of forget": _WHERE,
        "Changes of recall": _CHANGES,
        "Kinds of link": _LINKS,
        "Fields of remember": {row.name: row.help for row in FIELDS if row.name in RememberFields.model_fields}
        | _STORE,
        "Fields of update": {row.name: row.help for row in FIELDS if row.name in UpdateFields.model_fields},
    }
    lines = [line for title, rows in parts.items() for line in (f"\n## {title}", *_rows(rows))]
    return "\n".join(["Times are ISO 8601. An id may be given by its last six letters.", *lines]) + "\n"


def _rows(rows: dict[str, str]) -> list[str]:
    return [f"- {name}: {text}" for name, text in rows.items()]
