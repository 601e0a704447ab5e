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
