"""`thinkback.values.dataclass` makes what `dataclasses.dataclass` makes, later."""

import ast
import copy
import dataclasses
import inspect
import pickle
from dataclasses import FrozenInstanceError, field
from pathlib import Path
from typing import Any, ClassVar

import pytest

import thinkback
from thinkback.model import Draft, StoredRecord
from thinkback.passages import Span
from thinkback.values import copier, dataclass, differing, maker, reader, replace

WAYS = {"standard": dataclasses.dataclass, "ours": dataclass}


@dataclass(frozen=True, slots=True)
class Kept:
    """At the top of a module, so that it can be pickled."""

    first: int
    second: str = "two"
    several: list[int] = field(default_factory=list)


def point(way: Any, **options: Any) -> Any:
    class Point:
        """A point."""

        kind: ClassVar[str] = "point"
        x: int
        y: int = 2
        seen: list[int] = field(default_factory=list, compare=False)
        hidden: int = field(default=0, repr=False)

    return way(**options)(Point)


@pytest.fixture(params=WAYS.values(), ids=WAYS)
def way(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.mark.parametrize("slots", [True, False])
@pytest.mark.parametrize("frozen", [True, False])
def test_a_value_behaves_as_a_standard_one(way, frozen, slots):
    made = point(way, frozen=frozen, slots=slots)
    one, same, other = made(1), made(1, seen=[3]), made(x=1, y=5)
    assert (one.x, one.y, one.seen, one.hidden, one.kind) == (1, 2, [], 0, "point")
    assert one == same
    assert one != other
    assert one != (1, 2, 0)
    assert repr(one).endswith("Point(x=1, y=2, seen=[])")
    assert dataclasses.replace(one, y=9).y == 9
    assert [each.name for each in dataclasses.fields(made)] == ["x", "y", "seen", "hidden"]
    assert made.__match_args__ == ("x", "y", "seen", "hidden")
    assert dataclasses.asdict(one) == {"x": 1, "y": 2, "seen": [], "hidden": 0}
    assert made(1).seen is not made(1).seen
    if frozen:
        assert hash(one) == hash(same) == hash((1, 2, 0))
    else:
        one.x = 7
        assert one.x == 7
        assert made.__hash__ is None


def test_a_frozen_value_cannot_be_changed(way):
    one = point(way, frozen=True, slots=True)(1)
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        one.x = 3
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'x'"):
        del one.x
    with pytest.raises((FrozenInstanceError, TypeError)):
        one.other = 3


def test_a_plain_subclass_may_have_attributes_of_its_own(way):
    class More(point(way, frozen=True)):  # type: ignore[misc]
        pass

    one = More(1)
    one.note = "mine"
    assert one.note == "mine"
    assert one.x == 1
    with pytest.raises(FrozenInstanceError):
        one.x = 2
    del one.note


def test_without_comparison_each_value_is_its_own(way):
    made = point(way, frozen=True, slots=True, eq=False, repr=False)
    one = made(1)
    assert one != made(1)
    assert one == one
    assert len({one, made(1)}) == 2
    assert "object at" in repr(one)


def test_keywords_only(way):
    made = point(way, frozen=True, slots=True, kw_only=True)
    assert made(x=1).x == 1
    assert made.__match_args__ == ()
    with pytest.raises(TypeError):
        made(1)


def test_a_field_that_is_missing_or_unknown_is_an_error(way):
    made = point(way, frozen=True, slots=True)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        made()
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        made(1, z=2)


def test_methods_of_the_class_stay(way):
    @way(frozen=True, slots=True)
    class Odd:
        """Equal to everything."""

        x: int

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("negative")

        def __eq__(self, other: object) -> bool:
            return True

        def __repr__(self) -> str:
            return "odd"

    assert Odd(1) == Odd(2) == 3
    assert repr(Odd(1)) == "odd"
    assert hash(Odd(1)) == hash((1,))
    with pytest.raises(ValueError, match="negative"):
        Odd(-1)


def test_a_dataclass_may_inherit_from_one(way):
    @dataclasses.dataclass(frozen=True, slots=True)
    class Placed(point(way, frozen=True, slots=True)):  # type: ignore[misc]
        """With a place."""

        place: int = 0

    @dataclass(frozen=True, slots=True)
    class Named(Placed):
        """With a name."""

        name: str = ""

    assert Placed(1, 2, place=3).place == 3
    assert Named(1, name="n") == Named(1, name="n")
    assert Named(1, name="n") != Named(1)


def test_a_value_without_fields(way):
    @way(frozen=True, slots=True)
    class Nothing:
        """Nothing."""

    assert Nothing() == Nothing()
    assert hash(Nothing()) == hash(())
    assert repr(Nothing()).endswith("Nothing()")


def test_the_signature_is_that_of_the_fields(way):
    class Called:
        """Called."""

        x: int
        y: int = 2

        def __call__(self, number: int) -> int:
            return self.x * number

    made = way(frozen=True, slots=True)(Called)
    assert list(inspect.signature(made).parameters) == ["x", "y"]
    assert inspect.signature(made).parameters["y"].default == 2
    assert list(inspect.signature(made(1)).parameters) == ["number"]


def test_values_are_copied_and_pickled():
    one = Kept(1, several=[3])
    assert copy.copy(one) == copy.deepcopy(one) == pickle.loads(pickle.dumps(one)) == one
    assert copy.deepcopy(one).several is not one.several


def test_every_dataclass_is_of_this_kind():
    """One standard decorator in a module that a search loads costs half a millisecond at every start."""
    root = Path(thinkback.__file__).parent
    found = [
        path.name
        for path in sorted(root.rglob("*.py"))
        if path.name != "values.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if "dataclass" in {alias.name for alias in node.names}
    ]
    assert found == []


def test_a_made_instance_is_one_that_was_given_its_values():
    given = {name: n for n, name in enumerate(StoredRecord.__slots__)}
    made = maker(StoredRecord)(given.values())
    assert type(made) is StoredRecord
    assert made == StoredRecord(**given)
    with pytest.raises(FrozenInstanceError):
        made.text = "another"


def test_values_may_be_given_in_another_order():
    names = tuple(reversed(StoredRecord.__slots__))
    made = maker(StoredRecord, names)(range(len(names)))
    assert [getattr(made, name) for name in names] == [*range(len(names))]


@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3)])
def test_too_few_or_too_many_values_make_nothing(values):
    with pytest.raises(ValueError, match="values to unpack"):
        maker(Span)(values)


