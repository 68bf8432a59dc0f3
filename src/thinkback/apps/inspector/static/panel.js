// The panel beside the results: one memory, the reason for its rank, and links to other views.

import * as api from "./api.js";
import { announce, failed } from "./app.js";
import { waterfall } from "./bars.js";
import { fill, h, icon, words } from "./dom.js";
import * as format from "./format.js";
import { about, verdict } from "./hits.js";
import { deeds } from "./editing.js";
import { legStrips } from "./legs.js";
import { current, go, link } from "./state.js";

const NARROW = matchMedia("(max-width: 1023px)");
const panel = document.getElementById("panel");
const shell = document.getElementById("shell");
const latest = new api.Latest();
let comeBackTo = null;

// `hit` and `trace` are given when a search found the memory.
export function showPanel({ memory, hit = null, trace = null, query = "" }, opened = false) {
  const close = h("button.tool.panel-close", { type: "button", onclick: closePanel, "aria-label": "Close (Escape)" }, icon("back"));
  fill(panel,
    h("div.panel-head", null, close, h("h2", null, hit ? `Hit ${hit.rank}` : memory.kind === "reflection" ? "Reflection" : "Memory"), query.trim() && verdict(query, memory)),
    h("p.panel-text", null, words(format.reading(memory), trace?.terms)),
    about(memory),
    actions(memory),
    deeds(memory),
    hit && section("Why it is here", waterfall(hit)),
    trace && section("Rank in each leg", legStrips(memory.id, trace.runs)),
    hit?.members.length > 0 && section("Made from", membersOf(hit.members)),
    section("About it", details(memory)),
    history(memory));
  panel.hidden = false;
  shell.classList.add("with-panel");
  if (opened) open();
}

export function hidePanel() {
  latest.cancel();
  closePanel();
  panel.hidden = true;
  shell.classList.remove("with-panel");
}

// By id, for views that have nothing else.
export async function showMemory(id, opened = false) {
  try {
    const memory = await latest.run((signal) => api.get(api.memoryPath(id), {}, signal));
    if (memory) showPanel({ memory, query: current().q }, opened);
  } catch (error) {
    failed(error);
  }
}

function open() {
  comeBackTo = document.activeElement;
  if (NARROW.matches) {
    panel.classList.add("open");
    others(true);
    panel.scrollTop = 0;
  }
  panel.focus({ preventScroll: !NARROW.matches });
}

export function closePanel() {
  const had = panel.contains(document.activeElement);
  panel.classList.remove("open");
  others(false);
  if (had) (comeBackTo?.isConnected ? comeBackTo : document.getElementById("main")).focus();
}

function others(inert) {
  for (const element of document.querySelectorAll(".top, .views, .rail, main")) element.inert = inert;
}

NARROW.addEventListener("change", () => others(false) || panel.classList.remove("open"));

function section(title, ...content) {
  return h("section.panel-part", null, h("h3", null, title), content);
}

function actions(memory) {
  const to = (changes, name, text, key) =>
    h("a.button", { href: link({ ...changes, sel: memory.id }), onclick: closePanel, "aria-keyshortcuts": key }, icon(name), text);
  return h("div.actions", null,
    to({ view: "graph", id: memory.id }, "graph", "Graph", "g"),
    memory.thread != null && to({ view: "timeline", thread: memory.thread }, "timeline", "Timeline", "t"),
    to({ view: "why", id: memory.id }, "why", "Why not?", "w"));
}

function membersOf(ids) {
  return h("ul.members", null, ids.map((id) => h("li", null, h("button.link", { type: "button", onclick: () => go({ sel: id }) }, h("code", null, id)))));
}

function details(memory) {
  const rows = [
    ["Id", [h("code", null, memory.id), copy(memory.id)]],
    ["Kind", memory.kind],
    ["Tier", `${memory.tier}, ${memory.priority}`],
    ["Made", format.minute(memory.created_at)],
    ["Recorded", format.minute(memory.recorded_at)],
    ["True", validity(memory)],
    ["Expires", memory.expires_at && format.minute(memory.expires_at)],
    ["Archived", memory.archived_at && format.minute(memory.archived_at)],
    ["Importance", memory.importance],
    ["Confidence", memory.confidence],
    ["Trust", memory.trust],
    ["Source", memory.source && h("bdi", null, memory.source)],
    ["Vector", memory.embedded ? "yes" : "none, found by keyword only"],
    ["Recalled", memory.access_count ? `${format.many(memory.access_count, "time")}, last ${format.minute(memory.last_access)}` : "never"],
    ["Metadata", Object.keys(memory.metadata).length > 0 && h("pre", null, JSON.stringify(memory.metadata, null, 1))],
  ];
  return h("dl.details", null, rows.filter(([, value]) => value != null && value !== false && value !== "").map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));
}

function validity(memory) {
  const from = memory.valid_from && `from ${format.minute(memory.valid_from)}`;
  const to = memory.valid_to && `until ${format.minute(memory.valid_to)}`;
  return [from, to].filter(Boolean).join(", ") || null;
}

function copy(text) {
  const done = () => announce("Copied.", true);
  return h("button.tool.small", { type: "button", "aria-label": "Copy the id", onclick: () => navigator.clipboard?.writeText(text).then(done, () => {}) }, icon("copy"));
}

// Loaded on demand: most memories have one version.
function history(memory) {
  const box = h("div");
  return h("details.history", {
    ontoggle: async (event) => {
      if (!event.target.open || box.childElementCount) return;
      try {
        const { versions } = await api.get(api.memoryPath(memory.id, "/history"));
        fill(box, h("ol.versions", null, versions.map((version) => h("li", null, h("time", { datetime: version.recorded_at }, format.minute(version.recorded_at)), h("p", null, words(format.reading(version)))))));
      } catch (error) {
        failed(error);
      }
    },
  }, h("summary", null, "All versions"), box);
}
