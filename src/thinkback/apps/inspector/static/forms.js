// Dialogs that change something: one at a time, closed by Escape, sent by Enter.

import { busy, failed } from "./app.js";
import { fill, h } from "./dom.js";

const dialog = document.getElementById("form");

// `work` gets the values of the fields by name; what it returns is shown instead of them, and nothing closes the dialog.
export function openForm({ title, action = "Save", danger = false, done = title }, fields, work) {
  const problem = h("p.form-problem", { role: "alert", hidden: true });
  const send = h("button.button", { type: "submit", class: danger ? "danger" : "primary" }, action);
  const form = h("form.form", {
    onsubmit: async (event) => {
      event.preventDefault();
      send.disabled = true;
      problem.hidden = true;
      try {
        const shown = await busy(() => work(Object.fromEntries(new FormData(form)), form));
        if (shown) finished(done, shown);
        else dialog.close();
      } catch (error) {
        if (!(error.status >= 400) || error.status === 401) {
          dialog.close();
          failed(error);
        }
        problem.textContent = error.message;
        problem.hidden = false;
      }
      send.disabled = false;
    },
  }, fields, problem, h("div.form-actions", null, send, closing("Cancel")));
  fill(dialog, head(title), form);
  dialog.showModal();
  form.querySelector("textarea, input, select")?.focus();
}

function finished(title, shown) {
  fill(dialog, head(title), h("div.form", null, shown, h("div.form-actions", null, closing("Done"))));
  dialog.querySelector("button")?.focus();
}

function head(title) {
  return h("h2#form-title", null, title);
}

function closing(text) {
  return h("button.button", { type: "button", onclick: () => dialog.close() }, text);
}

export function field(label, control, hint) {
  return h("label.field.tall", null, h("span", null, label), control, hint && h("small.hint", null, hint));
}

// Words between commas.
export function listed(text) {
  return text.split(",").map((word) => word.trim()).filter(Boolean);
}

// Everything that changes memories says so, and the view on screen follows.
export function tell() {
  document.dispatchEvent(new CustomEvent("memories-changed"));
}
