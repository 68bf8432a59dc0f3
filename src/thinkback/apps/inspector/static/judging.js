// Judgements: which memory was an answer to which query. `thinkback tune` learns from them.

import * as api from "./api.js";
import { announce, facts, failed } from "./app.js";
import { current, go, patch } from "./state.js";

let judged = new Map();

const key = (query, id) => `${query}\u0000${id}`;

export async function loadJudgements() {
  const { judgements } = await api.get("/v1/judgements");
  judged = new Map(judgements.map((one) => [key(one.query, one.memory_id), one.grade]));
}

export function judgedOf(query, id) {
  return judged.get(key(query, id)) ?? null;
}

export function mayJudge() {
  return facts.scopes.includes("write");
}

export async function judge(query, memory, grade) {
  if (!mayJudge()) {
    announce("This token may only read, so nothing was judged.", true);
    return;
  }
  try {
    await api.post("/v1/judgements", { query, id: memory.id, grade });
  } catch (error) {
    failed(error);
    return;
  }
  judged.set(key(query, memory.id), grade);
  announce(grade ? `Judged a correct answer${grade > 1 ? `, grade ${grade}` : ""}.` : "Judged not an answer.", true);
  document.dispatchEvent(new CustomEvent("judged", { detail: { query, id: memory.id } }));
}

export function filterByTag(tag) {
  const { tags, view } = current();
  const next = tags.includes(tag) ? tags.filter((one) => one !== tag) : [...tags, tag];
  if (view === "search" || view === "compare" || view === "why") patch({ tags: next, sel: "" });
  else go({ view: "search", tags: next, sel: "" });
}
