// Rows of a list are ticked: with Shift all from the one before, the arrows walk through the boxes, and with Shift they tick on the way.
let lastTick = null;
const ticks = () => [...document.querySelectorAll(".records tbody .tick input")];
const countTicks = () => {
  const said = document.getElementById("ticked");
  if (!said) return;
  const all = document.querySelector(".bulk [name=all]"), n = ticks().filter((box) => box.checked).length;
  for (const box of ticks()) box.disabled = !!all?.checked;
  said.textContent = said.dataset.text.replace("#", all?.checked ? all.dataset.total : n);
};
document.addEventListener("click", (e) => {
  if (!e.target.matches?.(".records tbody .tick input")) return;
  const all = ticks(), [from, to] = [all.indexOf(lastTick), all.indexOf(e.target)].sort((a, b) => a - b);
  if (e.shiftKey && from >= 0) for (const box of all.slice(from, to + 1)) box.checked = e.target.checked;
  lastTick = e.target;
});
document.addEventListener("change", (e) => { if (e.target.closest?.(".tick, .bulk")) setTimeout(countTicks); });
document.addEventListener("reset", (e) => {
  if (e.target.id !== "bulk") return;
  for (const box of document.querySelectorAll("[data-all=id]")) box.checked = false;
  setTimeout(() => { countTicks(); ticks()[0]?.focus({ preventScroll: true }); });
});
document.addEventListener("keydown", (e) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
  if (!step || !e.target.matches?.(".records tbody .tick input")) return;
  const all = ticks(), next = all[all.indexOf(e.target) + step];
  if (!next) return;
  e.preventDefault();
  if (e.shiftKey) { e.target.checked = next.checked = true; lastTick = next; countTicks(); }
  next.focus();
});
// The page that answers a change of many is the list, at its own address.
const shownList = document.querySelector("#listed:has(#outcome)");
if (shownList) { history.replaceState(null, "", shownList.dataset.here); document.getElementById("outcome").focus(); }
