// Why a memory is not among the hits, or which rank it has.

import * as api from "./api.js";
import { announce, busy, empty, failed } from "./app.js";
import { fill, h, words } from "./dom.js";
import * as format from "./format.js";
import { memoryCard } from "./hits.js";
import { legStrips } from "./legs.js";
import { Walk } from "./list.js";
import { hidePanel, showPanel } from "./panel.js";
import { go } from "./state.js";
import { recallBody } from "./view-search.js";

const PAUSE = 120;
const OFFERED = 8;
const LIKE_AN_ID = /^(?=\S*\d)\S{8,}$/;

export function create(root) {
  const latest = new api.Latest();
  const offering = new api.Latest();
  const answer = h("section.answer", { "aria-live": "polite" });
  const offers = h("ol.cards.offers", { "aria-label": "Memories to ask about" });
  const input = h("input#why-id", { type: "search", autocomplete: "off", placeholder: "words of the memory, or its id", "aria-label": "The missing memory", maxlength: 500 });
  const form = h("form.pick", { onsubmit: (event) => { event.preventDefault(); take(); } }, h("label", { for: "why-id" }, "Which memory is missing?"), h("div.pick-row", null, input, h("button.button.primary", null, "Ask")));
  fill(root, h("h1.view-title", null, "Why not?"), form, answer, offers);
  const walk = new Walk(offers, { onMove: () => {}, onOpen: (id) => go({ id, sel: "" }) });
  let timer = 0;
  let asked = null;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(offer, PAUSE);
  });

  async function take() {
    const text = input.value.trim();
    const card = offers.querySelector(".card");
    const isId = LIKE_AN_ID.test(text) && (await exists(text));
    if (text) go({ id: isId || !card ? text : card.dataset.id, sel: "" });
  }

  async function offer() {
    const text = input.value.trim();
    try {
      const memories = await offering.run((signal) => candidates(text, signal));
      if (!memories) return;
      fill(offers, memories.map((memory) => h("li", null, memoryCard(memory, { onOpen: () => go({ id: memory.id, sel: "" }) }))));
      walk.set(null);
    } catch (error) {
      failed(error);
    }
  }

  async function update(state) {
    hidePanel();
    if (!state.id) {
      fill(answer, !state.q.trim() && empty("Enter a query above first", "Then choose the memory you expected to find."));
      await offer();
      return;
    }
    if (state.id !== asked) {
      fill(offers);
      input.value = "";
    }
    asked = state.id;
    try {
      const found = await latest.run((signal) => busy(() => explained(state, signal)));
      if (found) show(state, found);
    } catch (error) {
      if (error instanceof api.ApiError && error.status > 401) fill(answer, empty("The explanation failed", error.message));
      else failed(error);
    }
  }

  function show(state, { memory, reason, recall }) {
    const hit = recall.hits.find((one) => one.memory.id === state.id);
    const place = recall.trace.order.indexOf(state.id) + 1;
    fill(answer,
      h("p.asked", null, "For ", h("q", null, h("bdi", null, state.q)), ` with ${recall.recipe}:`),
      memory && h("blockquote.missed", null, words(format.reading(memory), recall.trace.terms)),
      h("p.verdict-line", { class: hit ? "found" : "missing" }, capital(reason.verdict), "."),
      ladder(place, recall),
      h("h2", null, "Rank in each leg"),
      reason.legs.length ? legStrips(state.id, recall.trace.runs, sentences(reason.legs)) : h("p.hint", null, "No leg ran: it cannot be a candidate."),
      h("div.actions", null,
        memory && h("button.button", { type: "button", onclick: () => showPanel({ memory, hit, trace: recall.trace, query: state.q }, true) }, hit ? "See its score" : "See the memory"),
        h("button.button", { type: "button", onclick: () => go({ id: "", sel: "" }) }, "Ask about another")));
    announce(`${reason.verdict}. ${reason.legs.join(". ")}`);
  }

  return {
    update,
    select: () => {},
    move: (step) => walk.move(step),
    close: () => {
      clearTimeout(timer);
      latest.cancel();
      offering.cancel();
    },
  };
}

async function explained(state, signal) {
  const body = recallBody(state);
  const { trace: _, ...question } = body;
  const [memory, reason, recall] = await Promise.all([
    api.get(api.memoryPath(state.id), {}, signal).catch(absent),
    api.post("/v1/why-not", { ...question, id: state.id }, signal),
    api.post("/v1/recall", body, signal),
  ]);
  return { memory, reason, recall };
}

function absent(error) {
  if (error instanceof api.ApiError && error.status === 404) return null;
  throw error;
}

async function exists(id) {
  return (await api.get(api.memoryPath(id)).catch((error) => (error instanceof api.ApiError ? null : Promise.reject(error)))) != null;
}

async function candidates(text, signal) {
  if (!text) return (await api.get("/v1/memories", { limit: OFFERED, everything: true }, signal)).memories;
  const found = await api.post("/v1/recall", { query: text, limit: OFFERED, recipe: "keyword", everything: true, counted: false }, signal);
  return found.hits.map((hit) => hit.memory);
}

// All candidates in a row: the hits, the limit, and the missing memory.
function ladder(place, { hits, trace }) {
  if (!place) return null;
  const steps = trace.order.map((id, at) => h("span.rung", { class: at + 1 === place ? "here" : at < hits.length ? "hit" : "" }));
  return h("figure.ladder", null, h("div.rungs", { "aria-hidden": "true" }, steps),
    h("figcaption", null, `Place ${place} of ${format.many(trace.order.length, "candidate")}; the first ${hits.length} are hits.`));
}

// "vector: rank 3 with 0.2" by its leg.
function sentences(legs) {
  return new Map(legs.map((leg) => [leg.slice(0, leg.indexOf(": ")), leg.slice(leg.indexOf(": ") + 2)]));
}

function capital(text) {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
