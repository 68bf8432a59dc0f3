// Upkeep: import a file, find themes, tidy, audit, undo; each shows what it would do before it does it.

import * as api from "./api.js";
import { announce, busy, can, empty, failed } from "./app.js";
import { administration } from "./admin.js";
import { fill, h, icon } from "./dom.js";
import { addMemory } from "./editing.js";
import * as format from "./format.js";
import { tell } from "./forms.js";
import { hidePanel } from "./panel.js";
import { go } from "./state.js";

const MOST_SHOWN = 50;
const PREVIEWED = 3;

export function create(root) {
  const body = h("div.health");
  const journal = h("div.journal");
  fill(root, h("h1.view-title", null, "Keep"), body);
  const sections = [
    can("write") && part("Add", h("p.hint", null, "One memory at a time, or a whole file."), h("button.button.primary", { type: "button", onclick: addMemory }, "Add a memory"), dropping()),
    can("write") && part("Reflect", ...planned({ about: "Looks for themes among the memories, promotes what is well confirmed, and links nearest neighbours.", path: "/v1/reflect", preview: "Preview themes", apply: "Write reflections", shown: themes, after: reload })),
    can("write") && part("Tidy", ...planned({ about: "Archives what has expired, counts confirmations, lets confidence decay, adjusts tiers and priorities.", path: "/v1/tidy", preview: "Preview changes", apply: "Make the changes", shown: tidied, after: reload })),
    can("admin") && part("Audit", ...auditing()),
    part("Journal", h("p.hint", null, "What was done to many memories at once, newest first. A batch can be undone while nothing later rests on it."), journal),
  ];

  async function reload() {
    try {
      const { batches } = await busy(() => api.get("/v1/journal"));
      fill(journal, batches.length ? h("ul.batches", null, batches.map((one) => batch(one, reload))) : h("p.hint", null, "Nothing yet."));
    } catch (error) {
      failed(error);
    }
  }

  async function update() {
    hidePanel();
    fill(body, sections, can("admin") && administration());
    if (!can("write")) body.prepend(empty("This token may only read", "Adding, tidying and forgetting need other scopes."));
    await reload();
  }

  return { update, select: () => {}, move: () => {}, close: () => {} };
}

function part(title, ...content) {
  return h("section.health-part", { "aria-label": title }, h("h2", null, title), content);
}

// A button that shows the plan, and then one that carries it out.
function planned({ about, path, preview, apply, shown, after }) {
  const box = h("div.plan", { "aria-live": "polite" });
  const run = async (button, dry) => {
    button.disabled = true;
    try {
      const done = await busy(() => api.post(path, { dry_run: dry }));
      const [sentence, rows, count] = shown(done);
      fill(box, h("p", null, sentence), rows, dry && count > 0 && h("button.button.primary", { type: "button", onclick: (event) => run(event.currentTarget, false) }, apply), !dry && done.batch && undoing(done.batch, after));
      announce(sentence);
      if (!dry) {
        tell();
        after();
      }
    } catch (error) {
      failed(error);
    }
    button.disabled = false;
  };
  return [h("p.hint", null, about), h("button.button", { type: "button", onclick: (event) => run(event.currentTarget, true) }, preview), box];
}

function themes(done) {
  const fresh = new Set([...done.created, ...done.refreshed]);
  const rows = [...done.themes].sort((one, other) => other.members.length - one.members.length);
  const sentence = `${done.dry_run ? "Would write" : "Wrote"} ${format.many(done.created.length, "reflection")}, ${done.dry_run ? "refresh" : "refreshed"} ${done.refreshed.length}, ${done.dry_run ? "remove" : "removed"} ${done.removed.length}; ${done.dry_run ? "promote" : "promoted"} ${done.promoted.length}, ${done.dry_run ? "link" : "linked"} ${done.linked}.`;
  const list = rows.length > 0 && h("ul.rows", null, rows.slice(0, MOST_SHOWN).map((theme) => h("li", null, h("b", null, format.whole(theme.members.length)), h("bdi", null, theme.keywords.join(", ")), fresh.has(theme.id) && h("span.hint", null, "new"))));
  return [sentence, [list, rows.length > MOST_SHOWN && h("p.hint", null, `and ${rows.length - MOST_SHOWN} more`)], done.created.length + done.refreshed.length + done.removed.length + done.promoted.length + done.linked];
}

function tidied(done) {
  const { actions } = done;
  const sentence = actions.length ? `${format.many(actions.length, "change")} ${done.dry_run ? "to make" : "made"}.` : "Nothing to do.";
  return [sentence, [actions.length > 0 && h("ul.rows", null, actions.slice(0, MOST_SHOWN).map(action)), actions.length > MOST_SHOWN && h("p.hint", null, `and ${actions.length - MOST_SHOWN} more`)], actions.length];
}

function action(one) {
  const after = Object.entries(one.after ?? {}).map(([name, value]) => `${name} ${value}`).join(", ");
  return h("li", null, h("b", null, one.action), h("button.link", { type: "button", onclick: () => go({ view: "search", q: "", sel: one.id }) }, h("code", null, one.id)), h("span.hint", null, after), one.why && h("span.hint", null, one.why));
}

function undoing(batch, after) {
  return h("button.button", {
    type: "button",
    onclick: async (event) => {
      event.currentTarget.disabled = true;
      await undo(batch, after);
    },
  }, "Undo");
}

async function undo(batch, after) {
  try {
    const done = await busy(() => api.post("/v1/undo", { batch }));
    announce(`Undone: ${format.many(done.undone.length, "change")}${Object.keys(done.skipped).length ? `, ${Object.keys(done.skipped).length} left alone` : ""}.`, true);
    tell();
    after();
  } catch (error) {
    failed(error);
  }
}

