// A score as a bar: what each leg and signal added or subtracted.

import { h } from "./dom.js";
import * as format from "./format.js";
import { hideTip, showTip } from "./tip.js";

// Fixed colours for the most common names; others take the next free one for the rest of the visit.
const COLOURS = new Map(
  Object.entries({
    keyword: 0, vector: 1, neighbours: 2, voice: 3, graph: 4, dates: 5, temporal: 5, recent: 6, newest: 6, recency: 6,
    reflections: 7, members: 7, reflection: 7, tags: 9, quality: 8, importance: 8, priority: 8, decay: 6, relevance: 10,
  }),
);
const COLOUR_COUNT = 12;
let nextFree = 10;

export function colour(name) {
  if (!COLOURS.has(name)) {
    COLOURS.set(name, nextFree);
    nextFree = nextFree + 1 < COLOUR_COUNT ? nextFree + 1 : 0;
  }
  return `c${COLOURS.get(name)}`;
}

// The common scale of these hits, on both sides of zero.
export function extent(hits) {
  const sums = hits.map((hit) => [added(hit), taken(hit)]);
  return { most: Math.max(1e-12, ...sums.map(([up]) => up)), least: Math.max(0, ...sums.map(([, down]) => down)) };
}

function added(hit) {
  return hit.contributions.reduce((sum, part) => sum + Math.max(0, part.delta), 0);
}

function taken(hit) {
  return hit.contributions.reduce((sum, part) => sum - Math.min(0, part.delta), 0);
}

function moving(hit) {
  return hit.contributions.filter((part) => part.delta !== 0);
}

export function sentence(hit) {
  const parts = moving(hit).map((part) => `${part.name} ${format.delta(part.delta)}`);
  return `${parts.join(", ")}; score ${format.score(hit.score)}`;
}

// Gains stack to the right of zero, losses (hatched) to the left; the tick is the score.
export function stacked(hit, { most, least }, onOpen) {
  const whole = most + least;
  const percent = (value) => `${(100 * value) / whole}%`;
  const track = h("span.bar-track", { "aria-hidden": "true" });
  let right = least;
  let left = least;
  for (const part of moving(hit)) {
    const size = Math.abs(part.delta);
    const segment = h("span.bar-part", { class: `${colour(part.name)}${part.delta < 0 ? " loss" : ""}`, "data-name": part.name });
    if (part.delta < 0) left -= size;
    segment.style.left = percent(part.delta < 0 ? left : right);
    segment.style.width = percent(size);
    if (part.delta > 0) right += size;
    track.append(segment);
  }
  if (least > 0) track.append(placed("span.bar-zero", percent(least)));
  track.append(placed("span.bar-score", percent(least + hit.score)));
  const button = h("button.bar", { type: "button", "aria-label": `How the score adds up: ${sentence(hit)}`, onclick: onOpen }, track);
  const show = (event) => showTip(button, breakdown(hit, event.target.dataset?.name));
  for (const event of ["mouseover", "focus"]) button.addEventListener(event, show);
  for (const event of ["mouseleave", "blur"]) button.addEventListener(event, hideTip);
  return button;
}

function placed(what, left) {
  const element = h(what);
  element.style.left = left;
  return element;
}

function breakdown(hit, name) {
  const rows = moving(hit).map((part) =>
    h("tr", { class: part.name === name ? "chosen" : "" },
      h("td", null, swatch(part.name, part.delta < 0)), h("td", null, part.name), h("td.number", null, format.delta(part.delta))));
  const sum = h("tr.sum", null, h("td"), h("td", null, "score"), h("td.number", null, format.delta(hit.score).replace("+", "=")));
  return h("table.tip-table", null, h("tbody", null, rows, sum));
}

export function swatch(name, loss = false) {
  return h("span.swatch", { class: `${colour(name)}${loss ? " loss" : ""}`, "aria-hidden": "true" });
}

export function legend(hits) {
  const names = [...new Set(hits.flatMap((hit) => moving(hit).map((part) => part.name)))];
  const losses = hits.some((hit) => moving(hit).some((part) => part.delta < 0));
  const order = new Map(hits.flatMap((hit) => hit.contributions.map((part, at) => [part.name, at])));
  names.sort((one, other) => order.get(one) - order.get(other));
  return h("ul.legend", { "aria-label": "Legend of the bars" },
    names.map((name) => h("li", null, swatch(name), name)),
    losses && h("li", null, h("span.swatch.loss.plain", { "aria-hidden": "true" }), "taken away"));
}

// Every contribution begins where the previous one ended; the last one ends at the score.
export function waterfall(hit) {
  const ends = [0];
  for (const part of hit.contributions) ends.push(ends.at(-1) + part.delta);
  const low = Math.min(0, ...ends);
  const span = Math.max(...ends) - low || 1;
  const rows = hit.contributions.map((part, at) => step(part, ends[at], ends[at + 1], low, span));
  const idle = rows.filter((_, at) => hit.contributions[at].delta === 0);
  const total = h("tr.sum", null,
    h("th", { scope: "row" }, "score"),
    h("td.flow", null, piece("whole", 0, hit.score, low, span)),
    h("td.number", null, exact(hit.score, format.delta(hit.score).replace("+", "= "), "score-exact")));
  return h("div.waterfall", null,
    h("table", { "aria-label": "Contributions, in order" },
      h("thead.hidden", null, h("tr", null, h("th", null, "From"), h("th", null, "Where"), h("th", null, "Adds"))),
      h("tbody", null, rows.filter((row) => !idle.includes(row)), total)),
    idle.length > 0 && h("details.idle", null,
      h("summary", null, `${format.many(idle.length, "part")} changed nothing here`),
      h("table", null, h("tbody", null, idle))));
}

// Two rows: what was added, and how it was calculated.
function step(part, begin, end, low, span) {
  const loss = part.delta < 0;
  return [
    h("tr", null,
      h("th", { scope: "row", title: part.step }, swatch(part.name, loss), part.name),
      h("td.flow", null, piece(`${colour(part.name)}${loss ? " loss" : ""}`, begin, end, low, span)),
      h("td.number", null, exact(part.delta, format.delta(part.delta), "delta-exact"))),
    h("tr.reckoned", null, h("td", { colspan: 3 }, h("div", null, h("span", null, part.formula), h("data", { value: part.value, title: String(part.value) }, `value ${format.score(part.value)}`)))),
  ];
}

function piece(style, begin, end, low, span) {
  const element = h("span.piece", { class: style });
  element.style.left = `${(100 * (Math.min(begin, end) - low)) / span}%`;
  element.style.width = `${(100 * Math.abs(end - begin)) / span}%`;
  return h("span.piece-track", { "aria-hidden": "true" }, element);
}

// The number as the server sent it, under the number as it is read.
function exact(value, text, style) {
  return h(`data.${style}`, { value: String(value), title: String(value) }, text);
}
