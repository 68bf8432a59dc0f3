"""Read benchmark files; errors name the file, the place and the expected value."""

import json
from collections.abc import Iterator
from pathlib import Path

from thinkback.errors import DatasetError, did_you_mean
from thinkback.values import dataclass

Json = object
_NAMES = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number", bool: "true or false"}


@dataclass(frozen=True, slots=True)
class Node:
    """A JSON value with its place in the file, for error messages."""

    file: str
    place: str
    value: Json

    def error(self, message: str, code: str) -> DatasetError:
        return DatasetError(f"{self.file}: {self.place or 'top level'}: {message}", code=code)

    def has(self, key: str) -> bool:
        return key in self.fields()

    def fields(self) -> dict[str, Json]:
        if not isinstance(self.value, dict):
            raise self.error(f"expected an object, found {_named(self.value)}", "wrong_type")
        return self.value

    def each(self) -> list["Node"]:
        """The elements of a list."""
        if not isinstance(self.value, list):
            raise self.error(f"expected a list, found {_named(self.value)}", "wrong_type")
        return [Node(self.file, f"{self.place}[{i}]", item) for i, item in enumerate(self.value)]

    def get(self, key: str) -> "Node":
        found = self.fields()
        if key not in found:
            raise self.error(f"the field {key!r} is missing.{did_you_mean(key, found)}", "missing_field")
        return Node(self.file, f"{self.place}.{key}" if self.place else key, found[key])

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.error(f"expected a text, found {_named(self.value)}", "wrong_type")
        return self.value

    def label(self) -> str:
        """An id: a text that is not empty, or a whole number written as text."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return str(self.value)
        if not self.text().strip():
            raise self.error("expected an id, found an empty text", "empty_id")
        return self.text()

    def whole(self) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int):
            raise self.error(f"expected a whole number, found {_named(self.value)}", "wrong_type")
        return self.value


def _named(value: Json) -> str:
    if value is None:
        return "null"
    shown = json.dumps(value, ensure_ascii=False)
    kind = _NAMES.get(type(value), type(value).__name__)
    return f"{kind}: {shown[:60]}{'…' if len(shown) > 60 else ''}"


def read_text(path: Path) -> str:
    """The whole file as text, without a byte order mark; an empty one is an error."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file", code="no_file") from None
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not UTF-8 text at byte {error.start}", code="not_utf8") from None
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror}", code="unreadable") from None
    if not text.strip():
        raise DatasetError(f"{path}: the file is empty", code="empty_file")
    return text


def read_array(path: Path) -> Iterator[Node]:
    """The elements of one large JSON list, decoded one at a time to keep memory to one element."""
    text = read_text(path)
    place = _skip_blank(text, 0)
    if text[place] != "[":
        raise DatasetError(f"{path}: expected a JSON list, found {text[place : place + 20]!r}", code="not_a_list")
    decoder = json.JSONDecoder()
    place, index = _skip_blank(text, place + 1), 0
    while not text.startswith("]", place):
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise malformed(path, error.lineno, f"{error.msg} (column {error.colno}, element {index})") from None
        yield Node(str(path), f"[{index}]", value)
        index += 1
        place = _after_element(path, text, place)
    if text[place + 1 :].strip():
        raise malformed(path, text.count("\n", 0, place) + 1, "more text after the end of the list")


def _after_element(path: Path, text: str, place: int) -> int:
    place = _skip_blank(text, place)
    if text.startswith("]", place):
        return place
    if text.startswith(",", place):
        following = _skip_blank(text, place + 1)
        if not text.startswith("]", following):
            return following
    found = repr(text[place : place + 20]) if place < len(text) else "the end of the file"
    raise malformed(path, text.count("\n", 0, place) + 1, f"expected ',' or ']' after an element, found {found}")


def _skip_blank(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n":
        place += 1
    return place


def read_lines(path: Path) -> Iterator[Node]:
    """The objects of a JSON Lines file, blank lines skipped; the file is streamed."""
    empty = True
    for number, line in numbered_lines(path):
        empty = False
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise malformed(path, number, f"{error.msg} (column {error.colno})") from None
        yield Node(str(path), f"line {number}", value)
    if empty:
        raise DatasetError(f"{path}: the file is empty", code="empty_file")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines that are not blank, with their numbers from 1."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except FileNotFoundError:
        raise DatasetError(f"{path}: there is no such file", code="no_file") from None
    except UnicodeDecodeError as error:
        raise DatasetError(f"{path}: not UTF-8 text ({error.reason})", code="not_utf8") from None
    except OSError as error:
        raise DatasetError(f"{path}: cannot be read: {error.strerror}", code="unreadable") from None


def malformed(path: Path, line: int, what: str) -> DatasetError:
    return DatasetError(f"{path}: line {line}: not valid JSON: {what}", code="not_json")
