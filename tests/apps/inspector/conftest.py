"""Chromium, looking at the real server; a page on which anything goes wrong fails its test."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from inspecting import ARGUMENTS, CHROMIUM, Inspected, Opening, Watched, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

# Tells what the policy of the page has refused, before anything of the page runs.
WATCH = """
window.refused = [];
document.addEventListener("securitypolicyviolation", (event) => window.refused.push(event.violatedDirective));
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    """One browser for the tests of a file; while it lives, playwright's event loop keeps others from running here."""
    if CHROMIUM is None:
        pytest.skip("no Chromium found; on Debian: apt-get install chromium")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed: pip install playwright"
    )
    with playwright.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def inspected(tmp_path: Path) -> Iterator[Inspected]:
    """A fresh server with the story."""
    with serving(tmp_path) as running:
        yield running


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.fixture
def opened(chromium: "Browser", inspected: Inspected, watched: Watched) -> Iterator[Opening]:
    """Opens pages, logged in, at an address behind #; `phone`, `scheme` and `token` say how and who."""
    contexts: list[BrowserContext] = []

    def page_at(at: str = "", *, phone: bool = False, scheme: str = "light", token: str = "owner") -> "Page":
        size = {"width": 390, "height": 844} if phone else {"width": 1440, "height": 900}
        touch: dict[str, Any] = {"is_mobile": True, "has_touch": True, "device_scale_factor": 2} if phone else {}
        context = chromium.new_context(viewport=size, color_scheme=scheme, reduced_motion="reduce", **touch)  # type: ignore[arg-type]
        contexts.append(context)
        context.add_init_script(WATCH)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.on("console", lambda said: watched.troubles.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: watched.troubles.append(str(error)))
        page.on("dialog", lambda dialog: (watched.dialogs.append(dialog.message), dialog.dismiss()))
        page.goto(inspected.login(token) + at)
        page.wait_for_selector("body[data-view]")
        return page

    yield page_at
    refused = [name for context in contexts for page in context.pages for name in page.evaluate("window.refused ?? []")]
    for context in contexts:
        context.close()
    assert watched.dialogs == []
    assert refused == []
    if not watched.expected:
        assert watched.troubles == []


@pytest.fixture
def page(opened: Opening) -> "Page":
    """A wide page without a question."""
    return opened()
