// A hit as a card: its text, its score, and its judgement.

import { h, icon, words } from "./dom.js";
import * as bars from "./bars.js";
import * as format from "./format.js";
import { filterByTag, judge, judgedOf, mayJudge } from "./judging.js";
import { link } from "./state.js";

export function hitCard(hit, { query, terms, extent, onOpen }) {
  const card = memoryCard(hit.memory, { terms, onOpen, rank: hit.rank, passage: hit.passage });
  card.querySelector(".card-body").append(
    h("div.card-score", null, bars.stacked(hit, extent, onOpen), h("data.score", { value: hit.score, title: String(hit.score) }, format.score(hit.score))),
    ...(hit.evidence.length ? [relevance(hit)] : []),
    h("div.card-foot", null, placings(hit), query.trim() && verdict(query, hit.memory)),
  );
  card.setAttribute("aria-describedby", `why-${hit.rank}`);
  card.querySelector(".bar").id = `why-${hit.rank}`;
  return card;
}

function relevance(hit) {
  const inputs = hit.evidence.map((one) => `${(one.weight * one.value).toFixed(2)} ${one.name} (${format.score(one.value)})`);
  return h("p.relevance", { title: `log-odds: ${inputs.join(", ")}` }, `${Math.round(hit.relevance * 100)} % likely an answer`);
}

// `onOpen` is called when the card is chosen with the pointer; keys are handled by the list.
// Of a long memory only the passage that fits the query is shown.
export function memoryCard(memory, { terms = [], onOpen, rank, passage }) {
  const text = passage ? passage.text : format.reading(memory);
  const where = passage && h("p.passage", null, `characters ${passage.start}–${passage.end} of ${memory.text.length}`);
  const body = h("div.card-body", null, h("p.card-text", null, words(text, terms)), where, about(memory));
  return h("article.card", {
    tabindex: "-1", "data-id": memory.id, "aria-label": `${rank ? `Hit ${rank}: ` : ""}${format.short(text, 200)}`,
    onclick: (event) => event.target.closest("button, a") || !getSelection().isCollapsed || onOpen?.(),
  }, rank && h("span.rank", { "aria-hidden": "true" }, rank), body);
}

export function about(memory) {
  return h("p.about", null,
    h("time", { datetime: format.dateOf(memory), title: format.dateOf(memory) }, format.day(format.dateOf(memory))),
    memory.thread != null && h("a.thread", { href: link({ view: "timeline", thread: memory.thread, sel: memory.id }) }, memory.thread),
    memory.kind !== "observation" && h("span.kind", null, memory.kind),
    ended(memory),
    !memory.embedded && h("span.state", { title: "found by keyword only" }, "no vector"),
    memory.tags.map((tag) => h("button.tag", { type: "button", onclick: () => filterByTag(tag), "aria-label": `Only memories tagged ${tag}` }, h("bdi", null, tag))));
}

function ended(memory) {
  if (memory.archived_at) return h("span.state", null, "archived");
  return memory.valid_to ? h("span.state", { title: memory.valid_to }, `until ${format.day(memory.valid_to)}`) : null;
}

function placings(hit) {
  if (!hit.placings.length) return h("span.placings", null, "found by no leg directly");
  return h("span.placings", null, hit.placings.map((placing) =>
    h("span.placing", { title: `${placing.leg} had it at rank ${placing.rank} with ${placing.score}` }, bars.swatch(placing.leg), `${placing.leg} `, h("b", null, `#${placing.rank}`))));
}

// Two buttons that stand for the keys y and n.
export function verdict(query, memory) {
  const grade = judgedOf(query, memory.id);
  const button = (key, name, label, on, value) =>
    h("button.judge", {
      type: "button", class: `${name}${on ? " on" : ""}`, "aria-pressed": String(on), "aria-label": `${label} (${key})`, title: mayJudge() ? `${label} (${key})` : "this token may only read",
      disabled: !mayJudge(), onclick: () => judge(query, memory, value),
    }, icon(name));
  return h("span.verdict", { role: "group", "aria-label": "Judge", "data-judges": memory.id },
    grade > 1 && h("span.grade", null, `grade ${grade}`),
    button("y", "yes", "A correct answer", grade >= 1, 1), button("n", "no", "Not an answer", grade === 0, 0));
}

export function refreshVerdicts(query, root = document) {
  for (const old of root.querySelectorAll(".verdict")) old.replaceWith(verdict(query, { id: old.dataset.judges }));
}
