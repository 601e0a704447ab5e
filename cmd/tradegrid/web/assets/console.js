// The only script that is the console's own: a key for the find field, copying, and dragging rows. Pages work without it.
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
