"""Settings for programs: `thinkback.toml`, then the environment (`THINKBACK_…`), then the call, the later winning.

Only programs load settings and pass them on; as a library, Thinkback uses `Settings()` or what it is given. Two files are read:
the user's own, in the user's configuration folder, and over it the one in the current folder. The latter may be a stranger's, so it
may name a recipe, a store or a pinned model, but no address and no key. A key `llm.model` is `model` in the table `[llm]` of a file
and `THINKBACK_LLM_MODEL` in the environment. To add a setting, add a field.
"""

import logging
import os
import tomllib
import types
from collections.abc import Iterator, Mapping
from dataclasses import field, fields, is_dataclass, replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, get_args, get_type_hints

from thinkback.errors import InvalidFile, InvalidInput, did_you_mean
from thinkback.values import dataclass

FILE = "thinkback.toml"
ENVIRONMENT = "the environment"
CALL = "the call"
PREFIX = "THINKBACK_"
NONE = "none"  # an embedder or a reranker of this name is none at all
FOLDER_KEYS = ("store", "recipe", "embedder", "reranker", "offline", "device", "threads", "log_level")
# Variables that say where pip and uv find packages.
_PACKAGE_INDEX = ("PIP_", "UV_", "HF_ENDPOINT", "SSL_CERT_FILE", "XDG_CONFIG_", "APPDATA", "PROGRAMDATA")
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")
log = logging.getLogger("thinkback")


def _one_of(default: str, *others: str) -> Any:
    return field(default=default, metadata={"choices": (default, *others)})


def _or_none(default: int) -> Any:
    """A count that may be 0."""
    return field(default=default, metadata={"least": 0, "wanted": "a whole number, 0 or more"})


def _secret() -> Any:
    return field(default=None, repr=False, metadata={"secret": True})


class Place(Enum):
    """The source of a setting; the environment and the command line are both the user's shell."""

    USER = "the user's file"
    FOLDER = "the working folder"
    SHELL = "the shell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Llm:
    """The chat model behind the optional fallbacks; nothing needs one."""

    base_url: str | None = None
    model: str | None = None
    key: str | None = _secret()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Hooks of coding agents: the most tokens of a brief and of what a prompt recalls, and the least relevance, in percent, of
    what it recalls.
    """

    brief_tokens: int = 800
    prompt_tokens: int = 400
    gate: int = 40
    capture: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Postgres:
    """Stores on a server: the most megabytes that copies of small, often read spaces take in a process; 0 for none."""

    copies_mb: int = _or_none(320)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set once for all calls.

    `embedder` and `reranker` are model names, `none` for none. `api_key` goes to embedders and rerankers that are servers.
    `secrets` is what happens to likely secrets in what is stored; `tombstones` is whether what is forgotten may not come back.
    `journal_days` is how far back `undo` reaches: `tidy` removes older entries of the journal; 0 keeps all.
    `models` is a folder that holds weights already; it is looked at first and never written. `places` says where each key was
    set, and `environ` holds what pip and uv read from the environment; neither is a setting. Nor is `database`: it is the address
    of a server that was set as the `store`, which then is None, and `space` is the one of its spaces that is meant.
    """

    store: Path | None = None
    space: str = "default"
    embedder: str = "default"
    reranker: str = "default"
    recipe: str = "default"
    offline: bool = False
    models: Path | None = None
    index_url: str | None = None
    api_key: str | None = _secret()
    device: str = _one_of("auto", "cpu", "cuda")
    threads: int | None = None
    secrets: str = _one_of("warn", "redact", "refuse")
    journal_days: int = _or_none(90)
    tombstones: bool = False
    log_level: str = _one_of("warning", "error", "info", "debug")
    llm: Llm = Llm()
    agent: Agent = Agent()
    postgres: Postgres = Postgres()
    database: str | None = field(default=None, repr=False)
    places: Mapping[str, "Place"] = field(default_factory=dict, repr=False, compare=False)
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    def from_folder(self, key: str) -> bool:
        """Whether a key was set by a file in the working folder, which may be a stranger's."""
        return self.places.get(key) is Place.FOLDER

    def key_for(self, key: str, address: str) -> str | None:
        """The key, if it was set in the same place as the address it would be sent to."""
        secret: str | None = _lookup(self, key)
        if secret is None or self.places.get(key) is self.places.get(address):
            return secret
        log.warning("%s is not used: it was set in another place than %s; set both in the same one", key, address)
        return None

    @property
    def store_path(self) -> Path:
        """The chosen file, else one in the user's data folder; InvalidInput if a server was chosen."""
        if self.database is not None:
            raise InvalidInput(
                "this works on a file, and the store is on a server; copy the space to a file with `thinkback move`",
                code="needs_file",
            )
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
    """The values of one source, by dotted key; relative paths of a file are relative to its `folder`."""

    source: str
    values: Mapping[str, Any]
    folder: Path | None = None
    place: Place = Place.SHELL


