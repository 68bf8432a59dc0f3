// What all views share: facts about the server, messages, and what happens when something fails.

import * as api from "./api.js";
import { fill, h } from "./dom.js";

export const facts = { scopes: [], token: "", recipes: [], usual: "default", stats: null, tags: [], spaces: [], ready: false };

const live = document.getElementById("live");
const toast = document.getElementById("toast");
const banner = document.getElementById("banner");
const progress = document.getElementById("progress");
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 15_000;
const TOAST_STAYS = 2400;
let toastTimer = 0;
let waiting = 0;
let retryTimer = 0;

// Said to screen readers; with `visibly`, shown for a moment too.
export function announce(message, visibly = false) {
  live.textContent = message;
  if (!visibly) return;
  toast.textContent = message;
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (toast.hidden = true), TOAST_STAYS);
}

// Shows that something is under way, and says when the server is gone.
export async function busy(work) {
  waiting += 1;
  progress.classList.add("on");
  try {
    const value = await work();
    online();
    return value;
  } finally {
    waiting -= 1;
    if (!waiting) progress.classList.remove("on");
  }
}

export function failed(error) {
  if (error.name === "AbortError") return;
  if (!(error instanceof api.Refusal)) throw error;
  if (error.offline) offline();
  else if (error.status === 401) ended();
  else show("warn", error.message);
}

export function show(style, message, ...actions) {
  banner.className = `banner ${style}`;
  fill(banner, h("p", null, message), actions, h("button.quiet", { type: "button", onclick: clear }, "Dismiss")).hidden = false;
}

export function clear() {
  banner.hidden = true;
}

function ended() {
  show("bad", "Your session has ended, or the server was started anew.", h("a.button", { href: "/" }, "Log in again"));
}

function offline(pause = FIRST_PAUSE) {
  if (banner.dataset.offline && pause === FIRST_PAUSE) return;
  banner.dataset.offline = "yes";
  show("bad", "The server does not answer. What you see is from before; trying again by itself.", h("button.quiet", { type: "button", onclick: () => retry(FIRST_PAUSE) }, "Try now"));
  clearTimeout(retryTimer);
  retryTimer = setTimeout(() => retry(Math.min(2 * pause, LONGEST_PAUSE)), pause);
}

async function retry(pause) {
  clearTimeout(retryTimer);
  try {
    await api.get("/health/live");
  } catch {
    offline(pause === FIRST_PAUSE ? FIRST_PAUSE + 1 : pause);
    return;
  }
  online();
  announce("The server answers again.", true);
  document.dispatchEvent(new CustomEvent("again"));
}

function online() {
  if (!banner.dataset.offline) return;
  delete banner.dataset.offline;
  clearTimeout(retryTimer);
  clear();
}

export function can(scope) {
  return facts.scopes.includes(scope);
}

// A place where something would be, and why it is not there.
export function empty(title, text, ...more) {
  return h("div.empty", null, h("h2", null, title), text && h("p", null, text), more);
}

export function skeleton(count = 4) {
  return h("div.skeletons", { "aria-hidden": "true" }, Array.from({ length: count }, () => h("div.skeleton", null, h("span"), h("span"), h("span"))));
}
