"""The page in a real browser: asking, explaining, comparing, judging."""

import pytest
from inspecting import CHROMIUM, Inspected, Opening, Watched

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found")]
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Page, Route, expect  # noqa: E402

RYE = "what did Ines find out about the rye bread?"
RYE_HASH = "#/search?q=what+did+Ines+find+out+about+the+rye+bread%3F"


def ids(page: Page, within: str = "main .cards") -> list[str]:
    return page.eval_on_selector_all(f"{within} .card", "cards => cards.map(card => card.dataset.id)")  # type: ignore[no-any-return]


def ask(page: Page, question: str) -> None:
    page.locator("#q").press_sequentially(question)
    expect(page).to_have_title(f"{question} · Search · Thinkback")
    expect(page.locator("main .cards:not(.stale) .card .bar").first).to_be_visible()


def parts(page: Page) -> list[float]:
    return [
        float(value) for value in page.eval_on_selector_all(".panel .delta-exact", "all => all.map(one => one.value)")
    ]


class TestSearching:
    def test_results_come_while_typing_and_are_those_of_the_api(self, page: Page, inspected: Inspected) -> None:
        ask(page, RYE)
        found = inspected.post("/v1/recall", query=RYE)
        assert ids(page) == [hit["memory"]["id"] for hit in found["hits"]]
        expect(page.locator("#live")).to_have_text(f"{len(found['hits'])} results for {RYE}")

    def test_without_a_question_the_newest_memories_are_shown(self, page: Page, inspected: Inspected) -> None:
        expect(page.locator("main .card")).to_have_count(30)
        page.get_by_role("button", name="Show older memories").click()
        expect(page.locator("main .card")).to_have_count(36)
        listed = inspected.get("/v1/memories")["memories"]
        assert ids(page) == [one["id"] for one in listed if one["kind"] != "reflection"]

    def test_a_newer_question_cancels_the_one_on_its_way(self, page: Page) -> None:
        held: list[Route] = []
        page.route("**/v1/recall", lambda route: held.append(route) if not held else route.continue_())
        with page.expect_request("**/v1/recall"):
            page.locator("#q").fill("oven")
        page.locator("#q").fill("hazelnuts")
        expect(page.locator("main .card").first).to_contain_text("hazelnuts")
        assert held[0].request.failure is not None
        page.unroute("**/v1/recall")

    def test_every_explanation_adds_up_to_the_score_shown(self, page: Page, inspected: Inspected) -> None:
        ask(page, RYE)
        hits = inspected.post("/v1/recall", query=RYE)["hits"]
        for hit in hits:
            page.locator(f'main .card[data-id="{hit["memory"]["id"]}"] .card-text').click()
            expect(page.locator(".panel h2")).to_have_text(f"Hit {hit['rank']}")
            total = float(page.locator(".panel .score-exact").get_attribute("value") or "nan")
            on_card = float(page.locator("main .card.current .score").get_attribute("value") or "nan")
            assert sum(parts(page)) == total == on_card == hit["score"]

    def test_the_bar_is_as_long_as_its_parts_and_losses_lie_left_of_zero(self, opened: Opening) -> None:
        """second-brain multiplies by a decay below one, so every hit loses something."""
        page = opened(f"{RYE_HASH}&recipe=second-brain")
        card = page.locator("main .card").first
        expect(card.locator(".bar-part.loss")).to_have_count(1)
        box = "one => one.getBoundingClientRect().toJSON()"
        loss = card.locator(".bar-part.loss").evaluate(box)
        zero = card.locator(".bar-zero").evaluate(box)
        tick = card.locator(".bar-score").evaluate(box)
        gains = [part.evaluate(box) for part in card.locator(".bar-part:not(.loss)").all()]
        assert loss["right"] == pytest.approx(zero["left"], abs=1.5)
        assert gains[0]["left"] == pytest.approx(zero["left"], abs=1.5)
        width = sum(gain["width"] for gain in gains) - loss["width"]
        assert tick["left"] - zero["left"] == pytest.approx(width, abs=2.5)
        expect(page.locator(".legend")).to_contain_text("taken away")

    def test_exact_numbers_appear_on_hover_and_on_focus(self, page: Page) -> None:
        ask(page, RYE)
        bar = page.locator("main .card.current .bar")
        bar.hover()
        expect(page.get_by_role("tooltip")).to_contain_text("score")
        shown = page.get_by_role("tooltip").locator("tr:not(.sum) td.number").all_inner_texts()
        deltas = [delta for delta in parts(page) if delta]
        assert [float(text.replace("−", "-")) for text in shown] == pytest.approx(deltas, abs=1e-6)
        page.mouse.move(5, 5)
        expect(page.get_by_role("tooltip")).to_be_hidden()
        bar.focus()
        expect(page.get_by_role("tooltip")).to_be_visible()

    def test_it_says_where_each_leg_had_a_hit(self, page: Page, inspected: Inspected) -> None:
        ask(page, RYE)
        found = inspected.post("/v1/recall", query=RYE, trace=True)
        first = found["hits"][0]
        places = {placing["leg"]: placing["rank"] for placing in first["placings"]}
        heads = page.locator(".panel .leg-head").all_inner_texts()
        assert len(heads) == len(found["trace"]["runs"])
        for run, head in zip(found["trace"]["runs"], heads, strict=True):
            assert head.startswith(run["leg"])
            if run["leg"] in places:
                assert f"#{places[run['leg']]} of {len(run['hits'])}" in head
            elif run["skipped"]:
                assert run["skipped"] in head

    def test_a_tag_filters_and_the_address_can_be_shared(self, page: Page, opened: Opening) -> None:
        ask(page, "what was decided?")
        page.get_by_role("button", name="decision", exact=False).first.click()
        expect(page.locator("main .card")).to_have_count(4)
        page.locator("#f-since").fill("2026-04-05")
        page.locator("#f-since").dispatch_event("change")
        expect(page.locator("main .card")).to_have_count(3)
        expect(page.locator(".summary")).to_contain_text("tagged decision")
        other = opened(page.evaluate("location.hash"))
        expect(other.locator("main .card")).to_have_count(3)
        expect(other.locator("#q")).to_have_value("what was decided?")
        assert ids(other) == ids(page)
        other.get_by_role("button", name="Clear filters").click()
        expect(other.locator("main .card")).to_have_count(10)

    def test_nothing_found_and_what_cannot_be_asked_are_said(self, opened: Opening, watched: Watched) -> None:
        page = opened("#/search?q=oven&kinds=procedure")
        expect(page.locator(".empty")).to_contain_text("Nothing matches the filters")
        watched.expected = True  # a refused request is a line on the console
        page = opened("#/search?q=oven&since=someday")
        expect(page.locator(".empty")).to_contain_text("not a time: 'someday'")


