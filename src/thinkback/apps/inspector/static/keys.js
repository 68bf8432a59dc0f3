// Keyboard shortcuts and their help page.

import { fill, h } from "./dom.js";
import { closePanel } from "./panel.js";
import { VIEWS, go } from "./state.js";

const KEYS = [
  ["/", "search"], ["j  k  ↓  ↑", "next and previous"], ["Enter", "open: why it is here"], ["Escape", "close, back to the list"],
  ["y", "a right answer"], ["n", "not an answer"], ["2  3", "a better, a perfect answer"], ["x", "to the other column, when comparing"],
  ["g", "graph around the memory"], ["t", "timeline of its thread"], ["w", "why is a memory not here?"], ["c", "compare recipes"],
  ["a", "add a memory"], ["e", "edit the chosen memory"], ["1 … 9 with Alt", "the views, from left to right"], ["?", "this page"],
];
const dialog = document.getElementById("help");
const form = document.getElementById("form");
const input = document.getElementById("q");
const OFF = "thinkback-no-keys";
let off = stored(OFF) === "yes";

export function stored(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(name, value);
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function openHelp() {
  fill(dialog,
    h("div.help-head", null, h("h2#help-title", null, "Keys"), h("form", { method: "dialog" }, h("button.quiet", { autofocus: true }, "Close"))),
    h("dl.keys", null, KEYS.map(([keys, text]) => [h("dt", null, keys.split("  ").map((key) => h("kbd", null, key))), h("dd", null, text)])),
    h("label.check", null, h("input", { type: "checkbox", checked: !off, onchange: (event) => { off = !event.target.checked; stored(OFF, off ? "yes" : "no"); } }), "single-letter keys"),
    h("p.hint", null, "The address contains the view: copy it to share the view with someone who may see this memory."));
  dialog.showModal();
}

// `view` gives the view on screen, `chosen` the memory it is about.
export function listen(view, chosen) {
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !dialog.open && !form.open) return leave(event);
    if (event.altKey && !event.ctrlKey && !event.metaKey && /^Digit[1-9]$/.test(event.code)) {
      event.preventDefault();
      return go({ view: VIEWS[Number(event.code.at(-1)) - 1] });
    }
    if (off || dialog.open || form.open || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
    const action = actions(view(), chosen())[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") {
      event.preventDefault();
      view()?.move(0);
    }
  });
}

function actions(view, memory) {
  return {
    "/": () => input.select() || input.focus(),
    "?": openHelp,
    j: () => view?.move(1),
    k: () => view?.move(-1),
    y: () => view?.judge?.(1),
    n: () => view?.judge?.(0),
    2: () => view?.judge?.(2),
    3: () => view?.judge?.(3),
    x: () => view?.across?.(),
    g: () => memory && go({ view: "graph", id: memory, sel: memory }),
    t: () => document.querySelector('.panel:not([hidden]) [aria-keyshortcuts="t"]')?.click(),
    a: () => document.querySelector("#add:not([hidden])")?.click(),
    e: () => document.querySelector(".panel:not([hidden]) .deeds button")?.click(),
    w: () => go({ view: "why", id: "", sel: "" }),
    c: () => go({ view: "compare" }),
  };
}

function leave(event) {
  if (event.target.closest?.(".panel")) closePanel();
  else if (event.target === input) document.querySelector(".card.current")?.focus() ?? input.blur();
  else if (document.querySelector(".panel.open")) closePanel();
}

function typing(element) {
  return element.matches("input:not([type=checkbox]), textarea, select") || element.isContentEditable;
}

