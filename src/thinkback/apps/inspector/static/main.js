// The entry point: follows the address and shows the views.

import * as api from "./api.js";
import { announce, busy, can, facts, failed, show } from "./app.js";
import { fill, h, icon } from "./dom.js";
import { addMemory } from "./editing.js";
import { renderRail } from "./filters.js";
import { loadJudgements } from "./judging.js";
import { listen, openHelp, stored } from "./keys.js";
import { hidePanel } from "./panel.js";
import { VIEWS, changed, current, go, link, patch } from "./state.js";
import * as compare from "./view-compare.js";
import * as graph from "./view-graph.js";
import * as health from "./view-health.js";
import * as keep from "./view-keep.js";
import * as reflections from "./view-reflections.js";
import * as search from "./view-search.js";
import * as timeline from "./view-timeline.js";
import * as tune from "./view-tune.js";
import * as why from "./view-why.js";

const MODULES = { search, compare, why, timeline, graph, reflections, tune, keep, health };
const NAMES = { search: "Search", compare: "Compare", why: "Why not", timeline: "Timeline", graph: "Graph", reflections: "Reflections", tune: "Tune", keep: "Keep", health: "Health" };
const ASKING = ["search", "compare", "why"]; // with the filters beside them
const QUERIED = [...ASKING, "tune"];
const PAUSE = 120;
const THEMES = { "": ["auto", "system"], light: ["sun", "light"], dark: ["moon", "dark"] };

const root = document.getElementById("main");
const nav = document.getElementById("views");
const input = document.getElementById("q");
let view = null;
let shown = null;
let timer = 0;

function render(state, before) {
  if (!timer && input.value !== state.q) input.value = state.q;
  if (before && before.space !== state.space) {
    location.reload();
    return;
  }
  const onlyChosen = before && shown === state.view && link({ ...before, sel: "" }) === link({ ...state, sel: "" });
  renderNav(state);
  if (onlyChosen) {
    view.select(state);
    return;
  }
  document.body.dataset.view = state.view;
  document.title = `${state.q && QUERIED.includes(state.view) ? `${state.q} · ` : ""}${NAMES[state.view]} · Thinkback`;
  document.getElementById("rail").hidden = !ASKING.includes(state.view);
  if (ASKING.includes(state.view)) renderRail();
  if (shown !== state.view) mount(state);
  view.update(state);
}

function mount(state) {
  view?.close();
  hidePanel();
  fill(root);
  root.scrollTop = 0;
  view = MODULES[state.view].create(root);
  if (shown !== null) window.scrollTo(0, 0);
  shown = state.view;
}

function renderNav(state) {
  if (!nav.childElementCount) {
    fill(nav, VIEWS.map((name, at) => h("a", { "data-view": name, "aria-keyshortcuts": `Alt+${at + 1}`, onclick: name === "timeline" ? ofShown : null }, icon(name), h("span", null, NAMES[name]))));
  }
  for (const item of nav.children) {
    const keep = item.dataset.view === "graph" && state.sel ? { id: state.sel } : {};
    item.href = link({ view: item.dataset.view, ...keep, ...(item.dataset.view === "why" && state.view !== "why" ? { id: "" } : {}) });
    if (item.dataset.view === state.view) item.setAttribute("aria-current", "page");
    else item.removeAttribute("aria-current");
  }
}

// The timeline of the memory in the panel, if none was asked for.
function ofShown(event) {
  const its = document.querySelector('.panel:not([hidden]) [aria-keyshortcuts="t"]');
  if (current().thread || !its) return;
  event.preventDefault();
  its.click();
}

function typed() {
  clearTimeout(timer);
  timer = 0;
  const state = current();
  const changes = { q: input.value, sel: "" };
  if (QUERIED.includes(state.view)) patch(changes);
  else go({ ...changes, view: "search" });
}

input.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(typed, PAUSE);
});
document.getElementById("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  typed();
});
document.getElementById("skip").addEventListener("click", () => root.focus());
document.getElementById("help-open").addEventListener("click", openHelp);
document.getElementById("add").addEventListener("click", addMemory);
document.addEventListener("memories-changed", async () => {
  try {
    await learnCounts();
  } catch (error) {
    failed(error);
  }
  if (ASKING.includes(current().view)) renderRail();
  if (current().view !== "keep") view.update(current());
});
document.addEventListener("again", () => (facts.ready ? view.update(current()) : start()));

// -- theme

function renderTheme() {
  const theme = document.documentElement.dataset.theme ?? "";
  const button = document.getElementById("theme");
  button.setAttribute("aria-label", `Theme: ${THEMES[theme][1]}`);
  button.title = `Theme: ${THEMES[theme][1]}`;
  fill(button, icon(THEMES[theme][0]));
}

document.getElementById("theme").addEventListener("click", () => {
  const order = Object.keys(THEMES);
  const next = order[(order.indexOf(document.documentElement.dataset.theme ?? "") + 1) % order.length];
  if (next) document.documentElement.dataset.theme = next;
  else delete document.documentElement.dataset.theme;
  stored("thinkback-theme", next);
  renderTheme();
  announce(`Theme: ${THEMES[next][1]}`);
});

// -- facts about the server

async function start() {
  renderTheme();
  renderNav(current());
  try {
    await busy(learn);
  } catch (error) {
    failed(error);
    return;
  }
  facts.ready = true;
  listen(() => view, () => current().sel || document.querySelector(".card.current")?.dataset.id || (current().view === "graph" ? current().id : ""));
  changed(render);
  render(current(), null);
}

async function learn() {
  const [who, { spaces }] = await Promise.all([api.get("/v1/token"), api.get("/v1/spaces")]);
  Object.assign(facts, { token: who.name, scopes: who.scopes, spaces });
  const wanted = current().space;
  if (wanted || (spaces.length > 1 && !spaces.includes("default"))) api.useSpace(wanted || spaces[0]);
  renderSpaces(spaces, wanted || (spaces.includes("default") ? "default" : spaces[0]));
  const [recipes] = await Promise.all([api.get("/v1/recipes"), learnCounts(), loadJudgements()]);
  Object.assign(facts, { recipes: recipes.recipes, usual: recipes.usual });
  document.getElementById("add").hidden = !can("write");
  const { stats } = facts;
  if (stats.unembedded > 0) show("warn", `${stats.unembedded} of ${stats.memories} memories have no vector; they are found by keyword only.`, h("a.button", { href: link({ view: "health" }) }, "Health"));
}

async function learnCounts() {
  const [{ tags }, { stats }] = await Promise.all([api.get("/v1/tags"), api.get("/v1/stats")]);
  Object.assign(facts, { tags, stats });
}

function renderSpaces(spaces, chosen) {
  const names = spaces.includes(chosen) || !chosen ? spaces : [chosen, ...spaces];
  document.getElementById("space-label").hidden = names.length < 2;
  const select = document.getElementById("space");
  fill(select, names.map((name) => h("option", { value: name, selected: name === chosen }, name)));
  select.onchange = () => go({ space: select.value, sel: "", id: "", thread: "" });
}

start();