class TestComparing:
    def test_lines_join_what_both_recipes_have(self, page: Page, inspected: Inspected) -> None:
        ask(page, RYE)
        page.get_by_role("link", name="Compare", exact=True).click()
        page.get_by_role("combobox", name="Right recipe", exact=True).select_option("memini")
        left = [hit["memory"]["id"] for hit in inspected.post("/v1/recall", query=RYE)["hits"]]
        right = [hit["memory"]["id"] for hit in inspected.post("/v1/recall", query=RYE, recipe="memini")["hits"]]
        both = [id for id in left if id in right]
        moved = [id for id in both if left.index(id) != right.index(id)]
        assert both
        assert moved
        assert len(both) < len(left)
        expect(page.locator(".column").nth(1)).to_have_attribute("aria-label", "memini")
        expect(page.locator(".line")).to_have_count(len(both))
        expect(page.locator(".line.same")).to_have_count(len(both) - len(moved))
        assert ids(page, ".column:first-child") == left
        assert ids(page, ".column:last-child") == right
        expect(page.locator(".summary")).to_contain_text(f"{len(both)} in both")
        up = next(id for id in both if right.index(id) < left.index(id))
        badge = page.locator(f'.column:last-child .card[data-id="{up}"] .move')
        expect(badge).to_have_text(f"▲ {left.index(up) - right.index(up)}")

    def test_a_line_ends_at_the_middle_of_both_cards(self, opened: Opening) -> None:
        page = opened(f"{RYE_HASH.replace('search', 'compare')}&b=memini")
        expect(page.locator(".line").first).to_be_attached()
        assert page.evaluate("""() => [...document.querySelectorAll(".line")].every((line) => {
            const box = document.querySelector(".lines").getBoundingClientRect();
            const ends = [0, line.getTotalLength()].map((at) => line.getPointAtLength(at).y + box.top);
            return [...document.querySelectorAll(`.card[data-id="${line.dataset.id}"]`)].every((card, side) => {
                const place = card.getBoundingClientRect();
                return Math.abs(ends[side] - place.top - place.height / 2) < 1.5;
            });
        })""")

    def test_the_panel_explains_the_hit_of_the_side_it_was_chosen_on(
        self, opened: Opening, inspected: Inspected
    ) -> None:
        page = opened(f"{RYE_HASH.replace('search', 'compare')}&b=memini")
        hit = inspected.post("/v1/recall", query=RYE, recipe="memini")["hits"][1]
        page.locator(".column:last-child .card-text").nth(1).click()
        expect(page.locator(".panel h2")).to_have_text("Hit 2")
        assert sum(parts(page)) == hit["score"]


