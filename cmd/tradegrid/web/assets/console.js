// The only script that is the console's own: a key for the find field, and copying. Pages work without it.
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
