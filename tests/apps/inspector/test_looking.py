"""Looking changes nothing: what the page shows does not count as used."""

import pytest
from inspecting import CHROMIUM, Inspected, Opening


def accesses(inspected: Inspected) -> int:
    """All accesses; they are written together with the next memory."""
    inspected.post("/v1/memories", text="something else")
    return sum(one["access_count"] for one in inspected.get("/v1/memories")["memories"])


def test_a_recall_counts_unless_it_is_only_a_look(inspected: Inspected) -> None:
    inspected.post("/v1/recall", query="oven", limit=3, counted=False)
    inspected.post("/v1/why-not", query="oven", limit=3, counted=False, id="none")
    assert accesses(inspected) == 0
    inspected.post("/v1/recall", query="oven", limit=3)
    assert accesses(inspected) == 3


@pytest.mark.browser
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found")
def test_the_page_only_looks(opened: Opening, inspected: Inspected) -> None:
    page = opened()
    for hash, there in (
        ("#/search?q=oven", "main .card .bar"),
        ("#/compare?q=oven", ".line"),
        (f"#/why?q=oven&id={inspected.id_of('parrot')}", ".verdict-line"),
    ):
        page.goto(f"{inspected.url}/{hash}")
        page.wait_for_selector(there, state="attached")
    page.get_by_label("The missing memory").fill("parrot")
    page.wait_for_selector(".offers .card")
    assert accesses(inspected) == 0
