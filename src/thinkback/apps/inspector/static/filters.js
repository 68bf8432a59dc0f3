// The sidebar: the recipe and the filters.

import { facts } from "./app.js";
import { fill, h, icon } from "./dom.js";
import { many, whole } from "./format.js";
import { filterByTag } from "./judging.js";
import { FILTERS, current, filters, noFilters, patch } from "./state.js";

const TAGS_AT_FIRST = 14;
const rail = document.getElementById("rail");
let allTags = false;
let unfolded = false;

export function renderRail() {
  const state = current();
  const active = document.activeElement?.id;
  const count = FILTERS.reduce((sum, name) => sum + [state[name]].flat().filter(Boolean).length, 0);
  const toggle = h("button.rail-toggle", { type: "button", "aria-expanded": String(unfolded), "aria-controls": "rail-body", onclick: unfold }, icon("filter"),
    state.view !== "compare" && h("span", null, state.recipe || facts.usual), h("span.rail-count", null, count ? many(count, "filter") : "Filters"));
  fill(rail, toggle, h("div#rail-body.rail-body", { class: unfolded ? "open" : "" },
    state.view !== "compare" && recipe(state), tags(state), kinds(state), threads(state), dates(state), travel(state), more(state),
    count > 0 && h("button.button.wide", { type: "button", onclick: () => patch({ ...noFilters(), sel: "" }) }, "Clear filters")));
  if (active && rail.querySelector(`#${CSS.escape(active)}`)) document.getElementById(active).focus();
}

function unfold() {
  unfolded = !unfolded;
  renderRail();
  rail.querySelector(".rail-toggle").focus();
}

function group(title, ...content) {
  return h("fieldset.group", null, h("legend", null, title), content);
}

function recipe(state) {
  const chosen = facts.recipes.find((one) => one.name === (state.recipe || facts.usual));
  return group("Recipe",
    recipeSelect("recipe", "Recipe", state.recipe || facts.usual, (name) => patch({ recipe: name === facts.usual ? "" : name, sel: "" })),
    chosen && h("p.hint", null, chosen.about));
}

export function recipeSelect(id, label, value, onPick) {
  const names = facts.recipes.map((one) => one.name);
  if (!names.includes(value)) names.unshift(value);
  return h("select", { id, "aria-label": label, onchange: (event) => onPick(event.target.value) },
    names.map((name) => h("option", { value: name, selected: name === value }, name)));
}

function tags(state) {
  if (!facts.tags.length && !state.tags.length) return null;
  const known = new Map(facts.tags.map(({ tag, count }) => [tag, count]));
  const shown = [...new Set([...state.tags, ...facts.tags.slice(0, allTags ? undefined : TAGS_AT_FIRST).map(({ tag }) => tag)])];
  const rest = facts.tags.length - TAGS_AT_FIRST;
  return group("Tags",
    h("div.chips", null, shown.map((tag) =>
      h("button.chip", { type: "button", id: `tag-${tag}`, "aria-pressed": String(state.tags.includes(tag)), onclick: () => filterByTag(tag) }, h("bdi", null, tag), h("small", null, whole(known.get(tag) ?? 0))))),
    rest > 0 && h("button.link", { type: "button", onclick: () => { allTags = !allTags; renderRail(); } }, allTags ? "fewer" : `${rest} more`));
}

function kinds(state) {
  const counted = Object.entries(facts.stats?.kinds ?? {}).sort((one, other) => other[1] - one[1]);
  if (counted.length < 2 && !state.kinds.length) return null;
  const flip = (kind) => patch({ kinds: state.kinds.includes(kind) ? state.kinds.filter((one) => one !== kind) : [...state.kinds, kind], sel: "" });
  return group("Kind", h("div.chips", null, counted.map(([kind, count]) =>
    h("button.chip", { type: "button", id: `kind-${kind}`, "aria-pressed": String(state.kinds.includes(kind)), onclick: () => flip(kind) }, kind, h("small", null, whole(count))))));
}

function threads(state) {
  if (!state.threads.length) return null;
  return group("Thread", h("div.chips", null, state.threads.map((thread) =>
    h("button.chip", { type: "button", "aria-pressed": "true", onclick: () => patch({ threads: state.threads.filter((one) => one !== thread), sel: "" }) }, h("bdi", null, thread)))));
}

function dated(name, label, kind, hint) {
  const value = current()[name];
  return h("label.field", { title: hint }, h("span", null, label),
    h("input", { id: `f-${name}`, type: kind, value, max: "9999-12-31", onchange: (event) => patch({ [name]: event.target.value, sel: "" }) }));
}

function dates(state) {
  return group("Dated", dated("since", "from", "date", "at or after the beginning of this day, in UTC"), dated("until", "before", "date", "before the beginning of this day, in UTC"));
}

function travel(state) {
  return group("Time travel", dated("as_of", "true on", "date", "what was true at the beginning of this day, in UTC"), dated("known_at", "known on", "date", "what the store knew at the beginning of this day, in UTC"));
}

function more(state) {
  return group("Also",
    h("label.check", null, h("input", { id: "f-everything", type: "checkbox", checked: Boolean(state.everything), onchange: (event) => patch({ everything: event.target.checked ? "yes" : "", sel: "" }) }), "expired, ended and archived"),
    h("label.field", null, h("span", null, "hits"), h("select", { id: "f-limit", onchange: (event) => patch({ limit: event.target.value === "10" ? "" : event.target.value }) },
      ["5", "10", "20", "50", "100"].map((value) => h("option", { value, selected: value === (state.limit || "10") }, value)))));
}

// The active filters in words, above the results.
export function filterSentence() {
  const given = Object.entries(filters());
  const plain = { since: "from", until: "before", as_of: "true on", known_at: "known on", tags: "tagged", kinds: "of kind", tiers: "of tier", threads: "in" };
  return given.map(([name, value]) => (name === "everything" ? "including ended" : `${plain[name]} ${[value].flat().join(" + ")}`)).join(", ");
}
