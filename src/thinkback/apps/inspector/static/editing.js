// What can be done with one memory: add, edit, link, archive, forget. A token is offered only what its scopes allow.

import * as api from "./api.js";
import { announce, busy, can, facts, failed } from "./app.js";
import { fill, h, icon, words } from "./dom.js";
import * as format from "./format.js";
import { field, listed, openForm, tell } from "./forms.js";
import { patch } from "./state.js";

const KINDS = ["observation", "fact", "event", "preference", "task", "work", "context", "note", "procedure"];
const ID = /^[0-9A-Z]{26}$|^\S+[-_:/]\S+$/i;
const PAUSE = 150;

export function addMemory() {
  openForm({ title: "Add a memory", action: "Remember" }, fields({ text: "", tags: [], kind: "observation" }), async (given) => {
    const made = await api.post("/v1/memories", changes(given, {}));
    announce("Remembered.", true);
    patch({ sel: made.id });
    tell();
  });
}

export function editMemory(memory) {
  openForm({ title: "Edit the memory" }, [fields(memory), h("p.hint", null, "The version before stays in its history.")], async (given) => {
    const changed = changes(given, memory);
    if (Object.keys(changed).length) {
      await api.patch(api.memoryPath(memory.id), changed);
      announce("Changed; the version before is kept.", true);
      tell();
    }
  });
}

function fields(memory) {
  const kinds = KINDS.includes(memory.kind) ? KINDS : [memory.kind, ...KINDS];
  return [
    field("Text", h("textarea", { name: "text", required: true, rows: 4, maxlength: 200_000, dir: "auto" }, memory.text)),
    field("Tags", h("input", { name: "tags", value: memory.tags.join(", "), autocomplete: "off" }), "separated by commas"),
    h("div.form-two", null,
      field("Thread", h("input", { name: "thread", value: memory.thread ?? "", autocomplete: "off", maxlength: 500 })),
      field("Kind", h("select", { name: "kind" }, kinds.map((kind) => h("option", { value: kind, selected: kind === memory.kind }, kind))))),
    h("div.form-two", null,
      field("True from", h("input", { name: "valid_from", type: "date", value: (memory.valid_from ?? "").slice(0, 10) })),
      field("True until", h("input", { name: "valid_to", type: "date", value: (memory.valid_to ?? "").slice(0, 10) }))),
  ];
}

// Only what differs, so that nothing is rewritten that was left alone.
function changes(given, before) {
  const found = {};
  if (given.text !== before.text) found.text = given.text;
  if (listed(given.tags).join("\n") !== (before.tags ?? []).join("\n")) found.tags = listed(given.tags);
  if (given.kind !== (before.kind ?? "observation")) found.kind = given.kind;
  if (given.thread !== (before.thread ?? "")) found.thread = given.thread || null;
  for (const name of ["valid_from", "valid_to"]) {
    if (given[name] !== (before[name] ?? "").slice(0, 10)) found[name] = given[name] || null;
  }
  return found;
}

export function linkMemory(memory) {
  const found = h("div.choices", { role: "radiogroup", "aria-label": "Memories that match" });
  const latest = new api.Latest();
  let timer = 0;
  const seek = h("input", {
    type: "search", autocomplete: "off", placeholder: "some of its words, or its id", "aria-label": "The other memory",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => offer(latest, found, seek.value, memory.id), PAUSE);
    },
  });
  openForm({ title: "Link to another memory", action: "Link" }, [
    field("The other memory", seek), found,
    h("div.form-two", null,
      field("Kind of link", h("input", { name: "kind", value: "related", required: true, maxlength: 100 })),
      field("Weight", h("input", { name: "weight", type: "number", value: "1", min: "0", max: "1", step: "0.05" }))),
  ], async (given) => {
    if (!given.to) throw new api.ApiError(422, "no_memory", "Choose the other memory first.");
    await api.post("/v1/links", { from_id: memory.id, to_id: given.to, kind: given.kind, weight: Number(given.weight) });
    announce("Linked.", true);
    tell();
  });
}

async function offer(latest, box, text, own) {
  if (!text.trim()) return fill(box);
  try {
    const found = await latest.run((signal) => Promise.all([
      api.post("/v1/keywords", { query: text, limit: 6 }, signal), ID.test(text.trim()) ? api.get(api.memoryPath(text.trim()), {}, signal).catch(() => null) : null,
    ]));
    if (!found) return null;
    const memories = [found[1], ...found[0].hits.map((hit) => hit.memory)].filter((one) => one && one.id !== own);
    const rows = memories.map((one, at) => h("label.choice", null, h("input", { type: "radio", name: "to", value: one.id, checked: at === 0 }), words(format.short(format.reading(one), 120))));
    return fill(box, rows.length ? rows : h("p.hint", null, "No memory has these words."));
  } catch (error) {
    return failed(error);
  }
}

export function forgetMemory(memory) {
  openForm({ title: "Forget this memory?", action: "Forget for good", danger: true, done: "Forgotten" }, [
    h("blockquote.missed", null, words(format.short(format.reading(memory), 300))),
    h("p.hint", null, "Every version, vector, link and judgement is removed, and the indexes and files are searched for what is left. This cannot be undone."),
  ], async () => {
    const receipt = await api.post("/v1/forget-verified", { ids: [memory.id] });
    patch({ sel: "" });
    tell();
    announce(receipt.verified ? "Forgotten; nothing is left." : "Forgotten, but not everything could be verified.");
    return receiptOf(receipt);
  });
}

export function receiptOf(receipt) {
  const rows = [...receipt.searches.map((one) => [one.where, one.asked, one.found]), ...receipt.files.map((one) => [one.file, format.bytes(one.bytes), one.traces])];
  return [
    h("p.state-line", { class: receipt.verified ? "good" : "bad" }, icon(receipt.verified ? "yes" : "why"), receipt.verified ? "Nothing is left" : "Not verified"),
    h("div.scroll", { tabindex: "0", role: "region", "aria-label": "Receipt" }, h("table.receipt", null,
      h("thead", null, h("tr", null, ["searched", "asked", "found"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, rows.map((row) => h("tr", null, row.map((cell) => h("td", null, String(cell)))))))),
    receipt.warnings?.length > 0 && h("ul.warnings", null, receipt.warnings.map((warning) => h("li", null, h("bdi", null, String(warning.message ?? warning))))),
  ];
}

async function archive(memory) {
  try {
    await busy(() => api.post(memory.archived_at ? "/v1/restore" : "/v1/archive", { ids: [memory.id] }));
    announce(memory.archived_at ? "Restored." : "Archived: searches leave it out.", true);
    tell();
  } catch (error) {
    failed(error);
  }
}

// The buttons of the panel.
export function deeds(memory) {
  const own = memory.kind !== "reflection";
  const button = (text, work, more = "") => h("button.button", { type: "button", onclick: () => work(memory), class: more }, text);
  const offered = [
    can("write") && own && button("Edit", editMemory),
    can("write") && button("Link", linkMemory),
    can("write") && own && button(memory.archived_at ? "Restore" : "Archive", archive),
    can("delete") && button("Forget", forgetMemory, "danger"),
  ].filter(Boolean);
  return offered.length > 0 && h("div.actions.deeds", { role: "group", "aria-label": "Change this memory" }, offered);
}

export function mayAdd() {
  return can("write") && Boolean(facts.ready || facts.token);
}
