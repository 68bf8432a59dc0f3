// The memories around one, drawn.

import * as api from "./api.js";
import { announce, busy, empty, failed } from "./app.js";
import { fill, h, s } from "./dom.js";
import * as format from "./format.js";
import { layout, separate } from "./layout.js";
import { hidePanel, showPanel } from "./panel.js";
import { current, go, link, patch } from "./state.js";

const LABELLED = 18;
const LINE = 22;

export function create(root) {
  const latest = new api.Latest();
  const head = h("div.head");
  const stage = h("div.stage");
  const tail = h("div.tail");
  fill(root, h("h1.view-title", null, "Graph"), head, stage, tail);
  let graph = null;
  let width = 0;
  const resized = new ResizeObserver(() => {
    if (graph && Math.abs(stage.clientWidth - width) > 4) draw();
  });
  resized.observe(stage);

  async function update(state) {
    if (!state.id) return start();
    try {
      const found = await latest.run((signal) => busy(() => api.get(api.memoryPath(state.id, "/graph"), { depth: state.depth || 2, limit: 80, limit_each: 8 }, signal)));
      if (found) show(state, found);
    } catch (error) {
      if (error instanceof api.ApiError && error.status === 404) nothing(empty("No such memory", error.message));
      else failed(error);
    }
  }

  // Without a memory, start with the newest one.
  async function start() {
    try {
      const found = await latest.run((signal) => api.get("/v1/memories", { limit: 1 }, signal));
      if (found?.memories.length) patch({ id: found.memories[0].id });
      else if (found) nothing(empty("This memory is empty", "There is nothing to draw yet."));
    } catch (error) {
      failed(error);
    }
  }

  function nothing(message) {
    graph = null;
    fill(head);
    fill(stage);
    fill(tail, message);
    hidePanel();
  }

  function show(state, found) {
    graph = found;
    const kinds = [...new Set(found.edges.map((edge) => edge.kind))];
    fill(head,
      h("p.summary", null, h("strong", null, format.many(found.nodes.length, "memory", "memories")), ` and ${format.many(found.edges.length, "link")}`, found.truncated && h("span.scope", null, "there are more")),
      h("ul.legend", { "aria-label": "Kinds of links" }, kinds.map((kind) => h("li", null, s("svg.edge-key", { viewBox: "0 0 22 8", width: 22, height: 8, "aria-hidden": "true" }, s("line", { x1: 0, y1: 4, x2: 22, y2: 4, class: `edge ${edgeStyle(kind, kinds)}` })), h("bdi", null, kind)))),
      h("div.steps", { role: "group", "aria-label": "Distance from the centre" }, [1, 2, 3].map((depth) =>
        h("button.chip", { type: "button", "aria-pressed": String(depth === Number(state.depth || 2)), onclick: () => patch({ depth: depth === 2 ? "" : String(depth) }) }, `${depth} ${depth === 1 ? "step" : "steps"}`))));
    draw();
    fill(tail, asList());
    const chosen = found.nodes.find((node) => node.id === state.sel) ?? found.nodes[0];
    showPanel({ memory: chosen });
    announce(`${format.many(found.nodes.length, "memory", "memories")} and ${format.many(found.edges.length, "link")} around ${format.short(format.reading(found.nodes[0]), 80)}`);
  }

  function draw() {
    const focused = stage.contains(document.activeElement) ? document.activeElement.dataset.id : null;
    width = stage.clientWidth;
    const height = Math.max(360, Math.min(640, window.innerHeight - (width < 560 ? 400 : 330)));
    const margin = { x: width < 560 ? 56 : 104, y: 48 };
    const ids = graph.nodes.map((node) => node.id);
    const places = layout(graph.center, ids, graph.edges.map((edge) => ({ from: edge.from_id, to: edge.to_id })));
    const points = ids.map((id) => ({ x: width / 2 + places.get(id).x * (width / 2 - margin.x), y: height / 2 + places.get(id).y * (height / 2 - margin.y) }));
    const apart = Math.min(128, 0.7 * Math.sqrt((width * height) / ids.length));
    const settled = new Map(separate(points, apart, { width, height, margin }).map((point, row) => [ids[row], point]));
    const at = (id) => settled.get(id);
    const kinds = [...new Set(graph.edges.map((edge) => edge.kind))];
    const drawing = s("svg.graph", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "Graph; arrow keys move between memories, Enter chooses, g centres" },
      s("defs", null, s("marker#arrow", { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, s("path.arrow-head", { d: "M0 .5 7 4 0 7.500z" }))),
      graph.edges.map((edge) => drawnEdge(edge, at, kinds, graph.center)),
      graph.nodes.map((node) => drawnNode(node, at(node.id), places.get(node.id))),
      labelled(points, places));
    fill(stage, drawing);
    const tabbable = [...drawing.querySelectorAll(".node")].find((node) => node.dataset.id === (focused ?? current().sel)) ?? drawing.querySelector(".node");
    tabbable?.setAttribute("tabindex", "0");
    highlight(current().sel || graph.center);
    if (focused) tabbable.focus();
  }

  // Each label goes above or below its memory, where it hides fewer dots and labels.
  function labelled(points, places) {
    const taken = points.map(({ x, y }) => ({ x, y, wide: 10, tall: 10 }));
    return graph.nodes.map((node, row) => {
      const { ring, above } = places.get(node.id);
      const lines = folded(format.reading(node));
      const half = { wide: 3.2 * Math.max(...lines.map((line) => line.length)) + 3, tall: 7 * lines.length + 1 };
      // Within the frame: near its edge a label moves inwards instead of being cut.
      const inside = Math.min(Math.max(points[row].x, half.wide + 2), Math.max(half.wide + 2, width - half.wide - 2));
      const box = (up) => ({ x: inside, y: points[row].y + (up ? -1 : 1) * (radiusOf(ring) + 6 + half.tall), ...half });
      const hidden = (up) => taken.filter((other, at) => at !== row && meet(box(up), other)).length;
      const up = hidden(above) <= hidden(!above) ? above : !above;
      taken.push(box(up));
      return drawnLabel(node, lines, box(up));
    });
  }

  // Labels lie above everything and let the pointer through.
  function drawnLabel(memory, lines, { x, y, wide, tall }) {
    const quiet = memory.id !== graph.center && (graph.nodes.length > LABELLED || width < 560);
    return s("g.label", { transform: `translate(${x} ${y})`, "aria-hidden": "true", "data-label": memory.id, class: quiet ? "quiet" : "" },
      s("rect.label-back", { x: -wide, y: -tall, width: 2 * wide, height: 2 * tall, rx: 4 }),
      s("text.node-label", { y: 12 - tall, "text-anchor": "middle" }, lines.map((line, at) => s("tspan", { x: 0, dy: at ? 14 : 0 }, line))));
  }

  function drawnNode(memory, place, { ring }) {
    const text = format.reading(memory);
    const radius = radiusOf(ring);
    return s("g.node", {
      transform: `translate(${place.x} ${place.y})`, tabindex: "-1", role: "button", "data-id": memory.id, class: `ring-${Math.min(ring, 3)}${memory.kind === "reflection" ? " reflection" : ""}`,
      "aria-label": `${format.short(text, 160)}; ${linksOf(memory.id).map((edge) => edge.kind).join(", ") || "no links"}`,
      onclick: () => choose(memory.id, true), ondblclick: () => go({ id: memory.id, sel: memory.id }), onfocus: () => choose(memory.id), onkeydown: key,
      onmouseenter: () => labelOf(memory.id).classList.add("hover"), onmouseleave: () => labelOf(memory.id).classList.remove("hover"),
    }, s("circle.touch", { r: 20 }), s("circle.halo", { r: radius + 6 }), memory.kind === "reflection" ? s("rect.dot", { x: -radius, y: -radius, width: 2 * radius, height: 2 * radius, rx: 3 }) : s("circle.dot", { r: radius }));
  }

  function labelOf(id) {
    return stage.querySelector(`[data-label="${CSS.escape(id)}"]`);
  }

  function linksOf(id) {
    return graph.edges.filter((edge) => edge.from_id === id || edge.to_id === id);
  }

  function key(event) {
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (way) {
      event.preventDefault();
      nearest(event.currentTarget, way)?.focus();
    }
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(event.currentTarget.dataset.id, true);
    }
  }

  function nearest(from, [dx, dy]) {
    const center = (box) => [box.left + box.width / 2, box.top + box.height / 2];
    const [x, y] = center(from.querySelector(".dot").getBoundingClientRect());
    let best = null;
    let least = Infinity;
    for (const node of stage.querySelectorAll(".node")) {
      const [ox, oy] = center(node.querySelector(".dot").getBoundingClientRect());
      const along = (ox - x) * dx + (oy - y) * dy;
      const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
      if (node === from || along <= 1) continue;
      if (along + 2 * aside < least) [best, least] = [node, along + 2 * aside];
    }
    return best;
  }

  function choose(id, opened = false) {
    patch({ sel: id });
    for (const node of stage.querySelectorAll(".node")) node.setAttribute("tabindex", node.dataset.id === id ? "0" : "-1");
    highlight(id);
    const memory = graph.nodes.find((node) => node.id === id);
    if (memory) showPanel({ memory }, opened);
  }

  function highlight(id) {
    const beside = new Set(linksOf(id).flatMap((edge) => [edge.from_id, edge.to_id]));
    for (const node of stage.querySelectorAll(".node")) {
      node.classList.toggle("current", node.dataset.id === id);
      node.classList.toggle("beside", beside.has(node.dataset.id));
      labelOf(node.dataset.id).classList.toggle("current", node.dataset.id === id);
    }
    for (const edge of stage.querySelectorAll(".edge-line")) edge.classList.toggle("here", edge.dataset.from === id || edge.dataset.to === id);
  }

  function asList() {
    const said = new Map(graph.nodes.map((node) => [node.id, format.short(format.reading(node), 70)]));
    return h("details.as-list", null, h("summary", null, "The same as a list"), h("ul", null, graph.edges.map((edge) =>
      h("li", null, h("bdi", null, said.get(edge.from_id)), h("b", null, ` ${edge.kind} `), h("bdi", null, said.get(edge.to_id)), h("span.hint", null, ` ${edge.weight.toFixed(2)}`)))),
      !graph.edges.length && h("p.hint", null, "No links."));
  }

  return {
    update,
    select: (state) => graph && state.sel && choose(state.sel),
    move: (step) => {
      const nodes = [...stage.querySelectorAll(".node")].sort((one, other) => ids(one) - ids(other));
      const at = nodes.indexOf(document.activeElement);
      nodes[at < 0 ? 0 : Math.min(Math.max(at + step, 0), nodes.length - 1)]?.focus();
    },
    close: () => {
      latest.cancel();
      resized.disconnect();
    },
  };

  function ids(node) {
    return graph.nodes.findIndex((one) => one.id === node.dataset.id);
  }
}