def is_server(place: object) -> bool:
    """Whether a store is named by the address of a server rather than by a file; InvalidInput for that of another kind."""
    scheme, named, _ = place.partition("://") if isinstance(place, str) else ("", "", "")
    if named and scheme not in ("postgresql", "postgres"):
        raise InvalidInput(
            f"{scheme}:// is not the address of a store; write it as postgresql://user@host:5432/database, or name a file",
            code="store_url",
        )
    return bool(named)


def load(**given: Any) -> Settings:
    """The settings in force for a program; a key given here wins over all others unless it is None."""
    environ = {name: value for name, value in os.environ.items() if name.startswith(_PACKAGE_INDEX)}
    return replace(settings_of(layers(given)), environ=environ)


def described(**given: Any) -> list[Setting]:
    """Every setting with its value and its source."""
    found = layers(given)
    settings = settings_of(found)
    sources = {key: layer.source for layer in found for key in layer.values}
    hidden = {key for key, leaf in leaves().items() if leaf.metadata.get("secret")}
    values = {key: _lookup(settings, key) for key in leaves()}
    if settings.database is not None:
        values["store"] = without_login(settings.database)
    return [Setting(key, value, sources.get(key, "default"), key in hidden) for key, value in values.items()]


def without_login(address: str) -> str:
    """The address of a server without user, password and options."""
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"


def layers(given: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> list[Layer]:
    """The values of each source, the least important first."""
    environ = os.environ if environ is None else environ
    files = ((user_file(), Place.USER), (Path(FILE), Place.FOLDER))
    called = Layer(CALL, {key: value for key, value in given.items() if value is not None})
    found = [layer for path, place in files if (layer := _from_file(path, place))]
    return [*found, _from_environ(environ), called]


def settings_of(found: list[Layer]) -> Settings:
    """The layers laid over each other; an unknown key or a wrong value is an error that names its source."""
    settings = Settings()
    places: dict[str, Place] = {}
    for layer in found:
        for key, raw in layer.values.items():
            value = _checked(key, raw, layer)
            if key == "store":
                on_server = isinstance(value, str)
                settings = replace(settings, database=value if on_server else None, store=None if on_server else value)
            else:
                settings = _with(settings, key, value)
            places[key] = layer.place
    return replace(settings, places=places)


# -- the keys --------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leaf:
    """A key that holds a value: its type and the metadata of its field."""

    kind: type
    metadata: Mapping[str, Any]


@cache
def leaves() -> Mapping[str, Leaf]:
    """Every key, dotted."""
    return dict(_leaves(Settings, ""))


def _leaves(table: type, prefix: str) -> Iterator[tuple[str, Leaf]]:
    hints = get_type_hints(table)
    for one in fields(table):
        if one.name in ("database", "places", "environ"):
            continue
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
    """The user's settings file, which applies in every working folder."""
    import platformdirs

    return Path(platformdirs.user_config_dir("thinkback", appauthor=False)) / FILE


def _from_file(path: Path, place: Place) -> Layer | None:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InvalidFile(f"cannot read {path}: {error.strerror or error}", code="unreadable_file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidFile(f"{path} is not TOML: {error}", code="not_toml") from None
    return Layer(str(path), dict(_dotted(data, "")), path.parent, place)


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
        if name in keys:
            values[keys[name]] = value
        else:  # not ours, perhaps: Kubernetes sets THINKBACK_SERVICE_HOST for a service of that name
            log.warning("the environment variable %s is not a setting.%s", name, did_you_mean(name, keys))
    return Layer(ENVIRONMENT, values)


# -- the values ------------------------------------------------------------------------------------------------------------------


def _checked(key: str, raw: Any, layer: Layer) -> Any:
    leaf = leaves().get(key)
    wrong = InvalidInput if layer.source == CALL else InvalidFile
    if leaf is None:
        raise wrong(
            f"{layer.source} has an unknown setting {key!r}; known: {', '.join(leaves())}.{did_you_mean(key, leaves())}",
            code="unknown_setting",
        )
    if layer.place is Place.FOLDER and key not in FOLDER_KEYS:
        raise InvalidFile(
            f"{layer.source} in a working folder may not set {key}; set it in {user_file()} or as {variable(key)}",
            code="untrusted_setting",
        )
    if key == "store" and is_server(raw):
        if layer.place is Place.FOLDER:
            raise InvalidFile(
                f"{layer.source} in a working folder may name a file as the store, but no server; set it as {variable(key)}",
                code="untrusted_setting",
            )
        return raw
    value = _READERS[leaf.kind](raw)
    choices = leaf.metadata.get("choices", (value,))
    too_small = leaf.kind is int and value is not None and value < leaf.metadata.get("least", 1)
    if value is None or value not in choices or too_small:
        wanted = ", ".join(choices) if len(choices) > 1 else leaf.metadata.get("wanted", _WANTED[leaf.kind])
        shown = "a value that is kept secret" if leaf.metadata.get("secret") else repr(raw)
        raise wrong(f"the setting {key} must be {wanted}; {layer.source} has {shown}", code="invalid_setting")
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
    return int(digits) if digits.isdecimal() else None


_READERS: Mapping[type, Any] = {str: _text, Path: _path, bool: _boolean, int: _count}
_WANTED = {str: "a text", Path: "a path", bool: "true or false", int: "a whole number above 0"}
