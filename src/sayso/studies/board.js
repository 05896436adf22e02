// The table in the order of what systems cost, a search, and names and intervals of what is picked.
(() => {
  const table = document.getElementById("systems");
  const form = document.getElementById("controls");
  if (!table || !form) return;
  const body = table.tBodies[0], rows = [...body.rows];
  const cost = document.getElementById("cost"), price = document.getElementById("price");
  const search = document.getElementById("search"), shown = document.getElementById("shown");
  const dots = new Map(rows.map((row) => [row, [...document.querySelectorAll(`.dot[data-system="${row.dataset.system}"]`)]]));
  const words = new Map(rows.map((row) => [row, row.cells[0].textContent.toLowerCase()]));
  const picked = new Set();

  function costs(row, times) {
    if (row.dataset.without === "" || row.dataset.with === "") return null;
    return (times * (1 - row.dataset.without) + Number(row.dataset.with)) / (times + 1);
  }

  function reorder() {
    const times = 2 ** (cost.value / 10);
    const of = new Map(rows.map((row) => [row, costs(row, times)]));
    const last = (value) => (value === null ? Infinity : value);
    const order = [...rows].sort((a, b) => last(of.get(a)) - last(of.get(b)) || a.dataset.system - b.dataset.system);
    for (const row of order) {
      const value = of.get(row);
      row.querySelector(".price").textContent = value === null ? "–" : value.toFixed(3).replace(/^0/, "");
    }
    const active = document.activeElement;
    body.append(...order);
    if (active && body.contains(active)) active.focus({ preventScroll: true });
    const text = times >= 1 ? `${Number(times.toFixed(1))} missed answers` : `1/${Number((1 / times).toFixed(1))} of a missed answer`;
    price.textContent = times === 1 ? "as much as a missed answer" : text;
    cost.setAttribute("aria-valuetext", price.textContent);
  }

  function find() {
    const want = search.value.trim().toLowerCase();
    let held = 0;
    for (const row of rows) {
      row.hidden = want !== "" && !words.get(row).includes(want);
      held += !row.hidden;
      for (const dot of dots.get(row)) dot.classList.toggle("gone", row.hidden);
    }
    shown.textContent = want ? `${held} of ${rows.length} systems.` : "";
  }

  function show(row, on) {
    for (const dot of dots.get(row)) {
      dot.classList.toggle("on-show", on || picked.has(row));
      if (on) dot.parentNode.append(dot);
    }
  }

  function pick(row) {
    if (!picked.delete(row)) picked.add(row);
    row.querySelector(".pick").setAttribute("aria-pressed", picked.has(row));
    show(row, picked.has(row));
  }

  for (const row of rows) {
    const button = row.querySelector(".pick");
    button.addEventListener("click", () => pick(row));
    button.addEventListener("focus", () => show(row, true));
    button.addEventListener("blur", () => show(row, false));
    row.addEventListener("mouseenter", () => show(row, true));
    row.addEventListener("mouseleave", () => show(row, false));
    for (const dot of dots.get(row)) dot.addEventListener("click", () => pick(row));
  }
  cost.addEventListener("input", reorder);
  search.addEventListener("input", find);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    for (const row of [...picked]) pick(row);
    reorder();
    find();
  }, 0));
  for (const cell of table.querySelectorAll(".price")) cell.hidden = false;
  form.hidden = shown.hidden = false;
  reorder();
})();