class TestWhyNot:
    def test_a_memory_is_picked_by_its_words_and_explained_as_the_engine_does(
        self, page: Page, inspected: Inspected
    ) -> None:
        question = "what does the oven cost?"
        ask(page, question)
        page.get_by_role("link", name="Why not", exact=True).click()
        page.get_by_label("The missing memory").press_sequentially("green parrot")
        expect(page.locator(".offers .card").first).to_contain_text("parrot")
        page.get_by_role("button", name="Ask", exact=True).click()
        parrot = inspected.id_of("parrot")
        reason = inspected.post("/v1/why-not", query=question, id=parrot)
        expect(page.locator(".verdict-line")).to_have_text(reason["verdict"][0].upper() + reason["verdict"][1:] + ".")
        heads = page.locator(".answer .leg-head").all_inner_texts()
        assert [head.replace("\n", ": ") for head in heads] == reason["legs"]
        assert f"id={parrot}" in page.evaluate("location.hash")

    def test_an_id_can_be_given_and_a_filter_named(self, opened: Opening, inspected: Inspected) -> None:
        page = opened("#/why?q=oven&tags=staff")
        page.get_by_label("The missing memory").fill(inspected.id_of("parrot"))
        page.keyboard.press("Enter")
        expect(page.locator(".verdict-line")).to_contain_text("Filtered out")

    def test_a_memory_that_is_there_after_all_is_said_to_be(self, opened: Opening, inspected: Inspected) -> None:
        first = inspected.post("/v1/recall", query="oven")["hits"][0]["memory"]["id"]
        page = opened(f"#/why?q=oven&id={first}")
        expect(page.locator(".verdict-line.found")).to_have_text("It is hit number 1.")


