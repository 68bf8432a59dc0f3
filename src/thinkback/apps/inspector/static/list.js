// A list for j and k: one card is current, and Tab reaches only its buttons.

export class Walk {
  constructor(root, { onMove, onOpen }) {
    this.root = root;
    this.onMove = onMove;
    this.onOpen = onOpen;
    root.addEventListener("keydown", (event) => this.#key(event));
    root.addEventListener("focusin", (event) => {
      const card = event.target.closest(".card");
      if (card && card === event.target && card.dataset.id !== this.current) this.set(card.dataset.id, true);
    });
  }

  get cards() {
    return [...this.root.querySelectorAll(".card")];
  }

  // The card `id`, or the first one, becomes current.
  set(id, tell = false) {
    const cards = this.cards;
    const chosen = cards.find((card) => card.dataset.id === id) ?? cards[0];
    this.current = chosen?.dataset.id ?? null;
    for (const card of cards) {
      const here = card === chosen;
      card.classList.toggle("current", here);
      card.tabIndex = here ? 0 : -1;
      if (here) card.setAttribute("aria-current", "true");
      else card.removeAttribute("aria-current");
      for (const inner of card.querySelectorAll("button, a")) inner.tabIndex = here ? 0 : -1;
    }
    if (tell && chosen) this.onMove?.(this.current);
  }

  move(step) {
    const cards = this.cards;
    if (!cards.length) return;
    const at = cards.findIndex((card) => card.dataset.id === this.current);
    const inside = this.root.contains(document.activeElement);
    const next = cards[inside ? Math.min(Math.max(at + step, 0), cards.length - 1) : Math.max(at, 0)];
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && event.target.matches(".card, .card *")) {
      event.preventDefault();
      this.move(step);
    }
    if (event.key === "Enter" && event.target.matches(".card")) this.onOpen?.(this.current);
  }
}
