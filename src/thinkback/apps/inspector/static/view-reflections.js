// Reflections: themes, with the memories each was made from.

import * as api from "./api.js";
import { announce, busy, can, empty, failed, skeleton } from "./app.js";
import { fill, h, words } from "./dom.js";
import * as format from "./format.js";
import { memoryCard } from "./hits.js";
import { Walk } from "./list.js";
import { hidePanel, showMemory } from "./panel.js";
import { current, link, patch } from "./state.js";

const MEMBERS_AT_FIRST = 12;

export function create(root) {
  const latest = new api.Latest();
  const head = h("div.head");
  const list = h("div.themes");
  const tail = h("div.tail");
  fill(root, h("h1.view-title", null, "Reflections"), head, list, tail);
  fill(list, skeleton(2));
  const walk = new Walk(list, { onMove: (id) => choose(id), onOpen: (id) => choose(id, true) });
  let count = 0;
  let loaded = false;

  async function update() {
    if (loaded) return;
    loaded = true;
    await page();
  }

  async function page(after) {
    try {
      const found = await latest.run((signal) => busy(() => api.get("/v1/reflections", { limit: 20, after }, signal)));
      if (found) show(found, after);
    } catch (error) {
      loaded = false;
      failed(error);
    }
  }

  function show({ reflections, next, total }, after) {
    if (!after) fill(list);
    list.append(...reflections.map(theme));
    count += reflections.length;
    fill(head, count > 0 && h("p.summary", null, h("strong", null, format.many(total, "reflection")), next && h("span.scope", null, `${format.whole(count)} shown`)));
    fill(tail, !count ? none() : next && h("button.button.wide", { type: "button", onclick: () => page(next) }, "Show more"));
    if (!after) hidePanel();
    walk.set(current().sel);
    announce(`${format.many(total, "reflection")}, ${format.whole(count)} shown`);
  }

  function none() {
    const button = h("button.button.primary", { type: "button", onclick: () => reflect(button) }, "Look for themes now");
    return empty("No reflections yet", "They are written by consolidation, which looks for themes among the memories.", can("write") && button);
  }

  async function reflect(button) {
    button.disabled = true;
    try {
      const { created } = await busy(() => api.post("/v1/reflect"));
      announce(created.length ? `${format.many(created.length, "reflection")} written.` : "No theme was found among the memories.", true);
      await page();
    } catch (error) {
      failed(error);
    }
    button.disabled = false;
  }

  function theme({ memory, members }) {
    const inside = h("ol.cards", { "aria-label": "Made from" });
    const details = h("details.theme", {
      ontoggle: () => details.open && !inside.childElementCount && fillMembers(inside, members),
    },
      h("summary", null, h("h2", null, words(memory.essence ?? format.short(memory.text, 120))), h("span.hint", null, `${format.many(members.length, "memory", "memories")}, ${format.day(format.dateOf(memory))}`)),
      h("div.actions", null, h("a.button", { href: link({ view: "graph", id: memory.id, sel: memory.id }) }, "Graph"), h("button.button", { type: "button", onclick: () => choose(memory.id, true) }, "About it")),
      inside);
    return details;
  }

  async function fillMembers(inside, ids, from = 0) {
    const some = ids.slice(from, from + MEMBERS_AT_FIRST);
    try {
      const memories = await busy(() => Promise.all(some.map((id) => api.get(api.memoryPath(id)).catch(gone))));
      inside.append(...memories.map((memory, at) => h("li", null, memory ? memoryCard(memory, { onOpen: () => choose(memory.id, true) }) : h("p.hint", null, `${some[at]} has been forgotten`))));
      const left = ids.length - from - some.length;
      if (left > 0) {
        const more = h("li", null, h("button.button.wide", { type: "button", onclick: () => { more.remove(); fillMembers(inside, ids, from + some.length); } }, `${left} more`));
        inside.append(more);
      }
      walk.set(current().sel);
    } catch (error) {
      failed(error);
    }
  }

  function choose(id, opened = false) {
    walk.set(id);
    patch({ sel: id });
    showMemory(id, opened);
  }

  return {
    update,
    select: (state) => {
      if (state.sel && state.sel !== walk.current) showMemory(state.sel);
      walk.set(state.sel);
    },
    move: (step) => walk.move(step),
    close: () => latest.cancel(),
  };
}

function gone(error) {
  if (error instanceof api.ApiError && error.status === 404) return null;
  throw error;
}
