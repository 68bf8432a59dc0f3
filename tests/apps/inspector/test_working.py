"""The page works, not only shows: memories, imports, upkeep, tuning, tokens; each token is offered what it may do."""

import json
import tomllib
from pathlib import Path

import pytest
from inspecting import CHROMIUM, Inspected, Opening, Watched

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found")]
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Page, expect  # noqa: E402

OVEN = "#/search?q=who+lends+us+his+truck"


def dialog(page: Page):  # type: ignore[no-untyped-def]
    return page.locator("#form")


def chosen(page: Page, words: str):  # type: ignore[no-untyped-def]
    """The panel, once it shows the memory with these words."""
    expect(page.locator("#panel .panel-text")).to_contain_text(words)
    return page.locator("#panel")


class TestOneMemory:
    def test_a_memory_is_added_and_found(self, page: Page, inspected: Inspected) -> None:
        page.get_by_role("button", name="Add", exact=True).click()
        dialog(page).locator("textarea").fill("Lena: The ladder is borrowed from the rowing club.")
        dialog(page).get_by_label("Tags").fill("tools, design")
        dialog(page).get_by_label("Thread").fill("planning")
        dialog(page).get_by_role("button", name="Remember").click()
        expect(dialog(page)).to_be_hidden()
        expect(page.locator("main .card").filter(has_text="ladder is borrowed")).to_be_visible()
        made = inspected.get(f"/v1/memories/{inspected.id_of('ladder is borrowed')}")
        assert (made["tags"], made["thread"], made["kind"]) == (["tools", "design"], "planning", "observation")

    def test_an_empty_text_is_not_sent_and_an_error_stays_in_the_form(self, page: Page, watched: Watched) -> None:
        watched.expected = True
        page.get_by_role("button", name="Add", exact=True).click()
        dialog(page).get_by_role("button", name="Remember").click()
        expect(dialog(page)).to_be_visible()
        dialog(page).locator("textarea").fill("a fact")
        dialog(page).get_by_label("True from").fill("2026-05-09")
        dialog(page).get_by_label("True until").fill("2026-05-01")
        dialog(page).get_by_role("button", name="Remember").click()
        expect(dialog(page).get_by_role("alert")).to_be_visible()
        page.keyboard.press("Escape")
        expect(dialog(page)).to_be_hidden()

    def test_an_edit_keeps_the_version_before(self, opened: Opening, inspected: Inspected) -> None:
        page = opened(OVEN)
        panel = chosen(page, "truck")
        id = inspected.id_of("lends us his truck")
        page.keyboard.press("Escape")
        panel.get_by_role("button", name="Edit").click()
        dialog(page).locator("textarea").fill("Tomas: My brother lends us his van after all.")
        dialog(page).get_by_role("button", name="Save").click()
        expect(dialog(page)).to_be_hidden()
        versions = inspected.get(f"/v1/memories/{id}/history")["versions"]
        assert [one["text"] for one in versions] == [
            "Tomas: My brother lends us his truck if we fill the tank.",
            "Tomas: My brother lends us his van after all.",
        ]
        assert versions[-1]["tags"] == ["oven"]  # what was left alone stays
        page.goto(page.url.split("#")[0] + f"#/search?q=van&sel={id}")
        panel = chosen(page, "his van")
        expect(panel.locator(".panel-head h2")).to_contain_text("Hit")  # the search is done, and draws no more
        panel.get_by_text("All versions").click()
        expect(panel.locator(".versions li")).to_have_count(2)

    def test_a_link_is_made_to_a_memory_found_by_its_words(self, opened: Opening, inspected: Inspected) -> None:
        page = opened(OVEN)
        chosen(page, "truck").get_by_role("button", name="Link").click()
        dialog(page).get_by_label("The other memory").fill("tail lift complained")
        expect(dialog(page).locator(".choice").first).to_contain_text("940 kilos")
        dialog(page).get_by_label("Kind of link").fill("carried_by")
        dialog(page).get_by_role("button", name="Link").click()
        expect(dialog(page)).to_be_hidden()
        edges = inspected.get(f"/v1/memories/{inspected.id_of('lends us his truck')}/neighbours")["edges"]
        assert [edge["to_id"] for edge in edges if edge["kind"] == "carried_by"] == [inspected.id_of("940 kilos")]

    def test_archiving_and_restoring(self, opened: Opening, inspected: Inspected) -> None:
        id = inspected.id_of("lends us his truck")
        page = opened(OVEN + "&everything=yes")
        chosen(page, "truck").get_by_role("button", name="Archive").click()
        expect(page.locator("#panel").get_by_role("button", name="Restore")).to_be_visible()
        assert inspected.get(f"/v1/memories/{id}")["archived_at"]
        page.locator("#panel").get_by_role("button", name="Restore").click()
        expect(page.locator("#panel").get_by_role("button", name="Archive")).to_be_visible()

    def test_forgetting_shows_its_receipt(self, opened: Opening, inspected: Inspected) -> None:
        page = opened("#/search?q=alarm+code")
        chosen(page, "4417").get_by_role("button", name="Forget").click()
        expect(dialog(page)).to_contain_text("cannot be undone")
        dialog(page).get_by_role("button", name="Forget for good").click()
        expect(dialog(page).locator(".state-line.good")).to_have_text("Nothing is left")
        assert dialog(page).locator(".receipt tbody tr").count() > 5
        dialog(page).get_by_role("button", name="Done").click()
        assert inspected.post("/v1/keywords", query="4417")["hits"] == []
        expect(page.locator("main .card").filter(has_text="4417")).to_have_count(0)


