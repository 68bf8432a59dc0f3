"""Values for a JSON schema, in the part of the language that our own document uses."""

from typing import Any

from hypothesis import strategies as st

# Words that mean something to the engine, so that requests get past its first checks.
WORDS = (
    "cat",
    "grey cat yesterday",
    '"grey cat" AND NOT dog',
    "pets",
    "t",
    "2026-05-08",
    "2026-05-08T10:00:00+02:00",
    "observation",
    "reflection",
    "semantic",
    "P1",
    "default",
    "keyword",
    "memini",
    "\x00",
    "\ud800",
    "'; DROP TABLE memories --",
    "#pets",
    "(((",
    "NEAR(a b)",
    "\u202e",
    "猫",
)
NUMBERS = (0, 1, -1, 2**31, 2**53, 2**63 - 1, -(2**63), 2**63, 10**30)
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from(NUMBERS)
    | st.floats()
    | st.text()
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8) | st.sampled_from(WORDS), inner, max_size=4)
    ),
    max_leaves=8,
)


def values(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """What the schema allows; a schema that says nothing allows anything."""
    if "anyOf" in schema:
        return st.one_of([values(option) for option in schema["anyOf"]])
    kind = schema.get("type")
    return _BY_TYPE[kind](schema) if kind is not None else ANYTHING


def _string(schema: dict[str, Any]) -> st.SearchStrategy[str]:
    least, most = schema.get("minLength", 0), min(schema.get("maxLength", 60), 60)
    words = [word for word in (*schema.get("examples", ()), *WORDS) if least <= len(word) <= most]
    return st.sampled_from(words) | st.text(min_size=least, max_size=most)


def _integer(schema: dict[str, Any]) -> st.SearchStrategy[int]:
    most = schema["exclusiveMaximum"] - 1 if "exclusiveMaximum" in schema else schema.get("maximum")
    least = schema.get("minimum")
    usual = st.integers(least or 0, 20 if most is None else min(most, (least or 0) + 20))
    return usual | st.integers(least, most)


def _number(schema: dict[str, Any]) -> st.SearchStrategy[float]:
    least, most = schema.get("minimum"), schema.get("maximum")
    return st.floats(least, most, allow_nan=False, allow_infinity=False) | st.sampled_from([0, 1])


def _array(schema: dict[str, Any]) -> st.SearchStrategy[list[Any]]:
    least = schema.get("minItems", 0)
    sizes = st.just(16) if schema["items"].get("type") == "number" else st.integers(least, least + 4)
    return sizes.flatmap(lambda size: st.lists(values(schema["items"]), min_size=min(size, least), max_size=size))


def _object(schema: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    properties = schema.get("properties")
    if properties is None:
        return st.dictionaries(st.sampled_from(WORDS) | st.text(max_size=8), ANYTHING, max_size=4)
    required = schema.get("required", [])
    optional = [name for name in properties if name not in required]

    def chosen(extra: list[str]) -> st.SearchStrategy[dict[str, Any]]:
        return st.fixed_dictionaries({name: values(properties[name]) for name in (*required, *extra)})

    some = st.lists(st.sampled_from(optional), max_size=3, unique=True) if optional else st.just([])
    return some.flatmap(chosen)


_BY_TYPE = {
    "string": _string,
    "integer": _integer,
    "number": _number,
    "array": _array,
    "object": _object,
    "boolean": lambda schema: st.booleans(),
    "null": lambda schema: st.none(),
}
