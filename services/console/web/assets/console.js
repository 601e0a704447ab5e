// The only script that is the console's own: a key for the find field, copying, dragging rows, moving cards of a board, and pages that renew themselves. Pages work without it.
"use strict";
document.addEventListener("keydown", (e) => {
  if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
  const find = document.getElementById("find");
  if (find) { e.preventDefault(); find.focus(); find.select(); }
});
document.addEventListener("click", async (e) => {
  const button = e.target.closest("[data-copy]");
  if (!button) return;
  const from = document.getElementById(button.dataset.copy);
  try { await navigator.clipboard.writeText(from.textContent); button.textContent = button.dataset.done; } catch { getSelection().selectAllChildren(from); }
});
// Rows of a table with data-order are put in another order by dragging; buttons do the same without.
let dragged = null;
document.addEventListener("dragstart", (e) => {
  dragged = e.target.closest?.("[data-order] > tr[data-id]");
  if (dragged) { e.dataTransfer.effectAllowed = "move"; dragged.classList.add("dragged"); }
});
document.addEventListener("dragover", (e) => {
  const over = dragged && e.target.closest("[data-order] > tr[data-id]");
  if (!over || over.parentElement !== dragged.parentElement) return;
  e.preventDefault();
  const { top, height } = over.getBoundingClientRect();
  if (over !== dragged) over[e.clientY > top + height / 2 ? "after" : "before"](dragged);
});
document.addEventListener("drop", (e) => { if (dragged) e.preventDefault(); });
document.addEventListener("dragend", () => {
  if (!dragged) return;
  const rows = dragged.parentElement, form = document.getElementById(rows.dataset.order);
  dragged.classList.remove("dragged");
  dragged = null;
  form.elements.order.value = [...rows.children].map((row) => row.dataset.id).join(",");
  form.requestSubmit();
});

// A card of a board is moved by the form in it: dragging it to a column, or Shift with an arrow, chooses the stage and sends the form.
const moveCard = (card, stage) => {
  const form = card.querySelector("form");
  if (!form || form.elements.stage.value === stage) return;
  form.elements.stage.value = stage;
  form.requestSubmit();
};
document.addEventListener("dragstart", (e) => {
  const card = e.target.closest?.(".deal[draggable]");
  if (card) { e.dataTransfer.setData("text/x-card", card.id); e.dataTransfer.effectAllowed = "move"; }
});
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (e) => {
    const column = e.target.closest?.("[data-stage]");
    if (!column || !e.dataTransfer.types.includes("text/x-card")) return;
    column.classList.toggle("over", type === "dragover");
    if (type === "dragleave") return;
    e.preventDefault();
    const card = type === "drop" && document.getElementById(e.dataTransfer.getData("text/x-card"));
    if (card) moveCard(card, column.dataset.stage);
  });
}
document.addEventListener("keydown", (e) => {
  const card = e.shiftKey && /^Arrow(Left|Right)$/.test(e.key) && e.target.closest(".deal");
  if (!card) return;
  const columns = [...document.querySelectorAll("[data-stage]")];
  const next = columns[columns.indexOf(card.closest("[data-stage]")) + (e.key === "ArrowRight" ? 1 : -1)];
  if (next) { e.preventDefault(); moveCard(card, next.dataset.stage); }
});
// A form that is refused is shown again, with what is wrong.
document.addEventListener("htmx:beforeSwap", (e) => { if (e.detail.xhr.status === 422) { e.detail.shouldSwap = true; e.detail.isError = false; } });

// A box with data-all ticks those of its form.
document.addEventListener("change", (e) => {
  if (!e.target.matches("[data-all]")) return;
  for (const box of document.querySelectorAll(`input[type=checkbox][name="${e.target.dataset.all}"]`)) box.checked = e.target.checked;
});

// #live is read again when the stream of the page says that something has changed; without a stream, every few seconds.
const live = document.getElementById("live");
if (live?.dataset.live) {
  const start = Date.now();
  let source, heard = 0, tried = 0, due = false, reading = false, last = 0;
  const renew = async () => {
    due = true;
    if (reading || Date.now() - last < 2000) return later();
    if (live.querySelector(":popover-open, input:checked, input:focus, textarea:focus, select:focus")) return;
    reading = true;
    due = false;
    try {
      const answer = await fetch(location.href, { headers: { "X-Renews": "1" } });
      if (answer.status === 429 || answer.status === 503) throw answer.status;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
      if (answer.redirected || !fresh) return location.reload();
      show(fresh);
    } catch { due = true; } // not now; the interval tries again
    reading = false;
    last = Date.now();
  };
  let timer = 0;
  const later = () => { clearTimeout(timer); timer = setTimeout(() => due && renew(), 2000); };
  const show = (fresh) => {
    const open = [...live.querySelectorAll("details")].map((d) => d.open);
    fresh.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? d.open; });
    const at = live.contains(document.activeElement) && document.activeElement;
    live.replaceChildren(...fresh.childNodes);
    if (at) [...live.querySelectorAll(at.tagName)].find((e) => at.id ? e.id === at.id : e.getAttribute("href") === at.getAttribute("href") && e.textContent === at.textContent)?.focus();
    live.dataset.live = fresh.dataset.live ?? "";
    if (!live.dataset.live) close();
  };
  const close = () => { source?.close(); source = undefined; };
  const connect = () => {
    close();
    tried = Date.now();
    source = new EventSource(live.dataset.live);
    source.addEventListener("changed", renew);
    source.addEventListener("beat", () => { heard = Date.now(); });
    source.addEventListener("over", () => location.reload());
  };
  setInterval(() => {
    if (!live.dataset.live || document.hidden) return;
    if (due || Date.now() - (heard || start) > (heard ? 40000 : 5000)) renew();
    if (source?.readyState === EventSource.CLOSED && Date.now() - tried > 60000) connect();
  }, 5000);
  document.addEventListener("visibilitychange", () => {
    if (!live.dataset.live) return;
    if (document.hidden) return close();
    connect();
    renew();
  });
  if (!document.hidden) connect();
}
