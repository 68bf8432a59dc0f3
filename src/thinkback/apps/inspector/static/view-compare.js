// Two recipes on one question, side by side, with a line for every memory that both have.

import * as api from "./api.js";
import { announce, busy, empty, facts, failed } from "./app.js";
import { extent, legend, stacked } from "./bars.js";
import { fill, h, s, words } from "./dom.js";
import { recipeSelect } from "./filters.js";
import * as format from "./format.js";
import { judge } from "./judging.js";
import { Walk } from "./list.js";
import { hidePanel, showPanel } from "./panel.js";
import { current, go, patch } from "./state.js";
import { recallBody } from "./view-search.js";

const OTHER = "keyword";

export function create(root) {
  const latest = new api.Latest();
  const head = h("div.head");
  const columns = [h("ol.column", { "aria-label": "Left hits" }), h("ol.column", { "aria-label": "Right hits" })];
  const lines = s("svg.lines", { "aria-hidden": "true" });
  const selects = h("div.versus");
  const board = h("div.board", null, columns[0], lines, columns[1]);
  const tail = h("div.tail");
  fill(root, h("h1.view-title", null, "Compare recipes"), selects, head, board, tail);
  let found = null;
  const walks = columns.map((column, side) => new Walk(column, { onMove: (id) => choose(side, id), onOpen: (id) => choose(side, id, true) }));
  let side = 0;
  const resized = new ResizeObserver(() => found && draw());
  resized.observe(board);

  async function update(state) {
    const names = sides(state);
    fill(selects,
      h("label", null, h("span.hidden", null, "Left recipe"), recipeSelect("recipe-a", "Left recipe", names[0], (a) => patch({ a, sel: "" }))),
      h("button.tool", { type: "button", "aria-label": "Swap the recipes", onclick: () => patch({ a: names[1], b: names[0], sel: "" }) }, "⇄"),
      h("label", null, h("span.hidden", null, "Right recipe"), recipeSelect("recipe-b", "Right recipe", names[1], (b) => patch({ b, sel: "" }))));
    if (!state.q.trim()) return clear(empty("Enter a query above", "Both recipes answer, and lines show which hits moved."));
    board.classList.add("stale");
    try {
      const answers = await latest.run((signal) => busy(() => Promise.all(names.map((name) => api.post("/v1/recall", recallBody(state, name), signal)))));
      if (answers) show(state, answers, names);
    } catch (error) {
      board.classList.remove("stale");
      if (error instanceof api.ApiError && error.status > 401) clear(empty("The search failed", error.message));
      else failed(error);
    }
  }

  function clear(message) {
    found = null;
    fill(head);
    fill(lines);
    columns.forEach((column) => fill(column));
    fill(tail, message);
    hidePanel();
  }

  function show(state, answers, names) {
    found = answers;
    board.classList.remove("stale");
    const moves = compared(answers);
    fill(head, verdictOn(moves), legend(answers.flatMap((answer) => answer.hits)), answers.map((answer) =>
      answer.warnings.length > 0 && h("ul.warnings", null, answer.warnings.map((warning) => h("li", null, `${answer.recipe}: ${warning}`)))));
    fill(tail, !moves.shared && !answers[0].hits.length && !answers[1].hits.length && empty("Nothing found", "Neither recipe finds anything."));
    answers.forEach((answer, at) => {
      columns[at].setAttribute("aria-label", names[at]);
      const scale = extent(answer.hits);
      fill(columns[at], answer.hits.map((hit) => h("li", null, row(hit, scale, answers, at, () => choose(at, hit.memory.id, true)))));
      walks[at].set(state.sel);
    });
    draw();
    if (state.sel) reveal();
    else hidePanel();
    announce(`${names[0]} and ${names[1]} share ${moves.shared} of their hits; ${moves.moved} of those moved`);
  }

  function draw() {
    const frame = lines.getBoundingClientRect();
    lines.setAttribute("viewBox", `0 0 ${Math.max(1, frame.width)} ${Math.max(1, frame.height)}`);
    const middles = columns.map((column) => new Map([...column.querySelectorAll(".card")].map((card) => {
      const box = card.getBoundingClientRect();
      return [card.dataset.id, box.top + box.height / 2 - frame.top];
    })));
    const ranks = found.map((answer) => new Map(answer.hits.map((hit) => [hit.memory.id, hit.rank])));
    fill(lines, [...middles[0]].filter(([id]) => middles[1].has(id)).map(([id, y]) => {
      const way = Math.sign(ranks[0].get(id) - ranks[1].get(id));
      const bend = frame.width / 2;
      return s("path", {
        d: `M0 ${y} C ${bend} ${y}, ${bend} ${middles[1].get(id)}, ${frame.width} ${middles[1].get(id)}`,
        class: `line ${["down", "same", "up"][way + 1]}${id === current().sel ? " here" : ""}`, "data-id": id,
      });
    }));
  }

  function choose(at, id, opened = false) {
    side = at;
    patch({ sel: id });
    reveal(opened);
  }

  function reveal(opened = false) {
    const { sel, q } = current();
    walks.forEach((walk) => walk.set(sel));
    for (const line of lines.children) line.classList.toggle("here", line.dataset.id === sel);
    const owner = [found?.[side], found?.[1 - side]].find((answer) => answer?.hits.some((hit) => hit.memory.id === sel));
    if (!owner) return;
    const hit = owner.hits.find((one) => one.memory.id === sel);
    showPanel({ memory: hit.memory, hit, trace: owner.trace, query: q }, opened);
  }

  return {
    update,
    select: () => reveal(),
    move: (step) => {
      const at = columns.findIndex((column) => column.contains(document.activeElement));
      walks[Math.max(at, 0)].move(step);
    },
    across: () => {
      const at = columns.findIndex((column) => column.contains(document.activeElement));
      walks[1 - Math.max(at, 0)].move(0);
    },
    judge: (grade) => {
      const hit = found?.flatMap((answer) => answer.hits).find((one) => one.memory.id === current().sel);
      if (hit) judge(current().q, hit.memory, grade);
    },
    close: () => {
      latest.cancel();
      resized.disconnect();
    },
  };
}