def test_values_may_have_to_be_of_some_types():
    made = maker(Kept, types={"first": (int, True), "second": (str, False)})
    assert made((None, "a", 0.5)) == Kept(None, "a", 0.5)
    for values, named in (
        ((1, None, []), "second is NoneType"),
        ((True, "a", []), "first is bool"),
        ((1, b"", 0), "second is bytes"),
    ):
        with pytest.raises(TypeError, match=named):
            made(iter(values))


def test_a_copy_takes_some_values_from_its_source_and_others_as_they_are_given():
    source = Span(start=3, end=8)
    copied = copier(Span, ("end",))(source, 9)
    assert type(copied) is Span
    assert copied == Span(start=3, end=9)
    with pytest.raises(FrozenInstanceError):
        copied.end = 8


def test_a_copy_looks_values_up():
    assert copier(Span, looked_up={"end"})(Span(start=3, end=8), {8: 80}) == Span(start=3, end=80)
    assert copier(Span, ("start",), {"end"})(Span(start=3, end=8), 1, {8: 80}) == Span(start=1, end=80)


@pytest.mark.parametrize("slots", [True, False])
def test_a_value_is_replaced_as_by_the_standard_library(slots):
    made = point(dataclass, frozen=True, slots=slots)
    source = made(1, hidden=5)
    for changes in ({}, {"y": 8}, {"hidden": 7, "x": 2}):
        ours, standard = replace(source, **changes), dataclasses.replace(source, **changes)
        assert [getattr(ours, one.name) for one in dataclasses.fields(made)] == [
            getattr(standard, one.name) for one in dataclasses.fields(made)
        ]
    with pytest.raises(TypeError, match="z"):
        replace(source, z=1)


def test_a_class_that_checks_its_values_checks_replaced_ones():
    @dataclass(frozen=True, slots=True)
    class Positive:
        value: int

        def __post_init__(self) -> None:
            if self.value <= 0:
                raise ValueError(self.value)

    assert replace(Positive(1), value=2) == Positive(2)
    with pytest.raises(ValueError, match="0"):
        replace(Positive(1), value=0)


def test_a_source_without_a_field_cannot_be_copied():
    with pytest.raises(AttributeError):
        copier(Span)(object())


def test_a_reader_returns_values_as_they_are_written():
    span = Span(start=3, end=8)
    assert reader(("end", "start"))(span) == (8, 3)
    assert reader(("end",), {"end": str})(span) == ("8",)


def test_what_differs_is_told_by_identity():
    default = Draft(text="")
    differs = differing(default, ("text", "tags", "metadata", "kind"))
    assert differs(default) == []
    assert differs(Draft(text="a", kind="fact")) == ["text", "metadata", "kind"]  # another empty mapping
