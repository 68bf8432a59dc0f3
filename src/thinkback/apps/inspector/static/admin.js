// Tokens and spaces, for an admin.

import * as api from "./api.js";
import { announce, busy, facts, failed } from "./app.js";
import { fill, h } from "./dom.js";
import { field, listed, openForm } from "./forms.js";
import { go } from "./state.js";

const SCOPES = ["read", "write", "delete", "admin"];

export function administration() {
  const tokens = h("div", { "aria-live": "polite" });
  const spaces = h("div");
  const reload = async () => {
    try {
      const [held, { spaces: names }] = await busy(() => Promise.all([api.get("/v1/tokens").catch(notAll), api.get("/v1/spaces")]));
      fill(tokens, held ? h("ul.rows", null, held.tokens.map((one) => row(one, reload))) : h("p.hint", null, "Only a token that reaches every space may manage tokens."));
      if (held) tokens.append(h("button.button", { type: "button", onclick: () => make(reload) }, "Make a token"));
      fill(spaces, h("ul.rows", null, names.map((name) => space(name, reload))));
    } catch (error) {
      failed(error);
    }
  };
  reload();
  return [
    h("section.health-part", { "aria-label": "Tokens" }, h("h2", null, "Tokens"), h("p.hint", null, "Who may do what over HTTP. A token is shown once and kept as a hash."), tokens),
    h("section.health-part", { "aria-label": "Spaces" }, h("h2", null, "Spaces"), h("p.hint", null, "Each space is a memory of its own; storing a memory in a new one makes it."), spaces, h("button.button", { type: "button", onclick: () => begin() }, "New space")),
  ];
}

function notAll(error) {
  if (error.status === 403) return null;
  throw error;
}

function row(one, after) {
  const own = one.name === facts.token;
  return h("li", null, h("b", null, h("bdi", null, one.name)), h("span.hint", null, `${one.scopes.join(", ")} in ${one.spaces.join(", ")}`),
    own ? h("span.hint", null, "this session") : h("button.button.danger", { type: "button", "aria-label": `Revoke ${one.name}`, onclick: () => revoke(one, after) }, "Revoke"));
}

function make(after) {
  openForm({ title: "Make a token", action: "Make it" }, [
    field("Name", h("input", { name: "name", required: true, maxlength: 100, autocomplete: "off" })),
    h("fieldset.group", null, h("legend", null, "May"), SCOPES.map((scope) => h("label.check", null, h("input", { type: "checkbox", name: `may-${scope}`, checked: scope === "read" }), scope))),
    field("Spaces", h("input", { name: "spaces", value: "default", required: true, autocomplete: "off" }), "separated by commas; * is all of them"),
  ], async (given) => {
    const made = await api.post("/v1/tokens", { name: given.name, scopes: SCOPES.filter((scope) => given[`may-${scope}`]), spaces: listed(given.spaces) });
    after();
    announce("Made a token.");
    return [h("p", null, "Copy it now; it is not shown again."), h("pre.secret", null, made.token)];
  });
}

function revoke(one, after) {
  openForm({ title: `Revoke ${one.name}?`, action: "Revoke", danger: true }, h("p.hint", null, "Programs that use it are refused at once."), async () => {
    await api.del(`/v1/tokens/${encodeURIComponent(one.name)}`);
    announce(`Revoked ${one.name}.`, true);
    after();
  });
}

function space(name, after) {
  return h("li", null, h("button.link", { type: "button", onclick: () => go({ space: name, sel: "", id: "", thread: "" }) }, name),
    name !== "default" && h("button.button.danger", { type: "button", "aria-label": `Delete the space ${name}`, onclick: () => drop(name, after) }, "Delete"));
}

function begin() {
  openForm({ title: "New space", action: "Go there" }, field("Name", h("input", { name: "name", required: true, maxlength: 63, pattern: "[a-z0-9_\\-]+", autocomplete: "off" }), "a-z, 0-9, - and _; the first memory stored there makes it"), async (given) => {
    go({ view: "search", space: given.name, sel: "", id: "", thread: "", q: "" });
  });
}

function drop(name, after) {
  openForm({ title: `Delete the space ${name}?`, action: "Delete for good", danger: true }, [
    h("p.hint", null, "All its memories are removed. This cannot be undone."),
    field(`Type ${name} to confirm`, h("input", { name: "typed", autocomplete: "off", required: true })),
  ], async (given) => {
    if (given.typed !== name) throw new api.ApiError(422, "not_confirmed", `Type ${name} to confirm.`);
    await api.del(`/v1/spaces/${encodeURIComponent(name)}`);
    announce(`Deleted the space ${name}.`, true);
    after();
  });
}
