"""How the page behaves: by keyboard, in the dark, on a phone, without a server."""

from pathlib import Path

import pytest
from inspecting import CHROMIUM, Inspected, Opening, Watched, serving

from thinkback.memory import Memory

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found")]
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect  # noqa: E402

RYE = "what did Ines find out about the rye bread?"
ASKED = "q=what+did+Ines+find+out+about+the+rye+bread%3F"

# The contrast of two colours as WCAG 2 reckons it, for what Chromium has computed.
CONTRAST = """([front, back]) => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d");
    const shine = (colour) => {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => part / 255);
        const [r, g, b] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const style = (name) => {
        const probe = document.body.appendChild(document.createElement("i"));
        probe.style.color = `var(${name})`;
        const colour = getComputedStyle(probe).color;
        probe.remove();
        return colour;
    };
    const [one, other] = [shine(style(front)), shine(style(back))].sort((a, b) => b - a);
    return (one + 0.05) / (other + 0.05);
}"""


def views(inspected: Inspected) -> dict[str, tuple[str, str]]:
    """An address for every view, and something that is there when it is drawn."""
    oven, parrot = inspected.id_of("We buy the used"), inspected.id_of("parrot")
    return {
        "browse": ("#/search", "main .card"),
        "search": (f"#/search?{ASKED}", "main .card .bar"),
        "compare": (f"#/compare?{ASKED}&b=memini", ".line"),
        "why": (f"#/why?q=oven&id={parrot}", ".verdict-line"),
        "timeline": ("#/timeline?thread=kitchen", ".moment"),
        "graph": (f"#/graph?id={oven}", ".node"),
        "reflections": ("#/reflections", ".theme"),
        "health": ("#/health", ".tile"),
    }


class TestKeyboard:
    def test_a_whole_visit_without_a_pointer(self, page: Page, inspected: Inspected) -> None:
        """Search, walk, explain, judge, graph, help and back, with keys alone."""
        press = page.keyboard.press
        expect(page.locator("main .card").first).to_be_visible()
        press("/")
        expect(page.locator("#q")).to_be_focused()
        page.keyboard.type(RYE)
        expect(page.locator("main .card .bar").first).to_be_visible()
        expect(page.locator("#live")).to_contain_text("10 results")
        press("Escape")
        expect(page.locator("main .card").first).to_be_focused()
        press("j")
        press("j")
        press("k")
        second = page.locator("main .card").nth(1)
        expect(second).to_be_focused()
        expect(second).to_have_attribute("aria-current", "true")
        expect(page.locator(".panel h2")).to_have_text("Hit 2")
        outline = second.evaluate("card => getComputedStyle(card).outlineStyle")
        assert outline == "solid"
        press("Enter")
        expect(page.locator(".panel")).to_be_focused()
        press("Escape")
        expect(second).to_be_focused()
        press("3")
        expect(second.locator(".grade")).to_have_text("grade 3")
        press("g")
        expect(page.locator(".node.ring-0")).to_be_visible()
        press("j")
        expect(page.locator(".node.ring-0")).to_be_focused()
        press("ArrowRight")
        expect(page.locator(".node:focus")).to_have_count(1)
        expect(page.locator(".node.ring-0")).not_to_be_focused()
        press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        press("Escape")
        expect(page.get_by_role("dialog")).to_be_hidden()
        press("Alt+9")
        expect(page.locator(".tile").first).to_be_visible()
        press("c")
        expect(page.locator(".line").first).to_be_attached()
        press("j")
        expect(page.locator(".column:first-child .card:focus")).to_have_count(1)
        press("x")
        expect(page.locator(".column:last-child .card:focus")).to_have_count(1)
        assert [one["grade"] for one in inspected.get("/v1/judgements")["judgements"]] == [3]

    def test_tab_reaches_only_the_buttons_of_the_current_hit(self, opened: Opening) -> None:
        page = opened(f"#/search?{ASKED}")
        expect(page.locator("main .card .bar").first).to_be_visible()
        reached = page.locator("main .card").evaluate_all(
            "cards => cards.map(card => [card, ...card.querySelectorAll('button, a')].filter(one => one.tabIndex === 0).length)"
        )
        assert reached[0] > 4
        assert set(reached[1:]) == {0}

    def test_single_letters_can_be_switched_off(self, opened: Opening, inspected: Inspected) -> None:
        page = opened(f"#/search?{ASKED}")
        page.keyboard.press("?")
        page.get_by_label("single-letter keys").uncheck()
        page.keyboard.press("Escape")
        page.locator("main .card").first.focus()
        page.keyboard.press("y")
        page.keyboard.press("g")
        expect(page.locator("main .card").first).to_be_focused()
        assert inspected.get("/v1/judgements")["judgements"] == []

    def test_everything_that_can_be_pressed_has_a_name(self, opened: Opening, inspected: Inspected) -> None:
        page = opened()
        for hash, there in views(inspected).values():
            page.goto(f"{inspected.url}/{hash}")
            expect(page.locator(there).first).to_be_attached()
            nameless = page.evaluate("""() => [...document.querySelectorAll("button, a, input, select, [role=button]")]
                .filter((one) => one.checkVisibility())
                .filter((one) => !(one.getAttribute("aria-label") ?? one.textContent.trim()) && !one.labels?.length)
                .map((one) => one.outerHTML)""")
            assert nameless == []


