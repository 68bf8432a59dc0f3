"""JSON values out of large files, one after another: an array, also under the first key of an object, or JSON Lines."""

import json
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from thinkback.errors import InvalidFile, InvalidInput

Progress = Callable[[int, int], None]
_FIRST_READ = 1 << 16  # characters; what does not fit is read in steps that double
_ARRAY = re.compile(r'\s*(?:\{\s*"(?:results|memories|items|conversations|data)"\s*:\s*)?\[')
_BETWEEN = re.compile(r"[\s,]*")


@contextmanager
def opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """The bytes of a file and their number; of a ZIP archive, those of its `conversations.json`."""
    try:
        if path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as archive:
                inner = next(
                    (one for one in archive.infolist() if Path(one.filename).name == "conversations.json"), None
                )
                if inner is None:
                    raise InvalidFile(f"{path} has no conversations.json in it", code="unknown_format")
                with archive.open(inner) as member:
                    yield member, inner.file_size
        else:
            with path.open("rb") as file:
                yield file, path.stat().st_size
    except (OSError, zipfile.BadZipFile) as error:
        raise InvalidFile(f"cannot read {path}: {error}", code="unreadable") from None


def values(path: Path, progress: Progress | None = None) -> Iterator[Any]:
    """Every JSON value of a file; InvalidInput where it is no JSON."""
    with opened(path) as (file, total), TextIOWrapper(file, encoding="utf-8-sig") as text:
        try:
            for value in _values(text):
                yield value
                if progress is not None:
                    progress(min(file.tell(), total), total)
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{path} is not UTF-8: {error}", code="not_json") from None


def _values(text: IO[str]) -> Iterator[Any]:
    start = text.read(_FIRST_READ)
    array = _ARRAY.match(start)
    decoder, buffer, place, step = json.JSONDecoder(), start, array.end() if array else 0, _FIRST_READ
    while True:
        place = _BETWEEN.match(buffer, place).end()  # type: ignore[union-attr]
        if place < len(buffer) and array and buffer[place] == "]":
            return
        try:
            value, end = decoder.raw_decode(buffer, place)
            whole = end < len(buffer) or isinstance(value, dict | list | str)
        except (ValueError, RecursionError) as error:
            whole, value, end, failed = False, None, place, error
        if whole:
            yield value
            place, step = end, _FIRST_READ
            continue
        more = text.read(step)
        if not more:
            if place < len(buffer):
                raise InvalidInput(
                    f"not JSON: {failed if end == place else buffer[place : place + 40]}", code="not_json"
                )
            return
        buffer, place, step = buffer[place:] + more, 0, step * 2
