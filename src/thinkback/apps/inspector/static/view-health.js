// The state of the store: counts, the embedding space, the result of a check, and judgements.

import * as api from "./api.js";
import { announce, busy, can, facts, failed } from "./app.js";
import { fill, h, icon } from "./dom.js";
import * as format from "./format.js";
import { hidePanel } from "./panel.js";
import { link } from "./state.js";

const JUDGEMENTS_SHOWN = 20;

export function create(root) {
  const latest = new api.Latest();
  const body = h("div.health");
  const doctor = h("div", { "aria-live": "polite" });
  fill(root, h("h1.view-title", null, "Health"), body);

  async function update() {
    hidePanel();
    try {
      const found = await latest.run((signal) => busy(() => Promise.all([
        api.get("/v1/stats", {}, signal), api.get("/health/ready", {}, signal).catch(notReady), api.get("/v1/judgements", {}, signal),
      ])));
      if (found) show(found);
    } catch (error) {
      failed(error);
    }
  }

  function show([{ space, stats }, ready, { judgements }]) {
    facts.stats = stats;
    const warnings = worries(stats, ready);
    fill(body,
      h("p.state-line", { class: warnings.length ? "bad" : "good" }, icon(warnings.length ? "why" : "yes"), warnings.length ? format.many(warnings.length, "thing") + " to look at" : "No problems", h("span.hint", null, `space ${space}`)),
      warnings.length > 0 && h("ul.warnings", null, warnings.map((warning) => h("li", null, warning))),
      tiles(stats),
      h("div.two", null, part("Embedder", embedder(stats)), part("Check", checkup())),
      h("div.three", null, part("Kinds", shares(stats.kinds)), part("Tiers", shares(stats.tiers)), part("Priorities", shares(stats.priorities))),
      part(`Judgements (${format.whole(judgements.length)})`, judged(judgements)),
      part("Server", server(stats)));
    announce(warnings.length ? warnings.join(" ") : "No problems");
  }

  function checkup() {
    const button = h("button.button.primary", { type: "button", disabled: !can("admin"), onclick: () => check(button) }, "Check the store now");
    return [h("p.hint", null, can("admin") ? "Compares every index with the text; on a large store it takes a while." : "This needs a token with the scope admin; or run thinkback doctor."), button, doctor];
  }

  async function check(button) {
    button.disabled = true;
    fill(doctor, h("p.hint", null, "Checking…"));
    try {
      const { problems } = await busy(() => api.post("/v1/check"));
      fill(doctor, problems.length ? h("ul.problems", null, problems.map(problem)) : h("p.good", null, icon("yes"), " No problem found"));
      announce(problems.length ? format.many(problems.length, "problem") : "No problem found");
    } catch (error) {
      fill(doctor);
      failed(error);
    }
    button.disabled = false;
  }

  return { update, select: () => {}, move: () => {}, close: () => latest.cancel() };
}

function notReady(error) {
  if (error instanceof api.ApiError && error.status >= 500) return { status: error.message };
  throw error;
}

function worries(stats, ready) {
  const space = stats.embedding_space;
  return [
    ready.status !== "ready" && `The store cannot be searched: ${ready.status}`,
    stats.unembedded > 0 && `${format.many(stats.unembedded, "memory has", "memories have")} no vector and can be found by keyword only; thinkback embed gives ${stats.unembedded === 1 ? "it" : "them"} one.`,
    stats.reembedding_to && `Re-embedding with ${stats.reembedding_to.fingerprint ?? stats.reembedding_to} is in progress.`,
    !space && stats.memories > 0 && "No embeddings: searches use keywords only.",
    stats.engine.log_bytes > 100_000_000 && `The write-ahead log holds ${format.bytes(stats.engine.log_bytes)}.`,
  ].filter(Boolean);
}

function part(title, ...content) {
  return h("section.health-part", null, h("h2", null, title), content);
}

function tiles(stats) {
  const shown = [
    ["memories", stats.memories], ["versions", stats.versions], ["threads", stats.threads], ["tags", stats.tags],
    ["links", stats.edges], ["judgements", stats.judgements], ["archived", stats.archived], ["file", stats.engine.file_bytes == null ? null : format.bytes(stats.engine.file_bytes)],
  ];
  return h("dl.tiles", null, shown.filter(([, value]) => value != null).map(([name, value]) => h("div.tile", null, h("dt", null, name), h("dd", null, typeof value === "number" ? format.whole(value) : value))));
}

function embedder(stats) {
  const space = stats.embedding_space;
  const all = stats.embedded + stats.unembedded;
  const part = h("span.share", { "aria-hidden": "true" });
  part.style.width = `${(100 * stats.embedded) / Math.max(1, all)}%`;
  return [
    space ? h("p", null, h("code", null, space.fingerprint), h("span.hint", null, ` ${format.whole(space.dimensions)} dimensions`)) : h("p.hint", null, "none"),
    h("span.share-track.wide", null, part),
    h("p.hint", null, `${format.whole(stats.embedded)} of ${format.whole(all)} have a vector, ${format.whole(stats.unembedded)} have none`),
  ];
}

function problem({ area, message, ids, repairable }) {
  return h("li", null, h("b", null, area), ` ${message}`, h("span.hint", null, repairable ? " thinkback doctor --repair mends it" : " cannot be mended by itself"), ids.length > 0 && h("code", null, ids.slice(0, 5).join(" ")));
}

function shares(counts) {
  const rows = Object.entries(counts ?? {}).sort((one, other) => other[1] - one[1]);
  const most = Math.max(1, ...rows.map(([, count]) => count));
  return h("ul.shares", null, rows.map(([name, count]) => {
    const bar = h("span.share", { "aria-hidden": "true" });
    bar.style.width = `${(100 * count) / most}%`;
    return h("li", null, h("span", null, name), h("span.share-track", null, bar), h("b", null, format.whole(count)));
  }));
}

function judged(judgements) {
  if (!judgements.length) return h("p.hint", null, "None yet. Press y or n on a hit; thinkback tune learns from them.");
  const newest = [...judgements].sort((one, other) => (one.judged_at < other.judged_at ? 1 : -1)).slice(0, JUDGEMENTS_SHOWN);
  return h("ul.judged", null, newest.map((one) =>
    h("li", null, h("span.judge", { class: one.grade ? "yes on" : "no on", title: `grade ${one.grade}` }, icon(one.grade ? "yes" : "no")),
      h("a", { href: link({ view: "search", q: one.query, sel: one.memory_id }) }, h("bdi", null, one.query)), h("span.hint", null, format.minute(one.judged_at)))));
}

function server(stats) {
  const rows = [["token", facts.token], ["may", facts.scopes.join(", ")], ["recipe", facts.usual], [stats.engine.name, stats.engine.version], ["schema", stats.engine.schema_version], ["store", stats.store_id], ["log", stats.engine.log_bytes == null ? null : format.bytes(stats.engine.log_bytes)]].filter(([, value]) => value != null);
  return h("dl.details", null, rows.map(([name, value]) => [h("dt", null, name), h("dd", null, h("bdi", null, String(value)))]));
}
