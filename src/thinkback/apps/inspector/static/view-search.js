// Search as you type; without a question, the newest memories.

import * as api from "./api.js";
import { announce, busy, empty, facts, failed, skeleton } from "./app.js";
import { extent, legend } from "./bars.js";
import { fill, h } from "./dom.js";
import { filterSentence } from "./filters.js";
import * as format from "./format.js";
import { hitCard, memoryCard, refreshVerdicts } from "./hits.js";
import { judge } from "./judging.js";
import { Walk } from "./list.js";
import { hidePanel, showMemory, showPanel } from "./panel.js";
import { current, filters, go, link, noFilters, patch } from "./state.js";

const PAGE = 30;
const UNLIKELY = 0.12; // below this probability of an answer, hits are shown on request only

export function create(root) {
  const latest = new api.Latest();
  const head = h("div.head");
  const list = h("ol.cards", { "aria-label": "Results" });
  const tail = h("div.tail");
  fill(root, h("h1.hidden", null, "Search"), head, list, tail);
  fill(tail, skeleton());
  let result = null;
  let anyway = null;
  let page = [];
  const walk = new Walk(list, { onMove: (id) => choose(id), onOpen: (id) => choose(id, true) });
  const redraw = () => refreshVerdicts(current().q);
  document.addEventListener("judged", redraw);

  async function update(state) {
    list.classList.add("stale");
    try {
      const found = await latest.run((signal) => busy(() => (state.q.trim() ? search(state, signal) : browse(state, signal))));
      if (found === undefined) return;
      list.classList.remove("stale");
      if (state.q.trim()) showHits(state, found);
      else showPage(state, found.memories, found.next);
    } catch (error) {
      list.classList.remove("stale");
      problem(error);
    }
  }

  function problem(error) {
    if (!(error instanceof api.ApiError) || error.offline || error.status === 401) {
      if (!list.childElementCount) fill(tail, empty("Nothing to show yet", "The server does not answer."));
      failed(error);
      return;
    }
    result = null;
    fill(list);
    fill(head);
    hidePanel();
    fill(tail, error.status === 404 ? emptyStore() : empty("The search failed", error.message));
    announce(error.message);
  }

  function showHits(state, found) {
    result = found;
    page = [];
    const { hits, trace } = found;
    const scale = extent(hits);
    const about = { query: state.q, terms: trace.terms, extent: scale };
    if (hits.length && !found.answered && found.relevance < UNLIKELY && anyway !== state.q) return showNone(state, found);
    fill(head, summary(found), hits.length > 0 && legend(hits), warnings(found));
    fill(list, hits.map((hit) => h("li", null, hitCard(hit, { ...about, onOpen: () => choose(hit.memory.id, true) }))));
    fill(tail, hits.length ? whatElse(state, found) : nothing(state));
    settle(state);
    announce(`${format.many(hits.length, "result")} for ${state.q}`);
  }

  // Nothing that was found is likely an answer: the nearest memories may be private, and are no answer to nonsense.
  function showNone(state, found) {
    const reveal = h("button.button", { type: "button", onclick: () => { anyway = state.q; showHits(state, found); } }, `Show the nearest ${found.hits.length} anyway`);
    fill(head, warnings(found));
    fill(list);
    fill(tail, empty("Nothing relevant found", "No memory is likely an answer to this.", reveal));
    result = null;
    hidePanel();
    announce(`Nothing relevant found for ${state.q}`);
  }

  function showPage(state, memories, next, before = []) {
    result = null;
    page = [...before, ...memories];
    const scope = filterSentence();
    fill(head, page.length > 0 && h("p.summary", null, h("strong", null, scope ? "Memories" : "Newest memories"), scope && ` ${scope}`));
    fill(list, page.map((memory) => h("li", null, memoryCard(memory, { onOpen: () => choose(memory.id, true) }))));
    fill(tail, page.length ? next && more(state, next) : scope ? nothing(state) : emptyStore());
    settle(state);
    if (!before.length) announce(`${format.many(page.length, "memory", "memories")} shown, newest first`);
  }

  function more(state, next) {
    return h("button.button.wide", {
      type: "button",
      onclick: async () => {
        try {
          const found = await latest.run((signal) => busy(() => browse(state, signal, next)));
          if (found) showPage(state, found.memories, found.next, page);
        } catch (error) {
          failed(error);
        }
      },
    }, "Show older memories");
  }

  function settle(state) {
    walk.set(state.sel);
    if (walk.current) reveal(state.sel || walk.current);
    else hidePanel();
  }

  function choose(id, opened = false) {
    walk.set(id);
    patch({ sel: id });
    reveal(id, opened);
  }

  function reveal(id, opened = false) {
    const hit = result?.hits.find((one) => one.memory.id === id);
    const memory = hit?.memory ?? page.find((one) => one.id === id);
    if (memory) showPanel({ memory, hit, trace: result?.trace, query: result ? current().q : "" }, opened);
    else showMemory(id, opened);
  }

  return {
    update,
    select: (state) => {
      if (state.sel && state.sel !== walk.current) reveal(state.sel);
      walk.set(state.sel);
    },
    move: (step) => walk.move(step),
    judge: (grade) => {
      const hit = result?.hits.find((one) => one.memory.id === walk.current);
      if (hit) judge(current().q, hit.memory, grade);
    },
    close: () => {
      latest.cancel();
      document.removeEventListener("judged", redraw);
    },
  };
}

