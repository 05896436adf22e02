"use strict";
// A link to a folded part opens it.
(() => {
  const open = () => {
    const part = document.getElementById(location.hash.slice(1));
    if (part && part.tagName === "DETAILS") part.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
// Filters of the reader. Without this script every answer is shown and nothing is hidden.
(() => {
  const form = document.getElementById("filters");
  const shown = document.getElementById("shown");
  const cards = [...document.querySelectorAll("#cards > .card")];
  if (!form || !cards.length) return;
  const field = (name) => document.getElementById("f-" + name)?.value || "";
  const first = () => cards.forEach((card, n) => { card.open = n < 3; });
  const words = new Map(cards.map((card) => [card, card.textContent.toLowerCase()]));

  function fits(fact, want) {
    if (want.known && fact.dataset.known !== want.known) return false;
    const forms = want.form ? [want.form] : ["short", "long"];
    return forms.some((name) => {
      const verdict = fact.dataset[name];
      if (verdict === undefined) return false;
      if (want.verdict && verdict !== want.verdict) return false;
      return !want.stance || fact.dataset[name + "Stance"] === want.stance;
    });
  }

  function apply() {
    const want = {};
    for (const name of ["text", "domain", "form", "verdict", "known", "stance"]) want[name] = field(name);
    const text = want.text.trim().toLowerCase();
    const active = Object.values(want).some(Boolean);
    let items = 0, facts = 0, all = 0;
    for (const card of cards) {
      let inside = 0;
      for (const fact of card.querySelectorAll(".facts > li")) {
        const ok = !(want.known || want.form || want.verdict || want.stance) || fits(fact, want);
        fact.hidden = !ok;
        inside += ok;
        all += 1;
      }
      const ok = inside > 0 && (!want.domain || card.dataset.domain === want.domain) &&
        (!text || words.get(card).includes(text));
      card.hidden = !ok;
      if (ok) { items += 1; facts += inside; }
      for (const part of card.querySelectorAll(".short-form")) part.hidden = want.form === "long";
      for (const part of card.querySelectorAll(".long-form")) part.hidden = want.form === "short";
    }
    if (active && items <= 10) for (const card of cards) if (!card.hidden) card.open = true;
    shown.textContent = `Showing ${facts} of ${all} facts, in ${items} of ${cards.length} items.`;
  }

  let waiting = 0;
  form.addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(apply, 80); });
  form.addEventListener("reset", () => setTimeout(() => { first(); apply(); }, 0));
  form.addEventListener("submit", (event) => event.preventDefault());
  const open = (state) => () => { for (const card of cards) if (!card.hidden) card.open = state; };
  document.getElementById("f-open").addEventListener("click", open(true));
  document.getElementById("f-close").addEventListener("click", open(false));
  first();
  form.hidden = shown.hidden = false;
  apply();
})();
