// Tune a recipe: a slider for every weight, the ranks as they move, the judged questions as a benchmark, and the result as TOML.

import * as api from "./api.js";
import { announce, busy, empty, facts, failed } from "./app.js";
import { fill, h, words } from "./dom.js";
import { recipeSelect } from "./filters.js";
import * as format from "./format.js";
import { verdict } from "./hits.js";
import { hidePanel, showPanel } from "./panel.js";
import { current, go, patch } from "./state.js";
import { recallBody } from "./view-search.js";

const PAUSE = 150;
const MEASURES = [["any@1", "answer first"], ["any@5", "answer in five"], ["mrr", "MRR"], ["ndcg@10", "nDCG@10"]];

export function create(root) {
  const latest = new api.Latest();
  const picked = h("div.tune-pick");
  const sliders = h("div.sliders");
  const list = h("ol.cards", { "aria-label": "Results with these weights" });
  const head = h("div.head");
  const measured = h("div.plan", { "aria-live": "polite" });
  const saved = h("div.plan");
  fill(root, h("h1.view-title", null, "Tune"), h("div.tune", null,
    h("section.tune-left", { "aria-label": "Weights" }, picked, sliders),
    h("section.tune-right", { "aria-label": "What they do" }, head, list, measured, saved)));
  let overrides = {};
  let recipe = "";
  let usual = null;
  let timer = 0;

  function begin(name) {
    recipe = name;
    overrides = {};
    usual = null;
    const { formula } = facts.recipes.find((one) => one.name === name) ?? { formula: {} };
    const groups = numbers(formula);
    fill(picked, h("label", null, h("span.hidden", null, "Recipe"), recipeSelect("tune-recipe", "Recipe", name, (chosen) => patch({ recipe: chosen === facts.usual ? "" : chosen }))),
      h("button.button", { type: "button", onclick: () => { begin(recipe); ask(); } }, "Reset"));
    fill(sliders, Object.entries(groups).filter(([, rows]) => rows.length).map(([title, rows]) => h("details.slider-group", { open: title !== "other numbers" }, h("summary", null, `${title} (${rows.length})`), rows.map(slider))));
    fill(saved);
    fill(measured);
  }

  function slider([path, value]) {
    const shown = h("output", { for: `s-${path}` }, number(value));
    const [least, most] = range(value);
    const input = h("input", {
      id: `s-${path}`, type: "range", min: least, max: most, step: (most - least) / 200, value, "aria-label": path,
      oninput: () => {
        const now = Number(input.value);
        if (Math.abs(now - value) < 1e-9) delete overrides[path];
        else overrides[path] = now;
        shown.textContent = number(now);
        row.classList.toggle("moved", path in overrides);
        clearTimeout(timer);
        timer = setTimeout(ask, PAUSE);
      },
    });
    const row = h("label.slider", null, h("span", null, path.replace(/^(legs|signals)\./, "")), input, shown);
    return row;
  }

  async function ask() {
    const state = current();
    fill(saved, Object.keys(overrides).length > 0 && h("button.button", { type: "button", onclick: save }, "Save as TOML"));
    if (!state.q.trim()) {
      fill(list);
      fill(head, empty("Enter a query above", "Move a slider and watch the ranks."));
      hidePanel();
      return;
    }
    try {
      const body = recallBody(state, recipe);
      const answers = await latest.run((signal) => busy(() => Promise.all([usual ?? api.post("/v1/recall", body, signal), api.post("/v1/recall", { ...body, overrides }, signal)])));
      if (answers) show(state, ...answers);
    } catch (error) {
      failed(error);
    }
  }

  function show(state, before, now) {
    usual = before;
    const places = new Map(before.hits.map((hit) => [hit.memory.id, hit.rank]));
    const moved = now.hits.filter((hit) => places.get(hit.memory.id) !== hit.rank).length;
    const changed = Object.keys(overrides).length;
    fill(head, h("p.summary", null, h("strong", null, format.many(changed, "number")), " changed", h("span.scope", null, `${moved} of ${now.hits.length} hits moved`)));
    fill(list, now.hits.map((hit) => h("li", null, card(state, hit, places, now.trace))));
    announce(`${moved} of ${now.hits.length} hits moved`);
  }

  function card(state, hit, places, trace) {
    const was = places.get(hit.memory.id);
    const up = was === undefined ? null : was - hit.rank;
    const said = up === null ? "new" : up > 0 ? `▲ ${up}` : up < 0 ? `▼ ${-up}` : "=";
    return h("article.card.compact", { "data-id": hit.memory.id, tabindex: "0", "aria-label": `Hit ${hit.rank}, ${up === null ? "new here" : up > 0 ? `up ${up}` : up < 0 ? `down ${-up}` : "same place"}: ${format.short(format.reading(hit.memory), 160)}`, onclick: (event) => event.target.closest("button") || showPanel({ memory: hit.memory, hit, trace, query: state.q }, true), onkeydown: (event) => event.key === "Enter" && event.target === event.currentTarget && showPanel({ memory: hit.memory, hit, trace, query: state.q }, true) },
      h("span.rank", { "aria-hidden": "true" }, hit.rank),
      h("div.card-body", null, h("p.card-text", null, words(format.reading(hit.memory), trace.terms)),
        h("div.card-foot", null, h("span.move", { class: up > 0 || up === null ? "up" : up < 0 ? "down" : "same" }, said), verdict(state.q, hit.memory))));
  }

  async function measure(button) {
    button.disabled = true;
    try {
      const [before, now] = await busy(() => Promise.all([api.post("/v1/bench", { recipe }), api.post("/v1/bench", { recipe, overrides })]));
      fill(measured, asking(), h("div.scroll", null, h("table.receipt", null,
        h("thead", null, h("tr", null, h("th", { scope: "col" }, format.many(before.questions.length, "question")), h("th", { scope: "col" }, recipe), h("th", { scope: "col" }, "with these weights"))),
        h("tbody", null, MEASURES.map(([key, name]) => h("tr", null, h("th", { scope: "row" }, name), h("td", null, before.metrics[key].toFixed(3)), h("td", { class: way(now.metrics[key] - before.metrics[key]) }, now.metrics[key].toFixed(3))))))),
      h("ul.rows", null, now.questions.map((one, at) => h("li", null, h("button.link", { type: "button", onclick: () => patch({ q: one.query, sel: "" }) }, h("bdi", null, one.query)), h("span.hint", null, `answer at ${before.questions[at].first ?? "–"} → ${one.first ?? "–"}`)))));
      announce(`nDCG at ten ${before.metrics["ndcg@10"].toFixed(3)}, now ${now.metrics["ndcg@10"].toFixed(3)}`);
    } catch (error) {
      if (error.status >= 400 && error.status !== 401) fill(measured, asking(), h("p.hint", { role: "alert" }, error.message));
      else failed(error);
    }
    button.disabled = false;
  }

  function asking() {
    return [h("h2", null, "Judged questions"), h("p.hint", null, "Judge hits with y and n, here or in a search; then measure these weights on all judged questions."),
      h("button.button", { type: "button", onclick: (event) => measure(event.currentTarget) }, "Measure on judged questions")];
  }

  async function save() {
    try {
      const { toml } = await busy(() => api.post("/v1/recipes/toml", { recipe, overrides, name: `${recipe}-tuned` }));
      const address = URL.createObjectURL(new Blob([toml], { type: "application/toml" }));
      const link = h("a.button.primary", { href: address, download: `${recipe}-tuned.toml` }, "Download");
      fill(saved, h("h2", null, `${recipe}-tuned.toml`), h("p.hint", null, `thinkback recall QUESTION --recipe ${recipe}-tuned.toml`), link, h("pre.toml", { tabindex: "0" }, toml));
      announce("The recipe as TOML.");
    } catch (error) {
      failed(error);
    }
  }

  function update(state) {
    const name = state.recipe || facts.usual;
    if (name !== recipe) begin(name);
    usual = null;
    hidePanel();
    if (!measured.childElementCount) fill(measured, asking());
    return ask();
  }

  return {
    update,
    select: () => {},
    move: (step) => step && go({}),
    close: () => latest.cancel(),
  };
}

// Every number of the formula that weighs something, by what it belongs to.
function numbers(formula) {
  const rows = (part) => Object.entries(formula[part] ?? {}).flatMap(([name, value]) => leaves(`${part}.${name}`, value));
  const every = [...rows("legs"), ...rows("signals"), ...leaves("fusion", formula.fusion ?? {})].filter(([path]) => !/\.(limit|seeds|depth|max_neighbours|themes|cut|floor)$/.test(path));
  const isWeight = ([path]) => path.endsWith(".weight");
  return {
    legs: every.filter((row) => row[0].startsWith("legs.") && isWeight(row)),
    signals: every.filter((row) => row[0].startsWith("signals.") && isWeight(row)),
    "other numbers": every.filter((row) => !isWeight(row)),
  };
}

function leaves(path, value) {
  if (typeof value === "number") return [[path, value]];
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => leaves(`${path}.${name}`, inner));
}

function range(value) {
  const most = Math.max(1, 2 * Math.abs(value));
  return [value < 0 ? -most : 0, most];
}

function number(value) {
  return value.toFixed(Math.abs(value) < 10 ? 3 : 1);
}

function way(difference) {
  return difference > 0 ? "gain" : difference < 0 ? "loss" : "";
}
