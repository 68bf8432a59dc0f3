// A thread in order.

import * as api from "./api.js";
import { announce, busy, empty, failed, skeleton } from "./app.js";
import { fill, h } from "./dom.js";
import * as format from "./format.js";
import { memoryCard } from "./hits.js";
import { Walk } from "./list.js";
import { hidePanel, showPanel } from "./panel.js";
import { current, go, link, patch } from "./state.js";

const LOOKED_AT = 500;

export function create(root) {
  const latest = new api.Latest();
  const picker = h("div.threads");
  const head = h("div.head");
  const line = h("ol.timeline", { "aria-label": "The thread, oldest first" });
  fill(root, h("h1.view-title", null, "Timeline"), picker, head, line);
  let memories = [];
  let shown = null;
  const walk = new Walk(line, { onMove: (id) => choose(id), onOpen: (id) => choose(id, true) });
  pick();

  async function pick() {
    try {
      const { memories: newest } = await api.get("/v1/memories", { limit: LOOKED_AT, everything: true });
      const threads = [...new Set(newest.map((memory) => memory.thread).filter((thread) => thread != null))];
      renderPicker(threads);
      if (!current().thread && !threads.length) fill(head, empty("No threads yet", "Memories stored with a thread are shown here in order."));
    } catch (error) {
      failed(error);
    }
  }

  function renderPicker(threads) {
    const now = current().thread;
    const input = h("input#thread", { type: "search", value: now, autocomplete: "off", placeholder: "thread", "aria-label": "Thread", list: "thread-names", maxlength: 500 });
    fill(picker,
      h("form.pick-row", { onsubmit: (event) => { event.preventDefault(); if (input.value) go({ thread: input.value, sel: "" }); } }, input, h("button.button", null, "Show")),
      h("datalist#thread-names", null, threads.map((thread) => h("option", { value: thread }))),
      h("nav.chips", { "aria-label": "Recent threads" }, threads.slice(0, 24).map((thread) =>
        h("a.chip", { href: link({ thread, sel: "" }), "aria-current": thread === now ? "true" : null, "data-thread": thread }, h("bdi", null, thread)))));
  }

  function mark(thread) {
    for (const chip of picker.querySelectorAll("[data-thread]")) {
      if (chip.dataset.thread === thread) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    }
    const input = picker.querySelector("input");
    if (input) input.value = thread;
  }

  // Reached from a hit without naming its thread: that of the chosen memory.
  async function ofChosen(id) {
    try {
      const memory = await latest.run((signal) => busy(() => api.get(api.memoryPath(id), {}, signal)));
      if (memory?.thread != null) patch({ thread: memory.thread });
      else if (memory) fill(head, empty("This memory has no thread", "Choose a thread to see its memories in order."));
    } catch (error) {
      failed(error);
    }
  }

  async function update(state) {
    mark(state.thread);
    if (!state.thread && state.sel) {
      fill(line);
      hidePanel();
      return ofChosen(state.sel);
    }
    if (!state.thread) {
      fill(line);
      fill(head, h("p.hint", null, "Choose a thread to see its memories in order."));
      hidePanel();
      return;
    }
    if (state.thread !== shown) fill(line, h("li", null, skeleton(3)));
    try {
      const found = await latest.run((signal) => busy(() => api.get("/v1/thread", { thread: state.thread }, signal)));
      if (found) show(state, found);
    } catch (error) {
      failed(error);
    }
  }

  function show(state, found) {
    memories = found.memories;
    shown = state.thread;
    const days = memories.map(format.dateOf);
    fill(head, memories.length ? h("p.summary", null, h("strong", null, h("bdi", null, state.thread)), ` ${format.many(memories.length, "memory", "memories")}`, h("span.scope", null, `${format.day(days[0])} – ${format.day(days.at(-1))}`)) : empty("No such thread", "It may have another name or be in another space."));
    fill(line, memories.map((memory, at) => event(memory, memories[at - 1])));
    walk.set(state.sel);
    if (state.sel && memories.some((memory) => memory.id === state.sel)) {
      reveal(state.sel);
      line.querySelector(".card.current")?.scrollIntoView({ block: "nearest" });
    } else hidePanel();
    announce(`${format.many(memories.length, "memory", "memories")} in ${state.thread}`);
  }

  function event(memory, before) {
    const date = format.dateOf(memory);
    const passed = before && format.gap(format.dateOf(before), date);
    const sameDay = before && format.day(format.dateOf(before)) === format.day(date);
    return h("li.moment", { class: memory.valid_to || memory.archived_at ? "ended" : "" },
      passed && h("span.passed", null, passed),
      h("time.moment-day", { datetime: date, class: sameDay ? "again" : "" }, format.day(date)), memoryCard(memory, { onOpen: () => choose(memory.id, true) }));
  }

  function choose(id, opened = false) {
    walk.set(id);
    patch({ sel: id });
    reveal(id, opened);
  }

  function reveal(id, opened = false) {
    const memory = memories.find((one) => one.id === id);
    if (memory) showPanel({ memory }, opened);
  }

  return {
    update,
    select: (state) => {
      walk.set(state.sel);
      if (state.sel) reveal(state.sel);
    },
    move: (step) => walk.move(step),
    close: () => latest.cancel(),
  };
}
