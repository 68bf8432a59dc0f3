"""Dataclasses whose methods are made when they are first needed.

The standard decorator compiles six functions for every frozen class, half a millisecond together, which was the largest part of
the start of a process. Here it only collects the fields, so `fields`, `replace`, pattern matching and type checkers see an
ordinary dataclass. `__init__`, `__eq__` and `__hash__` are compiled at their first call; the other methods are shared.
`maker` and `copier` make many instances faster than `__init__` does, `replace` one; `reader` and `differing` read their fields.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    from dataclasses import MISSING, FrozenInstanceError
    from reprlib import recursive_repr

    def dataclass(*, frozen=False, slots=False, eq=True, repr=True, kw_only=False):
        """As `dataclasses.dataclass`, with the options that are used here."""

        def decorated(cls):
            if any(hasattr(base, "__dataclass_fields__") for base in cls.__mro__[1:]):
                return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq, repr=repr, kw_only=kw_only)(cls)
            own = {name for name, value in cls.__dict__.items() if name != "__hash__" or value is not None}
            made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(cls)
            made.__dataclass_params__.frozen = frozen  # which a class that inherits from it must be too
            methods = {"__init__": _later(made, "__init__", _init), "__signature__": _Signature()}
            if frozen:
                methods |= {"__setattr__": _no_setattr, "__delattr__": _no_delattr}
            if frozen and slots:
                methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
            if repr:
                methods["__repr__"] = _repr
            if eq:
                hashed = _later(made, "__hash__", _hash) if frozen else None
                methods |= {"__eq__": _later(made, "__eq__", _eq), "__hash__": hashed}
            for name in methods.keys() - own:
                setattr(made, name, methods[name])
            return made

        return decorated

    def _later(cls, name, make):
        """A method that replaces itself at its first call."""

        def method(self, /, *args, **kwargs):
            made = make(cls)
            made.__qualname__, made.__module__ = f"{cls.__qualname__}.{name}", cls.__module__
            setattr(cls, name, made)
            return made(self, *args, **kwargs)

        return method

    def _init(cls):
        """What the standard decorator would write, but slots are set by their descriptors, which takes half the time."""
        names, parameters, body = {"MISSING": MISSING}, ["self"], []
        every = sorted(fields(cls), key=lambda one: one.kw_only)  # stable
        for one in every:
            if one.kw_only and "*" not in parameters:
                parameters.append("*")
            default, value = "", one.name
            if one.default_factory is not MISSING:
                default, value = "=MISSING", f"make_{one.name}() if {one.name} is MISSING else {one.name}"
                names[f"make_{one.name}"] = one.default_factory
            elif one.default is not MISSING:
                default, names[f"default_{one.name}"] = f"=default_{one.name}", one.default
            parameters.append(one.name + default)
            body.append(f"set_{one.name}(self, {value})")
            names[f"set_{one.name}"] = _setter(cls, one.name)
        if hasattr(cls, "__post_init__"):
            body.append("self.__post_init__()")
        made = _compiled(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body or ["pass"]), names)
        made.__annotations__ = {one.name: one.type for one in every} | {"return": None}
        return made

    def _setter(cls, name):
        slot = getattr(getattr(cls, name, None), "__set__", None)
        return slot or (lambda self, value: object.__setattr__(self, name, value))

    def _compiled(source, names=None):
        names = {} if names is None else names
        exec(source, names)
        return names[source.split("(")[0].removeprefix("def ")]

    class _Signature:
        """That of `__init__`, which `inspect.signature` asks a class for."""

        def __get__(self, instance, owner):
            from inspect import signature

            if instance is not None:  # which may be callable, and has the signature of its `__call__`
                return None
            whole = signature(_init(owner))
            return whole.replace(parameters=list(whole.parameters.values())[1:])

    def _eq(cls):
        return _compiled(
            f"def __eq__(self, other):\n if other.__class__ is self.__class__:\n  return {_tuple(cls, 'self')} == "
            f"{_tuple(cls, 'other')}\n return NotImplemented"
        )

    def _hash(cls):
        return _compiled(f"def __hash__(self):\n return hash({_tuple(cls, 'self')})")

    def _tuple(cls, of):
        """The compared fields, as they are written in a program."""
        return "(" + "".join(f"{of}.{one.name}, " for one in fields(cls) if one.compare) + ")"

    @recursive_repr()
    def _repr(self):
        shown = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(self) if one.repr)
        return f"{self.__class__.__qualname__}({shown})"

    def _no_setattr(self, name, value):
        if _is_frozen(self, name):
            raise FrozenInstanceError(f"cannot assign to field {name!r}")
        object.__setattr__(self, name, value)

    def _no_delattr(self, name):
        if _is_frozen(self, name):
            raise FrozenInstanceError(f"cannot delete field {name!r}")
        object.__delattr__(self, name)

    def _is_frozen(self, name):
        """A subclass that is no dataclass may have attributes of its own."""
        return "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__

    def _getstate(self):
        return [getattr(self, one.name) for one in fields(self)]

    def _setstate(self, state):
        for one, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, one.name, value)


def maker(
    cls: type[T],
    names: Sequence[str] | None = None,
    reads: Mapping[str, Callable[[Any], Any]] | None = None,
    types: Mapping[str, tuple[type[Any], bool]] | None = None,
) -> Callable[[Iterable[Any]], T]:
    """A function that makes instances of a frozen, slotted class from all its values, in the order of `names` or of its slots.

    Values of the names in `reads` go through its functions. With `types`, a value that is not of just that type, or None where that
    may be, is a TypeError that names it. It fills an instance of an open class with the same slots and then makes it one of `cls`,
    in a fifth of the time that setting each slot through its descriptor takes.
    """
    names = names or _slots(cls)
    every = f"{', '.join(f'value_{name}' for name in names)},"
    lines = [f"{every} = values"]
    given: dict[str, Any] = {f"read_{name}": read for name, read in (reads or {}).items()}
    if types:
        given |= {f"type_{name}": expected for name, (expected, _) in types.items()} | {"wrong": _wrong(names, types)}
        none = {name: f"value_{name} is None or " if empty else "" for name, (_, empty) in types.items()}
        sound = " and ".join(f"({none[name]}type(value_{name}) is type_{name})" for name in types)
        lines.append(f"if not ({sound}): raise wrong(({every}))")
    made = (f"read_{name}(value_{name})" if f"read_{name}" in given else f"value_{name}" for name in names)
    return _making(cls, "values", lines, dict(zip(names, made, strict=True)), given)


def _wrong(names: Sequence[str], types: Mapping[str, tuple[type[Any], bool]]) -> Callable[[Iterable[Any]], TypeError]:
    """What names the first value that is not of its type."""

    def wrong(values: Iterable[Any]) -> TypeError:
        for name, value in zip(names, values, strict=True):
            expected, empty = types.get(name, (type(value), True))
            if type(value) is not expected and not (value is None and empty):
                return TypeError(f"{name} is {type(value).__name__}")
        return TypeError("every value is of its type")

    return wrong


def copier(cls: type[T], given: Sequence[str] = (), looked_up: Collection[str] = ()) -> Callable[..., T]:
    """A function that makes instances of a frozen, slotted class from an object that has fields of the same names.

    `copy(source, *values)` takes the values of the fields `given`; after them, if there are fields `looked_up`, a mapping from
    what the source holds in those to what the copy gets.
    """
    parameters = ["source", *given, *(["known"] if looked_up else [])]
    values = {name: f"known[source.{name}]" if name in looked_up else f"source.{name}" for name in _slots(cls)}
    values |= {name: name for name in given}
    return _making(cls, ", ".join(parameters), [], values, {})


_copiers: dict[tuple[type[Any], tuple[str, ...]], Callable[..., Any]] = {}


def replace(source: T, /, **changes: Any) -> T:
    """As `dataclasses.replace`, in a quarter of the time for a slotted class that checks nothing when it is made."""
    key = type(source), tuple(changes)
    copy = _copiers.get(key)
    if copy is None:
        copy = _copiers[key] = _replacing(*key)
    copied: T = copy(source, *changes.values())
    return copied


def _replacing(cls: type[Any], names: tuple[str, ...]) -> Callable[..., Any]:
    every = {field.name for field in fields(cls)}
    if not hasattr(cls, "__post_init__") and set(names) <= every == set(getattr(cls, "__slots__", ())):
        return copier(cls, names)
    return lambda source, *given: dataclasses.replace(source, **dict(zip(names, given, strict=True)))


def reader(
    names: Sequence[str], writes: Mapping[str, Callable[[Any], Any]] | None = None
) -> Callable[[Any], tuple[Any, ...]]:
    """A function that returns these attributes of an object as a tuple; those of the names in `writes` go through its functions.

    It asks for each by name, which Python does faster for objects of one slotted class than `attrgetter` can.
    """
    writes = writes or {}
    parts = (f"write_{name}(source.{name})" if name in writes else f"source.{name}" for name in names)
    return _function(
        "source", [f"return {', '.join(parts)},"], {f"write_{name}": write for name, write in writes.items()}
    )


def differing(default: object, names: Sequence[str]) -> Callable[[Any], list[str]]:
    """A function that returns which of these attributes of an object are not the very ones that `default` has."""
    lines = [f"if source.{name} is not default_{name}: found.append({name!r})" for name in names]
    return _function(
        "source", ["found = []", *lines, "return found"], {f"default_{name}": getattr(default, name) for name in names}
    )


def _slots(cls: type[Any]) -> tuple[str, ...]:
    slots: tuple[str, ...] = cls.__slots__
    return slots


def _making(
    cls: type[T], parameters: str, lines: Sequence[str], values: Mapping[str, str], given: dict[str, Any]
) -> Callable[..., T]:
    """A function that fills an instance of an open class with the same slots, and then makes it one of `cls`."""
    given = {"cls": cls, "Open": type(cls.__name__, cls.__bases__, {"__slots__": _slots(cls)}), **given}
    filled = (f"made.{name} = {value}" for name, value in values.items())
    return _function(parameters, [*lines, "made = Open()", *filled, "made.__class__ = cls", "return made"], given)


def _function(parameters: str, lines: Sequence[str], given: dict[str, Any]) -> Callable[..., Any]:
    exec(f"def function({parameters}):\n " + "\n ".join(lines), given)
    made: Callable[..., Any] = given["function"]
    return made
