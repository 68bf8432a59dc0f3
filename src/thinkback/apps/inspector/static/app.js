// Shared by all views: facts about the server, messages, and error handling.

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

// Announced to screen readers; with `visibly`, also shown for a moment.
export function announce(message, visibly = false) {
  live.textContent = message;
  if (!visibly) return;
  toast.textContent = message;
  toast.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => (toast.hidden = true), TOAST_STAYS);
}

// Shows progress, and reports when the server does not answer.
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
  if (!(error instanceof api.ApiError)) throw error;
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
  show("bad", "Your session has ended, or the server was restarted.", h("a.button", { href: "/" }, "Log in again"));
}

function offline(pause = FIRST_PAUSE) {
  if (banner.dataset.offline && pause === FIRST_PAUSE) return;
  banner.dataset.offline = "yes";
  show("bad", "The server does not answer. These results are from before; retrying automatically.", h("button.quiet", { type: "button", onclick: () => retry(FIRST_PAUSE) }, "Try now"));
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

// An empty state, and the reason for it.
export function empty(title, text, ...more) {
  return h("div.empty", null, h("h2", null, title), text && h("p", null, text), more);
}

export function skeleton(count = 4) {
  return h("div.skeletons", { "aria-hidden": "true" }, Array.from({ length: count }, () => h("div.skeleton", null, h("span"), h("span"), h("span"))));
}