class TestUpkeep:
    def test_a_dropped_file_is_shown_then_imported(self, opened: Opening, inspected: Inspected) -> None:
        page = opened("#/keep")
        lines = "\n".join(json.dumps({"text": f"dropped {number}"}) for number in range(4))
        data = page.evaluate_handle(
            "text => { const data = new DataTransfer(); data.items.add(new File([text], 'more.jsonl')); return data; }",
            lines,
        )
        page.dispatch_event(".drop", "drop", {"dataTransfer": data})
        page.get_by_role("button", name="Import 4 lines").click()
        expect(page.locator(".plan .good")).to_contain_text("memories 4")
        assert inspected.get("/v1/count")["count"] == 42

    def test_a_bad_file_imports_nothing_and_says_why(
        self, opened: Opening, inspected: Inspected, watched: Watched
    ) -> None:
        watched.expected = True
        page = opened("#/keep")
        page.locator("#import-file").set_input_files(
            {"name": "a.jsonl", "mimeType": "", "buffer": b'{"text": "fine"}\n{"text": 3}\n'}
        )
        page.get_by_role("button", name="Import 2 lines").click()
        expect(page.locator(".plan .form-problem")).to_contain_text("line 2")
        assert inspected.get("/v1/count")["count"] == 38

    def test_reflect_shows_its_plan_writes_it_and_is_undone(self, opened: Opening, inspected: Inspected) -> None:
        page = opened("#/keep")
        part = page.get_by_role("region", name="Reflect")
        before = inspected.get("/v1/reflections")["total"]
        part.get_by_role("button", name="Preview themes").click()
        expect(part.locator(".plan p").first).to_contain_text("Would write")
        assert inspected.get("/v1/reflections")["total"] == before
        if part.get_by_role("button", name="Write reflections").count():
            part.get_by_role("button", name="Write reflections").click()
            expect(part.locator(".plan p").first).to_contain_text("Wrote")
            journal = page.get_by_role("region", name="Journal")
            expect(journal.locator(".batch").first).to_be_visible()

    def test_tidy_previews_applies_and_is_undone_from_the_journal(self, opened: Opening, inspected: Inspected) -> None:
        expired = inspected.post("/v1/memories", text="the milk is fresh", expires_at="2026-05-20T00:00:00Z")["id"]
        page = opened("#/keep")
        part = page.get_by_role("region", name="Tidy")
        part.get_by_role("button", name="Preview changes").click()
        expect(part.locator(".rows")).to_contain_text(expired)
        assert inspected.get(f"/v1/memories/{expired}")["archived_at"] is None
        part.get_by_role("button", name="Make the changes").click()
        expect(part.locator(".plan p").first).to_contain_text("made")
        assert inspected.get(f"/v1/memories/{expired}")["archived_at"]
        batch = page.get_by_role("region", name="Journal").locator(".batch").first
        batch.locator("summary").click()
        expect(batch.locator(".rows")).to_contain_text(expired)  # what an undo would take back
        batch.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("region", name="Journal").locator(".batch").first).to_contain_text("undone")
        assert inspected.get(f"/v1/memories/{expired}")["archived_at"] is None

    def test_an_audit_finds_a_secret_and_redacts_it(self, opened: Opening, inspected: Inspected) -> None:
        key = "AKIA" + "IOSFODNN7ABCDEFG"
        inspected.post("/v1/memories", text=f"the bucket opens with {key} as its key")
        page = opened("#/keep")
        part = page.get_by_role("region", name="Audit")
        part.get_by_role("button", name="Audit now").click()
        expect(part.get_by_text("likely secrets: 2")).to_be_visible()
        part.get_by_role("button", name="Redact them").click()
        expect(part.get_by_text("likely secrets: 0")).to_be_visible()
        assert inspected.post("/v1/keywords", query=key)["hits"] == []