function meet(one, other) {
  return Math.abs(one.x - other.x) < one.wide + other.wide && Math.abs(one.y - other.y) < one.tall + other.tall;
}

function radiusOf(ring) {
  return ring === 0 ? 11 : ring === 1 ? 8 : 6;
}

function edgeStyle(kind, kinds) {
  if (kind === "next") return "next";
  return `e${kinds.filter((one) => one !== "next").indexOf(kind) % 5}`;
}

function drawnEdge(edge, at, kinds, center) {
  const from = at(edge.from_id);
  const to = at(edge.to_id);
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const trim = (id) => (id === center ? 15 : 12) / length;
  const start = { x: from.x + (to.x - from.x) * trim(edge.from_id), y: from.y + (to.y - from.y) * trim(edge.from_id) };
  const end = { x: to.x - (to.x - from.x) * trim(edge.to_id), y: to.y - (to.y - from.y) * trim(edge.to_id) };
  const line = s("line.edge-line", {
    x1: start.x, y1: start.y, x2: end.x, y2: end.y, class: `edge ${edgeStyle(edge.kind, kinds)}`, "data-from": edge.from_id, "data-to": edge.to_id,
    "stroke-width": 1 + 1.2 * edge.weight, "marker-end": "url(#arrow)",
  });
  line.append(s("title", null, `${edge.kind}, ${edge.weight.toFixed(2)}`));
  return line;
}

// At most two lines of a label; a word that is too long is cut.
function folded(text) {
  const lines = [""];
  for (const word of format.short(text, 2 * LINE + 4).split(" ")) {
    const last = lines.length - 1;
    if (!lines[last]) lines[last] = format.short(word, LINE);
    else if (`${lines[last]} ${word}`.length <= LINE) lines[last] += ` ${word}`;
    else if (lines.length < 2) lines.push(format.short(word, LINE));
    else {
      if (!lines[last].endsWith("…")) lines[last] += "…";
      break;
    }
  }
  return lines;
}