class TestColours:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_text_is_read_at_4_5_and_bars_are_seen_at_3_to_1(self, opened: Opening, scheme: str) -> None:
        page = opened(scheme=scheme)
        for front, back in (
            ("--ink", "--sheet"),
            ("--ink-2", "--sheet"),
            ("--ink-2", "--paper"),
            ("--accent", "--sheet"),
            ("--accent-ink", "--accent"),
            ("--accent", "--accent-soft"),
            ("--good", "--good-soft"),
            ("--bad", "--bad-soft"),
        ):
            assert page.evaluate(CONTRAST, [front, back]) >= 4.5, (front, back)
        for number in range(12):
            assert page.evaluate(CONTRAST, [f"--c{number}", "--sheet"]) >= 3.0, number

    def test_it_follows_the_system_until_told_otherwise(self, opened: Opening) -> None:
        page = opened(scheme="dark")
        background = "getComputedStyle(document.body).backgroundColor"
        dark = page.evaluate(background)
        page.get_by_role("button", name="Theme").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        light = page.evaluate(background)
        assert light != dark
        page.reload()
        expect(page.locator("main .card").first).to_be_visible()
        assert page.evaluate(background) == light
        page.get_by_role("button", name="Theme").click()
        assert page.evaluate(background) == dark


class TestPhone:
    def test_nothing_scrolls_sideways_in_any_view(self, opened: Opening, inspected: Inspected) -> None:
        inspected.post("/v1/memories", text="x" * 400, tags=["y" * 120], thread="z" * 200)
        page = opened(phone=True)
        for name, (hash, there) in views(inspected).items():
            page.goto(f"{inspected.url}/{hash}")
            expect(page.locator(there).first).to_be_attached()
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            outside = page.evaluate(
                "[...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right > innerWidth + 1).length"
            )
            assert (name, wide, outside) == (name, 0, 0)

    def test_a_hit_opens_as_a_sheet_and_closes_again(self, opened: Opening) -> None:
        page = opened(f"#/search?{ASKED}", phone=True)
        expect(page.locator("main .card .bar").first).to_be_visible()
        expect(page.locator(".panel")).to_be_hidden()
        page.locator("main .card .card-text").first.tap()
        expect(page.locator(".panel")).to_be_visible()
        expect(page.locator(".panel .score-exact")).to_be_visible()
        assert page.locator("main").evaluate("one => one.inert")
        page.get_by_role("button", name="Close (Escape)").tap()
        expect(page.locator(".panel")).to_be_hidden()
        assert not page.locator("main").evaluate("one => one.inert")

    def test_filters_unfold(self, opened: Opening) -> None:
        page = opened(f"#/search?{ASKED}", phone=True)
        expect(page.locator("#recipe")).to_be_hidden()
        page.locator(".rail-toggle").tap()
        page.locator("#recipe").select_option("keyword")
        expect(page.locator(".summary .by")).to_have_text("keyword")


