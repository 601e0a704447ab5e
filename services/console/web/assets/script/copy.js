// A button with data-copy copies the text of another element.
document.addEventListener("click", async (e) => {
  const button = e.target.closest("[data-copy]");
  if (!button) return;
  const from = document.getElementById(button.dataset.copy);
  try { await navigator.clipboard.writeText(from.textContent); button.textContent = button.dataset.done; } catch { getSelection().selectAllChildren(from); }
});
