// Rows of a table, or pictures, with data-order are put in another order by dragging; buttons do the same without.
let dragged = null;
document.addEventListener("dragstart", (e) => {
  dragged = e.target.closest?.("[data-order] > [data-id]");
  if (dragged) { e.dataTransfer.effectAllowed = "move"; dragged.classList.add("dragged"); }
});
document.addEventListener("dragover", (e) => {
  const over = dragged && e.target.closest("[data-order] > [data-id]");
  if (!over || over.parentElement !== dragged.parentElement) return;
  e.preventDefault();
  const { top, height } = over.getBoundingClientRect();
  const behind = over.matches("tr") ? e.clientY > top + height / 2 : over.compareDocumentPosition(dragged) & Node.DOCUMENT_POSITION_PRECEDING;
  if (over !== dragged) over[behind ? "after" : "before"](dragged);
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
