"""The documentation as a site: built without a warning, every link and anchor leads somewhere, every public name has its page."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import thinkback

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
KINDS = ("Tutorial", "How to", "Reference", "Explanation")


def anchors(page: Path) -> set[str]:
    """The anchors of a page, as both the site and a repository's browser make them of headings."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    heads = re.findall(r"^#{1,3} (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_every_page_stands_in_the_index_under_its_kind():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert tuple(re.findall(r":caption: (.+)", index)) == KINDS
    named = set(re.findall(r"(?:<|^)([a-z]+)>?$", index, re.MULTILINE))
    missing = {page.stem for page in PAGES} - {"index"} - named
    assert not missing, "add them to docs/index.md"


def test_anchors_between_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "README.md"]:
        for target, anchor in re.findall(r"\]\(([\w./-]*\.md)?#([\w-]+)\)", page.read_text(encoding="utf-8")):
            there = page.parent / target if target else page
            assert anchor in anchors(there), f"{page.name} links to {target}#{anchor}"


def test_every_page_has_one_title_that_stays():
    titles = [
        re.findall(r"^# (.+)$", re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.S | re.M), re.M)
        for page in PAGES
    ]
    assert [one for one in titles if len(one) != 1] == []
    assert len({one[0] for one in titles}) == len(titles)


def test_the_page_of_json_is_that_of_the_code():
    """To write it anew: python docs/json_page.py."""
    made = runpy.run_path(str(DOCS / "json_page.py"))["page"]()
    assert (DOCS / "json.md").read_text(encoding="utf-8") == made


@pytest.mark.slow
def test_the_site_is_built_without_warnings_and_has_every_name(tmp_path):
    pytest.importorskip("sphinx")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "--quiet",
        "--fail-on-warning",
        "--keep-going",
        "-b",
        "html",
        str(DOCS),
        str(tmp_path),
    ]
    ran = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert [name for name in thinkback.__all__ if not (tmp_path / "api" / f"{name}.html").exists()] == []
    assert (tmp_path / "search.html").exists()
    index = (tmp_path / "searchindex.js").read_text(encoding="utf-8")
    assert "Search.setIndex(" in index
    assert "forget_verified" in (tmp_path / "api" / "Memory.html").read_text(encoding="utf-8")
    for page in tmp_path.rglob("*.html"):  # nothing is loaded from elsewhere when the site is read
        assert not re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="https?://', page.read_text(encoding="utf-8")), (
            page.name
        )