// A batch of the journal: its actions are what an undo would take back.
function batch(one, after) {
  const box = h("div");
  return h("li.batch", null,
    h("details", {
      ontoggle: async (event) => {
        if (!event.target.open || box.childElementCount) return;
        try {
          const { entries } = await api.get("/v1/journal/entries", { batch: one.batch });
          fill(box, h("ul.rows", null, entries.slice(0, MOST_SHOWN).map(action)), entries.length > MOST_SHOWN && h("p.hint", null, `and ${entries.length - MOST_SHOWN} more`));
        } catch (error) {
          failed(error);
        }
      },
    }, h("summary", null, h("b", null, one.what.join(", ")), ` ${format.many(one.actions, "change")}, ${format.minute(one.at)}`), box),
    can("write") && (one.why_not ? h("span.hint", null, one.why_not) : undoing(one.batch, after)));
}

// -- import

function dropping() {
  const box = h("div.plan", { "aria-live": "polite" });
  const input = h("input#import-file", { type: "file", accept: ".jsonl,.ndjson,.json,.txt", hidden: true, onchange: () => input.files[0] && preview(input.files[0], box) });
  const zone = h("label.drop", {
    for: "import-file", tabindex: "0", role: "button",
    onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); input.click(); } },
    ondragover: (event) => { event.preventDefault(); zone.classList.add("over"); },
    ondragleave: () => zone.classList.remove("over"),
    ondrop: (event) => {
      event.preventDefault();
      zone.classList.remove("over");
      if (event.dataTransfer.files[0]) preview(event.dataTransfer.files[0], box);
    },
  }, "Drop a JSON Lines file here, or choose one");
  return [zone, input, box];
}

// What the file holds, before anything is written.
async function preview(file, box) {
  const text = await file.text();
  const lines = text.split("\n").filter((line) => line.trim());
  const read = lines.slice(0, PREVIEWED).map((line) => {
    try {
      const value = JSON.parse(line);
      return value.text ?? value.type ?? line;
    } catch {
      return line;
    }
  });
  const send = h("button.button.primary", { type: "button", onclick: () => bring(text, box, send) }, `Import ${format.many(lines.length, "line")}`);
  fill(box, h("p", null, h("strong", null, h("bdi", null, file.name)), ` ${format.bytes(file.size)}, ${format.many(lines.length, "line")}`),
    h("ul.rows", null, read.map((one) => h("li", null, h("bdi", null, format.short(String(one), 120))))), lines.length > 0 && send);
  announce(`${file.name}: ${format.many(lines.length, "line")}`);
}

async function bring(text, box, button) {
  button.disabled = true;
  try {
    const { imported } = await busy(() => api.upload("/v1/import", text));
    const counts = Object.entries(imported).filter(([, value]) => typeof value === "number" && value > 0).map(([name, value]) => `${name.replaceAll("_", " ")} ${value}`);
    fill(box, h("p.good", null, icon("yes"), ` Imported: ${counts.join(", ") || "nothing new"}`), imported.warnings.length > 0 && h("ul.warnings", null, imported.warnings.map((one) => h("li", null, h("bdi", null, one)))));
    announce("Imported.", true);
    tell();
  } catch (error) {
    fill(box, h("p.form-problem", { role: "alert" }, error.message));
    if (error.status === 401 || error.status === 0) failed(error);
  }
}

// -- audit

function auditing() {
  const box = h("div.plan", { "aria-live": "polite" });
  const run = async (button) => {
    button.disabled = true;
    try {
      fill(box, found(await busy(() => api.post("/v1/audit")), () => run(button)));
    } catch (error) {
      failed(error);
    }
    button.disabled = false;
  };
  return [h("p.hint", null, "Looks for duplicates, stale facts, memories never recalled, likely secrets and orphans; it changes nothing."), h("button.button", { type: "button", onclick: (event) => run(event.currentTarget) }, "Audit now"), box];
}

function found(report, again) {
  const groups = [
    ["likely secrets", report.secrets.map((one) => [one.id, one.what])],
    ["duplicates", report.duplicates.map((ids) => [ids[0], format.many(ids.length, "copy", "copies")])],
    ["stale", report.stale.map((one) => [one.id, one.what])],
    ["orphans", report.orphans.map((one) => [one.id, one.what])],
    ["never recalled", report.never_recalled.map((id) => [id, ""])],
  ];
  announce(groups.map(([name, rows]) => `${rows.length} ${name}`).join(", "));
  return groups.map(([name, rows]) => h("details.theme", { open: name === "likely secrets" && rows.length > 0 },
    h("summary", null, h("h2", null, `${name}: ${format.whole(rows.length)}`)),
    h("ul.rows", null, rows.slice(0, MOST_SHOWN).map(([id, what]) => h("li", null, h("button.link", { type: "button", onclick: () => go({ view: "search", q: "", sel: id }) }, h("code", null, id)), h("span.hint", null, what)))),
    name === "likely secrets" && rows.length > 0 && can("delete") && h("button.button.danger", { type: "button", onclick: (event) => redact(event.currentTarget, rows, again) }, "Redact them in every version")));
}

async function redact(button, rows, again) {
  button.disabled = true;
  try {
    const done = await busy(() => api.post("/v1/redact", { ids: [...new Set(rows.map(([id]) => id))] }));
    announce(`Redacted ${format.many(done.ids?.length ?? rows.length, "memory", "memories")}.`, true);
    tell();
    again();
  } catch (error) {
    failed(error);
  }
}
