"""Memories that want to be scripts stay words."""

from html import unescape

import pytest
from inspecting import CHROMIUM, Inspected, Opening, Watched, serving

pytestmark = [pytest.mark.browser, pytest.mark.skipif(CHROMIUM is None, reason="no Chromium found")]
pytest.importorskip("playwright", reason="playwright is not installed")

from playwright.sync_api import Browser, Page, expect  # noqa: E402

RUN = "(top.ran=top.ran||[]).push(1)"
# Each would run RUN as part of a page that takes memories for markup; most at once, the others when used.
PAYLOADS = [
    f"<script>{RUN}</script>",
    f"<SCRIPT>{RUN}</SCRIPT>",
    f'"><script>{RUN}</script>',
    f"'><script>{RUN}</script>",
    f"</p><script>{RUN}</script>",
    f"</title><script>{RUN}</script>",
    f"</textarea><script>{RUN}</script>",
    f"<script type=module>{RUN}</script>",
    f"<script>/*</script><script>*/{RUN}</script>",
    f"<img src=x onerror={RUN}>",
    f'<img src=x onerror="{RUN}">',
    f"<img/src=x/onerror={RUN}>",
    f'"><img src=x onerror={RUN}>',
    f"<img src=x:x onerror={RUN}//",
    f"<IMG SRC=x ONERROR={RUN}>",
    f"<img src=x onerror=\n{RUN}>",
    f"<svg onload={RUN}>",
    f"<svg/onload={RUN}>",
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<svg><set onbegin={RUN} attributename=x dur=1s>",
    f"<svg><image href=x onerror={RUN}>",
    f"<math><mtext></p><img src=x onerror={RUN}></mtext></math>",
    f"<body onload={RUN}>",
    f"<body onpageshow={RUN}>",
    f"<iframe srcdoc='<script>{RUN}</script>'></iframe>",
    f"<iframe onload={RUN}></iframe>",
    f'<iframe src="javascript:{RUN}"></iframe>',
    f"<object data=x onerror={RUN}></object>",
    f"<video src=x onerror={RUN}></video>",
    f"<video><source src=x onerror={RUN}></video>",
    f"<audio src=x onerror={RUN}></audio>",
    f"<input autofocus onfocus={RUN}>",
    f"<select autofocus onfocus={RUN}></select>",
    f"<textarea autofocus onfocus={RUN}></textarea>",
    f"<button autofocus onfocus={RUN}>b</button>",
    f"<details open ontoggle={RUN}>d</details>",
    f"<link rel=stylesheet href=x onerror={RUN}>",
    f"<style onload={RUN}></style>",
    f"<style>@import 'x';</style><img src=x onerror={RUN}>",
    f"<p style=animation-name:x onanimationstart={RUN}></p><style>@keyframes x{{}}</style>",
    f"<marquee onstart={RUN}>m</marquee>",
    f'<a href="javascript:{RUN}">click</a>',
    f"[click](javascript:{RUN})",
    f"javascript:{RUN}",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"${{{RUN}}}",
    f"<template><script>{RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    f"<form action=javascript:{RUN}><button>b</button></form>",
]


@pytest.fixture
def inspected(tmp_path):  # type: ignore[no-untyped-def]
    """A memory made of payloads, wherever words can stand: text, tags, threads, sources, metadata, links, reflections."""

    def fill(memory) -> None:  # type: ignore[no-untyped-def]
        records = memory.remember_many(
            {
                "text": f"payload {number} {payload}",
                "tags": [payload, f"tag{number}"],
                "thread": PAYLOADS[number % 7],
                "source": payload,
                "metadata": {payload: payload},
                "id": payload if number % 5 == 0 else None,
                "essence": payload,
            }
            for number, payload in enumerate(PAYLOADS)
        )
        for one, other, kind in zip(records, records[1:], PAYLOADS, strict=False):
            memory.link(one.id, other.id, kind[:90])
        memory.remember(PAYLOADS[0], kind="reflection", essence=PAYLOADS[9])

    with serving(tmp_path, fill) as running:
        yield running


def harmless(page: Page) -> None:
    """Nothing has run, nothing has been refused, and no element has come out of a memory."""
    assert page.evaluate("window.ran ?? []") == []
    assert page.evaluate("window.refused") == []
    foreign = "img, iframe, object, video, audio, marquee, math, template, style, link, script, [onerror], [onload]"
    inside = f".shell :is({foreign}), #tip :is({foreign}), #banner :is({foreign}), #views :is({foreign})"
    assert page.eval_on_selector_all(inside, "all => all.map(one => one.outerHTML)") == []
    assert page.eval_on_selector_all('[href^="javascript"], [action]', "all => all.map(one => one.outerHTML)") == []