function sides(state) {
  const left = state.a || state.recipe || facts.usual;
  const right = state.b || (left === OTHER ? facts.usual : OTHER);
  return [left, right];
}

function compared([left, right]) {
  const there = new Map(right.hits.map((hit) => [hit.memory.id, hit.rank]));
  const shared = left.hits.filter((hit) => there.has(hit.memory.id));
  return { shared: shared.length, moved: shared.filter((hit) => there.get(hit.memory.id) !== hit.rank).length, left: left.hits.length, right: right.hits.length };
}

function verdictOn({ shared, moved, left, right }) {
  return h("p.summary", null, h("strong", null, `${format.whole(shared)} in both`), h("span.scope", null, `${moved} moved`), h("span.scope", null, `${left - shared} only left`), h("span.scope", null, `${right - shared} only right`));
}

function row(hit, scale, answers, at, onOpen) {
  const other = answers[1 - at];
  return h("article.card.compact", {
    tabindex: "-1", "data-id": hit.memory.id, "aria-label": `Hit ${hit.rank}, ${movement(hit, other, at).said}: ${format.short(format.reading(hit.memory), 160)}`,
    onclick: (event) => event.target.closest("button") || onOpen(),
  },
    h("span.rank", { "aria-hidden": "true" }, hit.rank),
    h("div.card-body", null, h("p.card-text", null, words(format.reading(hit.memory), answers[at].trace.terms)),
      h("div.card-score", null, stacked(hit, scale, onOpen), movement(hit, other, at).badge)));
}

// The rank of a hit in the other column: on the left, where it goes; on the right, where it came from.
function movement(hit, other, at) {
  const twin = other.hits.find((one) => one.memory.id === hit.memory.id);
  if (!twin) {
    const place = other.trace.order.indexOf(hit.memory.id) + 1;
    const said = place ? `only here, the other ranks it ${place}` : "only here, the other does not find it";
    return { said, badge: h("span.move.only", { title: said }, place ? `other #${place}` : "only here") };
  }
  const up = at === 0 ? hit.rank - twin.rank : twin.rank - hit.rank;
  const said = up > 0 ? `up ${up}` : up < 0 ? `down ${-up}` : "same place";
  return { said, badge: h("span.move", { class: up > 0 ? "up" : up < 0 ? "down" : "same", title: said }, up > 0 ? `▲ ${up}` : up < 0 ? `▼ ${-up}` : "=") };
}
