"""Pictures for the docs, made by the page itself: THINKBACK_SCREENSHOTS=docs/images pytest -m browser -k pictures."""

import os
import struct
from pathlib import Path

import pytest
from inspecting import CHROMIUM, Inspected, Opening

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found")]
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Page, expect  # noqa: E402

ASKED = "q=who+lends+us+his+truck%3F"
WIDE, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def take(page: Page, folder: Path, name: str, there: str) -> None:
    """A picture once everything is drawn; it must show something."""
    expect(page.locator(there).first).to_be_attached()
    expect(page.locator(".progress.on")).to_have_count(0)
    page.mouse.move(1, 400)
    shot = page.screenshot(path=folder / f"{name}.png", scale="css")
    assert struct.unpack(">II", shot[16:24]) == tuple((page.viewport_size or {}).values())
    assert 15_000 < len(shot) < 300_000


def test_pictures_of_every_view(opened: Opening, inspected: Inspected, tmp_path: Path) -> None:
    folder = Path(os.environ.get("THINKBACK_SCREENSHOTS", tmp_path)).absolute()
    folder.mkdir(parents=True, exist_ok=True)
    best = inspected.post("/v1/recall", query="who lends us his truck?")["hits"][0]["memory"]["id"]
    inspected.post("/v1/judgements", query="who lends us his truck?", id=best)
    oven, parrot = inspected.id_of("We buy the used"), inspected.id_of("parrot")
    for scheme in ("light", "dark"):
        page = opened(f"#/search?{ASKED}", scheme=scheme)
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        take(page, folder, f"inspector-{scheme}", ".panel .score-exact")
    for name, hash, there in (
        ("compare", f"#/compare?{ASKED}&b=memini", ".line"),
        ("why-not", f"#/why?q=what+does+the+oven+cost%3F&id={parrot}&limit=5", ".verdict-line"),
        ("timeline", f"#/timeline?thread=kitchen&sel={oven}", ".panel"),
        ("graph", f"#/graph?id={oven}", ".node"),
        ("health", "#/health", ".tile"),
    ):
        page = opened(hash)
        page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        take(page, folder, f"inspector-{name}", there)
    page = opened(f"#/search?{ASKED}", phone=True)
    take(page, folder, "inspector-phone", "main .card .bar")
    page.locator("main .card .card-text").first.tap()
    take(page, folder, "inspector-phone-hit", ".panel.open .score-exact")
