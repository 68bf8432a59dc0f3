// Builds elements without parsing markup: text only becomes a text node, so a memory cannot inject anything.

const SVG = "http://www.w3.org/2000/svg";

// h("button.quiet", {type: "button", onclick}, "Text", child, …): on… are listeners, null and false leave an attribute out.
export function h(what, attributes, ...children) {
  return build(document.createElement(tagOf(what)), what, attributes, children);
}

export function s(what, attributes, ...children) {
  return build(document.createElementNS(SVG, tagOf(what)), what, attributes, children);
}

export function fill(parent, ...children) {
  parent.replaceChildren(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return parent;
}

function tagOf(what) {
  return what.split(/[.#]/, 1)[0];
}

function build(element, what, attributes, children) {
  for (const [, sign, name] of what.matchAll(/([.#])([^.#]+)/g)) {
    if (sign === "#") element.id = name;
    else element.classList.add(name);
  }
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.classList.add(...value.split(" ").filter(Boolean));
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

// The text of a memory, isolated so that its bidirectional characters do not affect the page.
export function words(text, terms = []) {
  return h("bdi.words", { dir: "auto" }, marked(text, terms));
}

function marked(text, terms) {
  const known = terms.filter((term) => term.length > 1).map((term) => term.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!known.length) return [text];
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(?:${known.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    parts.push(text.slice(end, match.index), h("mark", null, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, text.slice(end)];
}

const ICONS = {
  search: "M8.5 14a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11Zm4-1.5 5 5",
  compare: "M3 5h5M3 10h5M3 15h5M12 5h5M12 10h5M12 15h5M8 5l4 5M8 10l4-5",
  why: "M10 17.5a7.5 7.5 0 1 0 0-15 7.5 7.5 0 0 0 0 15ZM7.8 7.8a2.3 2.3 0 1 1 3.4 2c-.8.5-1.2.9-1.2 1.7M10 14v.1",
  timeline: "M5 3v14M5 6h.1M5 10h.1M5 14.5h.1M9 6h8M9 10h6M9 14.5h7",
  graph: "M10 12.2a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4ZM4 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM16 5.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3ZM10 18a1.3 1.3 0 1 0 0-2.6 1.3 1.3 0 0 0 0 2.6ZM5 5l3.4 3.4M15 5l-3.4 3.4M10 12.2v3.2",
  reflections: "M10 3 3 6.5 10 10l7-3.5L10 3ZM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5",
  tune: "M5 3v6M5 13v4M10 3v2M10 9v8M15 3v8M15 15v2M3 11h4M8 7h4M13 13h4",
  keep: "M3 6h14v11H3zM2 3h16v3H2zM8 10h4",
  health: "M2.5 10.5h3.2L8 5l3.6 10 2.2-4.5h3.7",
  yes: "m4 10.5 4 4 8-9",
  no: "m5 5 10 10M15 5 5 15",
  sun: "M10 13.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1 1M14.7 14.7l1 1M4.3 15.7l1-1M14.7 5.3l1-1",
  moon: "M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7Z",
  auto: "M10 3a7 7 0 1 0 0 14V3ZM10 3a7 7 0 0 1 0 14",
  back: "m12 4-6 6 6 6",
  copy: "M7 7V4.5A1.5 1.5 0 0 1 8.500 3h7A1.5 1.5 0 0 1 17 4.500v7a1.5 1.5 0 0 1-1.500 1.500H13M4.500 7h7A1.500 1.500 0 0 1 13 8.500v7a1.500 1.500 0 0 1-1.500 1.500h-7A1.500 1.500 0 0 1 3 15.500v-7A1.500 1.500 0 0 1 4.500 7Z",
  filter: "M3 5h14M6 10h8M8.5 15h3",
};

export function icon(name) {
  const path = s("path", { d: ICONS[name] });
  return s("svg.icon", { viewBox: "0 0 20 20", width: 18, height: 18, "aria-hidden": "true" }, path);
}
