// The view is kept in the address after #, so that it can be shared, reloaded and gone back to.

const LISTS = ["tags", "kinds", "tiers", "threads"];
const TEXTS = ["q", "recipe", "since", "until", "as_of", "known_at", "limit", "everything", "a", "b", "id", "sel", "thread", "depth", "space"];
export const FILTERS = ["tags", "kinds", "tiers", "threads", "since", "until", "as_of", "known_at", "everything"];
export const VIEWS = ["search", "compare", "why", "timeline", "graph", "reflections", "tune", "keep", "health"];

const listeners = new Set();
let state = read();

export function current() {
  return state;
}

export function changed(listener) {
  listeners.add(listener);
}

// A step the back button undoes.
export function go(changes) {
  apply({ ...state, ...changes }, "pushState");
}

// A step it does not: typing, moving along a list.
export function patch(changes) {
  apply({ ...state, ...changes }, "replaceState");
}

export function link(changes) {
  return write({ ...state, ...changes });
}

// The filters as the API takes them.
export function filters(from = state) {
  const given = {};
  for (const name of FILTERS) {
    if (LISTS.includes(name) ? from[name].length : from[name]) given[name] = from[name];
  }
  if (given.everything) given.everything = true;
  return given;
}

export function noFilters() {
  return Object.fromEntries(FILTERS.map((name) => [name, LISTS.includes(name) ? [] : ""]));
}

function apply(next, how) {
  const address = write(next);
  if (address === write(state)) return;
  history[how](null, "", address);
  take(next);
}

function take(next) {
  const before = state;
  state = next;
  for (const listener of listeners) listener(state, before);
}

function read() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?", 2);
  const parameters = new URLSearchParams(query);
  const found = { view: VIEWS.includes(path) ? path : "search" };
  for (const name of LISTS) found[name] = parameters.getAll(name);
  for (const name of TEXTS) found[name] = parameters.get(name) ?? "";
  return found;
}

function write(from) {
  const parameters = new URLSearchParams();
  for (const name of [...TEXTS, ...LISTS]) {
    for (const value of [from[name]].flat()) if (value) parameters.append(name, String(value));
  }
  return `#/${from.view}${parameters.size ? `?${parameters}` : ""}`;
}

for (const event of ["hashchange", "popstate"]) {
  window.addEventListener(event, () => {
    if (write(read()) !== write(state)) take(read());
  });
}