class TestTuning:
    def test_a_slider_moves_the_ranks_and_the_result_is_saved_as_toml(self, opened: Opening, tmp_path: Path) -> None:
        page = opened("#/tune?q=rye+flour+oven")
        expect(page.locator(".tune-right .card").first).to_be_visible()
        slider = page.get_by_label("legs.keyword.weight", exact=True)
        slider.fill("0")
        expect(page.locator(".slider.moved")).to_have_count(1)
        expect(page.locator(".tune-right .summary")).to_contain_text("1 number changed")
        page.get_by_role("button", name="Save as TOML").click()
        with page.expect_download() as downloading:
            page.get_by_role("link", name="Download").click()
        downloading.value.save_as(tmp_path / "tuned.toml")
        saved = tomllib.loads((tmp_path / "tuned.toml").read_text(encoding="utf-8"))
        assert (saved["name"], saved["legs"]["keyword"]["weight"]) == ("default-tuned", 0)

    def test_every_weight_of_the_recipe_has_a_slider(self, opened: Opening, inspected: Inspected) -> None:
        page = opened("#/tune")
        formula = next(one["formula"] for one in inspected.get("/v1/recipes")["recipes"] if one["name"] == "default")
        weights = {
            f"{part}.{name}.weight"
            for part in ("legs", "signals")
            for name, one in formula[part].items()
            if "weight" in one
        }
        shown = page.eval_on_selector_all(".slider input", "all => all.map(one => one.getAttribute('aria-label'))")
        assert weights <= set(shown)

    def test_judged_questions_are_measured_with_both_weights(self, opened: Opening, inspected: Inspected) -> None:
        inspected.post("/v1/judgements", query="who lends us his truck?", id=inspected.id_of("lends us his truck"))
        page = opened("#/tune?q=truck")
        page.get_by_role("button", name="Measure on judged questions").click()
        expect(page.locator(".receipt th").first).to_have_text("1 question")
        expect(page.locator(".receipt tbody tr").first).to_contain_text("1.000")

    def test_measuring_nothing_says_what_to_do(self, opened: Opening, watched: Watched) -> None:
        watched.expected = True
        page = opened("#/tune?q=truck")
        page.get_by_role("button", name="Measure on judged questions").click()
        expect(page.locator(".tune-right [role=alert]")).to_contain_text("judged")


class TestAdministration:
    def test_a_token_is_made_shown_once_and_revoked(self, opened: Opening, inspected: Inspected) -> None:
        page = opened("#/keep")
        part = page.get_by_role("region", name="Tokens")
        part.get_by_role("button", name="Make a token").click()
        dialog(page).get_by_label("Name").fill("laptop")
        dialog(page).get_by_label("write").check()
        dialog(page).get_by_role("button", name="Make it").click()
        expect(dialog(page).locator(".secret")).to_contain_text("tbk_")
        dialog(page).get_by_role("button", name="Done").click()
        made = next(one for one in inspected.get("/v1/tokens")["tokens"] if one["name"] == "laptop")
        assert (made["scopes"], made["spaces"]) == (["read", "write"], ["default"])
        part.get_by_role("button", name="Revoke laptop").click()
        dialog(page).get_by_role("button", name="Revoke").click()
        expect(part.get_by_text("laptop")).to_have_count(0)
        assert "laptop" not in [one["name"] for one in inspected.get("/v1/tokens")["tokens"]]

    def test_a_space_is_deleted_only_after_its_name_was_typed(
        self, opened: Opening, inspected: Inspected, watched: Watched
    ) -> None:
        inspected.client.post("/v1/memories?space=guest", json={"text": "a guest"})
        page = opened("#/keep")
        part = page.get_by_role("region", name="Spaces")
        part.get_by_role("button", name="Delete the space guest").click()
        dialog(page).get_by_label("to confirm").fill("gest")
        dialog(page).get_by_role("button", name="Delete for good").click()
        expect(dialog(page).get_by_role("alert")).to_be_visible()
        dialog(page).get_by_label("to confirm").fill("guest")
        dialog(page).get_by_role("button", name="Delete for good").click()
        expect(part.get_by_text("guest")).to_have_count(0)
        assert inspected.get("/v1/spaces")["spaces"] == ["default"]