def test_the_payloads_are_live(chromium: Browser) -> None:
    """On a page that takes them for markup most run by themselves, so the tests below can fail."""
    assert len(PAYLOADS) == len(set(PAYLOADS)) == 50
    page = chromium.new_page()
    ran = 0
    for payload in PAYLOADS:
        page.set_content(f"<p>{payload}</p>", wait_until="load")
        page.evaluate("new Promise(requestAnimationFrame)")
        ran += bool(page.evaluate("window.ran ?? []"))
    page.close()
    assert ran >= 30


def test_nothing_runs_in_any_view(opened: Opening, inspected: Inspected) -> None:
    page = opened()
    expect(page.locator("main .card")).to_have_count(30)
    page.get_by_role("button", name="Show older memories").click()
    expect(page.locator("main .card")).to_have_count(50)  # the reflection is not among the newest
    shown = page.locator("main .card .card-text").all_text_contents()
    assert sorted(shown) == sorted(f"payload {number} {payload}" for number, payload in enumerate(PAYLOADS))
    harmless(page)
    for hash, there in (
        ("#/search?q=payload&limit=100", "main .card .bar"),
        ("#/compare?q=payload&b=vector&limit=100", ".line"),
        ("#/timeline", "[data-thread]"),
        ("#/graph", ".node"),
        ("#/reflections", ".theme"),
        ("#/tune?q=payload&limit=100", ".tune-right .card"),
        ("#/keep", ".health-part"),
        ("#/health", ".tile"),
    ):
        page.goto(f"{inspected.url}/{hash}")
        expect(page.locator(there).first).to_be_attached()
        harmless(page)


def test_nothing_runs_when_every_memory_is_opened(opened: Opening) -> None:
    page = opened("#/search?q=payload&limit=100")
    expect(page.locator("main .card .bar")).to_have_count(51)
    for _ in range(51):
        page.keyboard.press("j")
        expect(page.locator(".panel-text")).to_have_text(
            page.locator("main .card.current .card-text").text_content() or ""
        )
    page.locator("main .card.current .bar").hover()
    page.locator(".panel summary").last.click()
    expect(page.locator(".versions li").first).to_be_visible()
    harmless(page)


def test_nothing_runs_where_it_is_edited_linked_forgotten_or_imported(opened: Opening, inspected: Inspected) -> None:
    page = opened("#/search?q=payload&limit=100")
    expect(page.locator("main .card .bar")).to_have_count(51)
    panel, form = page.locator("#panel"), page.locator("#form")
    for name in ("Edit", "Link", "Forget"):
        panel.get_by_role("button", name=name).click()
        if name == "Link":
            form.get_by_label("The other memory").fill("script onerror")
            expect(form.locator(".choice").first).to_be_visible()
        harmless(page)
        assert page.eval_on_selector_all("#form :is(img, iframe, script, [onerror])", "all => all.length") == 0
        form.get_by_role("button", name="Cancel").click()
    page.goto(f"{inspected.url}/#/keep")
    buffer = "\n".join(PAYLOADS).encode()
    page.locator("#import-file").set_input_files(
        {"name": f"{PAYLOADS[9][:40]}.jsonl", "mimeType": "", "buffer": buffer}
    )
    expect(page.locator(".plan .rows li").first).to_be_visible()
    harmless(page)


@pytest.mark.parametrize("payload", PAYLOADS[::7])
def test_nothing_runs_when_it_is_asked_for(opened: Opening, payload: str) -> None:
    page = opened()
    page.locator("#q").fill(payload)
    expect(page.locator("#live")).to_contain_text("results for")
    page.get_by_role("link", name="Why not", exact=True).click()
    page.get_by_label("The missing memory").fill(payload)
    expect(page.locator(".offers .card").first).to_be_visible()
    page.locator(".offers .card-text").first.click()
    expect(page.locator(".verdict-line")).to_be_visible()
    assert unescape(page.locator(".asked q").inner_text()) == payload.replace("\n", " ")
    harmless(page)


def test_the_policy_would_refuse_markup_even_if_the_page_made_some(opened: Opening, watched: Watched) -> None:
    watched.expected = True  # what is refused is told on the console
    page = opened()
    assert (
        page.evaluate("""() => {
        try {
            document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=top.ran=1>");
            return "taken";
        } catch (error) {
            return error.name;
        }
    }""")
        == "TypeError"
    )
    page.evaluate("""() => new Promise((seen) => {
        document.addEventListener("securitypolicyviolation", seen, { once: true });
        document.body.appendChild(document.createElement("p")).setAttribute("style", "color: red");
    })""")
    assert page.evaluate("window.refused.splice(0)") == ["require-trusted-types-for", "style-src-attr"]
