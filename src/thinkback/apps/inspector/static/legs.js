// The rank of a memory in each leg: a strip with one tick for every memory the leg found, best on the left.

import { h, s } from "./dom.js";
import * as format from "./format.js";
import { swatch } from "./bars.js";

// `said` has the server's sentence for each leg that ran.
export function legStrips(id, runs, said = new Map()) {
  return h("ul.legs", null, runs.map((run) => h("li", null, head(id, run, said.get(run.leg)), run.skipped == null && run.hits.length > 0 && strip(id, run))));
}

function head(id, run, sentence) {
  const rank = run.hits.findIndex((hit) => hit.id === id) + 1;
  return h("p.leg-head", null, h("span.leg-name", null, swatch(run.leg), run.leg), h("span.leg-place", null, sentence ?? place(run, rank)));
}

function place(run, rank) {
  if (run.skipped != null) return [`did not run: ${run.skipped}`];
  if (!rank) return [run.hits.length ? `not among its ${format.whole(run.hits.length)}` : "found nothing"];
  const exact = run.hits[rank - 1].score;
  return [h("strong", null, `#${rank}`), ` of ${format.whole(run.hits.length)}, at `, h("data", { value: exact, title: String(exact) }, format.score(exact))];
}

function strip(id, run) {
  const last = Math.max(1, run.hits.length - 1);
  const best = Math.max(...run.hits.map((hit) => hit.score));
  const worst = Math.min(0, ...run.hits.map((hit) => hit.score));
  const ticks = run.hits.map((hit, at) => {
    const height = best > worst ? 3 + (15 * (hit.score - worst)) / (best - worst) : 18;
    const x = 2 + (196 * at) / last;
    return s("line", { x1: x, x2: x, y1: 20, y2: 20 - height, class: hit.id === id ? "tick here" : "tick" });
  });
  return s("svg.leg-strip", { viewBox: "0 0 200 21", preserveAspectRatio: "none", "aria-hidden": "true" }, ticks);
}
