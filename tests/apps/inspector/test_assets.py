"""What the page is made of, without a browser: whole, self-contained, and never taking words for markup."""

import re
from html.parser import HTMLParser
from importlib import resources

import pytest

STATIC = resources.files("thinkback.apps").joinpath("inspector", "static")
FILES = {file.name: file.read_text(encoding="utf-8") for file in STATIC.iterdir()}
MODULES = sorted(name for name in FILES if name.endswith(".js"))


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags() -> list[tuple[str, dict[str, str | None]]]:
    parser = Tags()
    parser.feed(FILES["index.html"])
    return parser.found


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"/static/([\w.-]+)", FILES["index.html"]))
    for name in MODULES:
        named |= set(re.findall(r'from "\./([\w.-]+)"', FILES[name]))
    assert named | {"index.html"} == set(FILES)


def test_nothing_is_loaded_from_elsewhere() -> None:
    for name, text in FILES.items():
        addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"')]*", re.sub(r"^\s*//.*$", "", text, flags=re.M)))
        assert addresses <= {"http://www.w3.org/2000/svg"}, name


def test_the_page_has_no_inline_script_style_or_handler() -> None:
    for tag, attributes in tags():
        assert tag != "style"
        assert tag != "script" or attributes.get("src")
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


@pytest.mark.parametrize("name", MODULES)
def test_no_module_makes_markup_or_code_of_words(name: str) -> None:
    ways = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setAttribute\(\"style\""
    assert re.findall(ways, FILES[name]) == []
    assert len(FILES[name].splitlines()) <= 400


def test_every_element_a_module_looks_for_is_on_the_page() -> None:
    there = {attributes["id"] for _, attributes in tags() if "id" in attributes}
    for name in MODULES:
        for id in re.findall(r'getElementById\("([\w-]+)"\)', FILES[name]):
            assert id in there, (name, id)