class TestAroundAMemory:
    def test_the_timeline_of_a_thread_is_in_order(self, opened: Opening, inspected: Inspected) -> None:
        page = opened(RYE_HASH)
        page.locator("main .card.current a.thread").click()
        expect(page.locator(".summary")).to_contain_text("kitchen")
        thread = inspected.get("/v1/thread", thread="kitchen")["memories"]
        assert ids(page, ".timeline") == [one["id"] for one in thread]
        expect(page.locator(".timeline .card.current")).to_contain_text("rye sourdough")
        page.get_by_role("navigation", name="Recent threads").get_by_text("permits").click()
        expect(page.locator(".timeline .card")).to_have_count(4)

    def test_the_graph_has_every_memory_and_link_the_api_gives(self, opened: Opening, inspected: Inspected) -> None:
        centre = inspected.id_of("We buy the used")
        page = opened(f"#/graph?id={centre}")
        graph = inspected.get(f"/v1/memories/{centre}/graph", depth=2, limit=80, limit_each=8)
        expect(page.locator(".node")).to_have_count(len(graph["nodes"]))
        expect(page.locator(".edge-line")).to_have_count(len(graph["edges"]))
        apart = page.evaluate("""() => {
            const at = [...document.querySelectorAll(".dot")].map((dot) => dot.getBoundingClientRect());
            const between = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
            return Math.min(...at.flatMap((one, row) => at.slice(row + 1).map((other) => between(one, other))));
        }""")
        assert apart > 40
        reflection = page.locator(".node.reflection")
        reflection.dispatch_event("dblclick")
        expect(page.locator(".node.ring-0.reflection")).to_be_visible()

    def test_reflections_show_what_they_were_made_from(self, opened: Opening, inspected: Inspected) -> None:
        page = opened("#/reflections")
        expect(page.locator(".theme")).to_have_count(2)
        page.get_by_text("who delivers the flour").click()
        made = {one["memory"]["essence"]: one["members"] for one in inspected.get("/v1/reflections")["reflections"]}
        expect(page.locator(".theme[open] .card")).to_have_count(len(made["who delivers the flour"]))
        assert ids(page, ".theme[open]") == made["who delivers the flour"]

    def test_reflections_can_be_looked_for(self, opened: Opening, inspected: Inspected) -> None:
        inspected.post(
            "/v1/forget", ids=[one["memory"]["id"] for one in inspected.get("/v1/reflections")["reflections"]]
        )
        for number in range(4):
            inspected.post(
                "/v1/memories", text=f"The night tram to the harbour leaves late, note {number}", tags=["tram"]
            )
        page = opened("#/reflections")
        page.get_by_role("button", name="Look for themes now").click()
        expect(page.locator(".theme").first).to_be_visible()
        expect(page.locator(".theme")).to_have_count(len(inspected.get("/v1/reflections")["reflections"]))

    def test_health_counts_and_checks_the_store(self, opened: Opening, inspected: Inspected) -> None:
        stats = inspected.get("/v1/stats")["stats"]
        page = opened("#/health")
        expect(page.locator(".state-line")).to_contain_text("No problems")
        expect(page.locator(".tile").filter(has_text="memories")).to_contain_text(str(stats["memories"]))
        expect(page.locator(".health")).to_contain_text("toy-words-256")
        page.get_by_role("button", name="Check the store now").click()
        expect(page.locator(".health")).to_contain_text("No problem found")


class TestJudging:
    def test_one_key_judges_and_the_store_has_it(self, page: Page, inspected: Inspected) -> None:
        ask(page, RYE)
        page.keyboard.press("ArrowDown")
        page.keyboard.press("y")
        expect(page.locator("main .card.current .judge.yes")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("j")
        page.keyboard.press("n")
        expect(page.locator("main .card.current .judge.no")).to_have_attribute("aria-pressed", "true")
        first, second = ids(page)[:2]
        judged = {
            (one["query"], one["memory_id"]): one["grade"] for one in inspected.get("/v1/judgements")["judgements"]
        }
        assert judged == {(RYE, first): 1, (RYE, second): 0}

    def test_a_judgement_is_seen_again_and_can_be_changed(self, opened: Opening, inspected: Inspected) -> None:
        best = inspected.post("/v1/recall", query=RYE)["hits"][0]["memory"]["id"]
        inspected.post("/v1/judgements", query=RYE, id=best, grade=0)
        page = opened(RYE_HASH)
        card = page.locator("main .card").first
        expect(card.locator(".judge.no")).to_have_attribute("aria-pressed", "true")
        card.get_by_role("button", name="A correct answer").click()
        expect(page.locator(".panel .judge.yes")).to_have_attribute("aria-pressed", "true")
        assert [one["grade"] for one in inspected.get("/v1/judgements")["judgements"]] == [1]

    def test_who_may_only_read_cannot_judge(self, opened: Opening, inspected: Inspected) -> None:
        inspected.server.tokens.add("reader", ["read"], ["default"])
        page = opened(RYE_HASH, token="reader")
        expect(page.locator("main .card .judge").first).to_be_disabled()
        page.keyboard.press("j")
        page.keyboard.press("y")
        expect(page.locator("#toast")).to_contain_text("may only read")
        assert inspected.get("/v1/judgements")["judgements"] == []