class TestTrouble:
    def test_a_server_that_is_gone_is_said_and_what_was_found_stays(
        self, page: Page, inspected: Inspected, watched: Watched
    ) -> None:
        watched.expected = True  # the browser notes every refused connection
        expect(page.locator("main .card").first).to_be_visible()
        page.route("**/v1/**", lambda route: route.abort("connectionrefused"))
        page.route("**/health/**", lambda route: route.abort("connectionrefused"))
        page.locator("#q").fill("oven")
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
        expect(page.locator("main .card").first).to_be_visible()
        page.unroute_all()
        page.get_by_role("button", name="Try now").click()
        expect(page.get_by_role("alert")).to_be_hidden()
        expect(page.locator("main .card .bar").first).to_be_visible()

    def test_an_ended_session_leads_to_the_way_in(self, page: Page, watched: Watched) -> None:
        watched.expected = True
        expect(page.locator("main .card").first).to_be_visible()
        page.context.clear_cookies()
        page.locator("#q").fill("oven")
        expect(page.get_by_role("alert")).to_contain_text("session has ended")
        page.get_by_role("link", name="Log in again").click()
        expect(page.get_by_label("Token")).to_be_visible()

    def test_the_form_takes_a_token(self, page: Page, inspected: Inspected, watched: Watched) -> None:
        watched.expected = True
        page.context.clear_cookies()
        page.goto(inspected.url)
        page.get_by_label("Token").fill("nonsense")
        page.keyboard.press("Enter")
        expect(page.locator("body")).to_contain_text("Unknown token")
        page.get_by_label("Token").fill(inspected.secret)
        page.keyboard.press("Enter")
        expect(page.locator("main .card").first).to_be_visible()

    def test_a_used_link_is_no_harm_to_who_is_in_already(self, page: Page, inspected: Inspected) -> None:
        link = inspected.login()
        for _ in range(2):
            page.goto(link)
            expect(page.locator("main .card").first).to_be_visible()
            assert page.url.split("#")[0] == f"{inspected.url}/"

    def test_an_empty_memory_says_how_to_begin(self, opened: Opening, inspected: Inspected) -> None:
        inspected.post("/v1/forget", ids=[one["id"] for one in inspected.get("/v1/memories")["memories"]])
        page = opened()
        expect(page.locator(".empty")).to_contain_text("This memory is empty")
        expect(page.locator(".empty pre")).to_contain_text("thinkback remember")


class TestWarnings:
    def test_memories_without_a_vector_are_told(self, chromium: Browser, tmp_path: Path) -> None:
        def fill(memory: Memory) -> None:
            Memory(memory.store, clock=memory.clock).remember("stored while the model was away")

        with serving(tmp_path, fill) as inspected:
            page = chromium.new_page()
            page.goto(inspected.login() + "#/health")
            expect(page.get_by_role("alert")).to_contain_text("1 of 1 memories have no vector")
            expect(page.locator(".warnings")).to_contain_text("1 memory has no vector")
            page.get_by_role("link", name="Search", exact=True).click()
            expect(page.locator("main .card .state")).to_have_text("no vector")
            page.close()

    def test_what_a_search_had_to_do_without_is_said(self, opened: Opening, inspected: Inspected) -> None:
        """precise wants a cross-encoder, and this server has none."""
        warnings = inspected.post("/v1/recall", query="oven", recipe="precise")["warnings"]
        assert warnings
        page = opened("#/search?q=oven&recipe=precise")
        expect(page.locator(".warnings li")).to_have_count(len(warnings))
        assert page.locator(".warnings li").all_inner_texts() == warnings
