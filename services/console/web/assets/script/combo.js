// In a field that looks for something, the arrows choose what was found, Enter takes it, and Escape leaves it.
document.addEventListener("keydown", (e) => {
  if (e.target.getAttribute?.("role") !== "combobox") return;
  const found = document.getElementById(e.target.getAttribute("aria-controls"));
  const hits = [...found.querySelectorAll("[role=option]")];
  const at = hits.findIndex((hit) => hit.getAttribute("aria-selected") === "true");
  if (e.key === "Escape" && found.children.length) { e.preventDefault(); e.target.value = ""; found.replaceChildren(); e.target.setAttribute("aria-expanded", "false"); }
  if (!hits.length) return;
  if (e.key === "Enter" && found.dataset.for === e.target.value.trim()) { e.preventDefault(); hits[Math.max(at, 0)].click(); }
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
  e.preventDefault();
  const next = hits[(at + (e.key === "ArrowDown" ? 1 : hits.length - 1)) % hits.length];
  for (const hit of hits) hit.setAttribute("aria-selected", String(hit === next));
  e.target.setAttribute("aria-activedescendant", next.id);
  next.scrollIntoView({ block: "nearest" });
});
document.addEventListener("htmx:afterSettle", (e) => {
  const field = document.querySelector(`[role=combobox][aria-controls="${e.target.id}"]`);
  if (!field) return;
  const first = e.target.querySelector("[role=option]");
  field.setAttribute("aria-expanded", String(!!first));
  if (first) field.setAttribute("aria-activedescendant", first.id); else field.removeAttribute("aria-activedescendant");
});
