// One floating note, placed so that it stays on the screen.

import { fill } from "./dom.js";

const MARGIN = 8;
const tip = document.getElementById("tip");

export function showTip(anchor, content) {
  fill(tip, content).hidden = false;
  const place = anchor.getBoundingClientRect();
  const size = tip.getBoundingClientRect();
  const above = place.top - size.height - MARGIN;
  const left = Math.min(Math.max(MARGIN, place.left), document.documentElement.clientWidth - size.width - MARGIN);
  tip.style.left = `${left}px`;
  tip.style.top = `${above >= MARGIN ? above : place.bottom + MARGIN}px`;
}

export function hideTip() {
  tip.hidden = true;
}

window.addEventListener("scroll", hideTip, { passive: true });
document.addEventListener("keydown", (event) => event.key === "Escape" && hideTip());