class TestScopes:
    def test_a_reader_is_offered_nothing_it_may_not_do(self, opened: Opening, inspected: Inspected) -> None:
        inspected.server.tokens.add("reader", ["read"], ["default"])
        page = opened(OVEN, token="reader")
        panel = chosen(page, "truck")
        expect(page.locator("#add")).to_be_hidden()
        expect(panel.locator(".deeds")).to_have_count(0)
        page.goto(page.url.split("#")[0] + "#/keep")
        expect(page.get_by_role("region", name="Journal")).to_be_visible()
        for name in ("Add", "Reflect", "Tidy", "Audit", "Tokens", "Spaces"):
            expect(page.get_by_role("region", name=name)).to_have_count(0)
        page.keyboard.press("a")
        expect(dialog(page)).to_be_hidden()

    def test_a_writer_may_edit_but_not_forget(self, opened: Opening, inspected: Inspected) -> None:
        inspected.server.tokens.add("writer", ["read", "write"], ["default"])
        page = opened(OVEN, token="writer")
        panel = chosen(page, "truck")
        expect(panel.locator(".deeds button")).to_have_text(["Edit", "Link", "Archive"])
        page.goto(page.url.split("#")[0] + "#/keep")
        expect(page.get_by_role("region", name="Tidy")).to_be_visible()
        for name in ("Audit", "Tokens", "Spaces"):
            expect(page.get_by_role("region", name=name)).to_have_count(0)


class TestMended:
    def test_a_nonsense_question_shows_no_memory_unless_asked(self, opened: Opening, inspected: Inspected) -> None:
        inspected.post("/v1/memories", text="the key of the bucket is AKIA" + "IOSFODNN7ABCDEFG")
        page = opened("#/search?q=asdfgh+qwerty+zxcv")
        expect(page.locator(".empty h2")).to_have_text("Nothing relevant found")
        expect(page.locator("main .card")).to_have_count(0)
        expect(page.locator("#panel")).to_be_hidden()
        page.get_by_role("button", name="anyway").click()
        expect(page.locator("main .card").first).to_be_visible()

    def test_reflections_are_counted_in_all(self, opened: Opening, inspected: Inspected) -> None:
        for number in range(22):
            inspected.post(
                "/v1/memories",
                text=json.dumps({"members": [], "keywords": [f"k{number}"]}),
                kind="reflection",
                essence=f"theme {number}",
            )
        page = opened("#/reflections")
        expect(page.locator("main .summary")).to_contain_text("24 reflections")
        expect(page.locator("main .summary")).to_contain_text("20 shown")

    def test_the_timeline_of_a_chosen_hit_is_its_thread(self, opened: Opening, inspected: Inspected) -> None:
        page = opened(OVEN)
        chosen(page, "truck")
        page.locator('#views a[data-view="timeline"]').click()
        expect(page.locator(".timeline .card").first).to_be_visible()
        expect(page.locator(".timeline .card.current")).to_contain_text("truck")

    def test_labels_of_a_graph_stay_inside_on_a_phone(self, opened: Opening, inspected: Inspected) -> None:
        page = opened(f"#/graph?id={inspected.id_of('We buy the used')}", phone=True)
        expect(page.locator(".node").first).to_be_attached()
        outside = page.evaluate("""() => {
          const frame = document.querySelector('svg.graph').getBoundingClientRect();
          for (const label of document.querySelectorAll('.label')) label.classList.remove('quiet');
          return [...document.querySelectorAll('.label text')].filter((one) => {
            const box = one.getBoundingClientRect();
            return box.left < frame.left - 1 || box.right > frame.right + 1;
          }).map((one) => one.textContent);
        }""")
        assert outside == []

    @pytest.mark.parametrize("phone", [False, True], ids=["wide", "phone"])
    def test_a_size_stays_in_its_tile(self, opened: Opening, phone: bool) -> None:
        page = opened("#/health", phone=phone)
        expect(page.locator(".tile dd").last).to_be_visible()
        broken = page.eval_on_selector_all(
            ".tile dd",
            "all => all.filter(one => one.scrollWidth > one.clientWidth + 1 || one.clientHeight > 45).length",
        )
        assert broken == 0

    @pytest.mark.parametrize("view", ["tune?q=oven", "keep", "health", "reflections"])
    def test_no_view_is_wider_than_a_phone(self, opened: Opening, view: str) -> None:
        page = opened(f"#/{view}", phone=True)
        expect(page.locator("main h1")).to_be_attached()
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