function search(state, signal) {
  return api.post("/v1/recall", recallBody(state), signal);
}

// Not counted as use: inspecting a memory must not raise its rank.
export function recallBody(state, recipe = state.recipe) {
  return { query: state.q, trace: true, counted: false, ...filters(state), ...(recipe && { recipe }), ...(state.limit && { limit: Number(state.limit) }) };
}

function browse(state, signal, after) {
  const chosen = filters(state);
  const themes = chosen.kinds ? {} : { include_reflections: false };
  return api.get("/v1/memories", { ...themes, ...chosen, limit: PAGE, after }, signal);
}

function summary({ hits, trace, recipe, answered }) {
  const took = trace.timings.reduce((sum, timing) => sum + timing.us, 0);
  const steps = trace.timings.map((timing) => `${timing.step} ${format.milliseconds(timing.us)}`).join(", ");
  const scope = filterSentence();
  const understood = [...trace.inferred_tags.map((tag) => `#${tag}`), trace.time_named].filter(Boolean);
  return h("p.summary", null,
    h("strong", null, format.many(hits.length, "hit")), ` of ${format.many(trace.order.length, "candidate")}`,
    h("span.took", { title: steps }, format.milliseconds(took)), h("span.by", null, recipe),
    scope && h("span.scope", null, scope),
    hits.length > 0 && !answered && h("span.scope.unanswered", null, "probably no answer here"),
    understood.length > 0 && h("span.scope", null, "understood: ", h("bdi", null, understood.join(", "))));
}

function warnings(found) {
  return found.warnings.length > 0 && h("ul.warnings", null, found.warnings.map((warning) => h("li", null, h("bdi", null, warning))));
}

function whatElse(state, { hits, trace }) {
  const left = trace.order.length - hits.length;
  const limit = { 5: "10", 10: "20", 20: "50", 50: "100" }[state.limit || 10];
  return [
    left > 0 && limit && h("button.button", { type: "button", onclick: () => patch({ limit }) }, `Show ${limit}`),
    h("a.button", { href: link({ view: "why", id: "", sel: "" }) }, "Something missing? Ask why"),
    h("a.button", { href: link({ view: "compare", sel: "" }) }, "Compare recipes"),
  ];
}

function nothing(state) {
  const filtered = Object.keys(filters()).length > 0;
  return empty(filtered ? "Nothing matches the filters" : "Nothing found",
    filtered ? "Fewer filters may match more." : "No leg of this recipe finds anything.",
    filtered && h("button.button", { type: "button", onclick: () => patch({ ...noFilters(), sel: "" }) }, "Clear filters"),
    !filtered && h("button.button", { type: "button", onclick: () => go({ view: "compare" }) }, "Try other recipes"));
}

function emptyStore() {
  return empty("This memory is empty", "Memories appear here. Store the first one:",
    h("pre", null, 'thinkback remember "Oscar is a grey cat" --tags pets'),
    facts.spaces.length > 1 && h("p", null, "Or choose another space above."));
}
