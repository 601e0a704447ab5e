// In a field that looks for something, the arrows choose what was found, Enter takes it, and Escape leaves it.
document.addEventListener("keydown", (e) => {
  if (e.target.getAttribute?.("role") !== "combobox") return;
  const found = document.getElementById(e.target.getAttribute("aria-controls"));
  const hits = [...found.querySelectorAll("[role=option]")];
  const at = hits.findIndex((hit) => hit.getAttribute("aria-selected") === "true");
  if (e.key === "Escape" && found.children.length) { e.preventDefault(); e.target.value = ""; closeFound(e.target); pick(e.target, ""); }
  if (!hits.length) return;
  const all = (found.dataset.for ?? found.firstElementChild?.dataset.for) === e.target.value.trim().replace(/\s+/g, " ");
  if (e.key === "Enter" && all && (at >= 0 || !("suggest" in e.target.dataset))) { e.preventDefault(); hits[Math.max(at, 0)].click(); }
  if (e.key !== "ArrowDown" && e.key !== "ArrowUp") return;
  e.preventDefault();
  const next = hits[(e.key === "ArrowDown" ? at + 1 : Math.max(at, 0) + hits.length - 1) % hits.length];
  for (const hit of hits) hit.setAttribute("aria-selected", String(hit === next));
  e.target.setAttribute("aria-activedescendant", next.id);
  next.scrollIntoView({ block: "nearest" });
});
document.addEventListener("htmx:afterSettle", (e) => {
  const found = e.target.closest?.(".found");
  const field = found && document.querySelector(`[role=combobox][aria-controls="${found.id}"]`);
  if (!field) return;
  const chosen = found.querySelector("[role=option][aria-selected=true]");
  field.setAttribute("aria-expanded", String(!!found.querySelector("[role=option]")));
  if (chosen) field.setAttribute("aria-activedescendant", chosen.id); else field.removeAttribute("aria-activedescendant");
  if ("suggest" in field.dataset && !field.parentElement.contains(document.activeElement)) closeFound(field);
});
const closeFound = (field) => {
  document.getElementById(field.getAttribute("aria-controls")).replaceChildren();
  field.setAttribute("aria-expanded", "false");
  field.removeAttribute("aria-activedescendant");
};
// Suggestions go when the field is left. Nobody has asked for them, so that those which cannot be had are not missed.
document.addEventListener("focusout", (e) => {
  const field = e.target.closest?.(".find, .picker")?.querySelector("[data-suggest]");
  if (field && !field.parentElement.contains(e.relatedTarget)) closeFound(field);
});
for (const type of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(type, (e) => { if (e.target.matches?.("[data-suggest]")) { e.preventDefault(); closeFound(e.target); } });
}
// A field for the id of a record shows its name. What was typed and not chosen is no record.
const pick = (field, id) => {
  const sent = field.closest(".picker")?.querySelector("[name]");
  if (!sent) return;
  field.setCustomValidity(id || !field.value.trim() ? "" : field.dataset.choose);
  if (sent.value === id) return;
  sent.value = id;
  sent.dispatchEvent(new Event("change", { bubbles: true }));
};
document.addEventListener("input", (e) => { if (e.target.matches?.(".picker [role=combobox]")) pick(e.target, ""); });
document.addEventListener("htmx:configRequest", (e) => { if (e.target.matches?.(".picker [role=combobox]")) e.detail.parameters.q = e.target.value; });
document.addEventListener("click", (e) => {
  const hit = e.target.closest?.(".picker [data-id]");
  if (!hit) return;
  const field = hit.closest(".picker").querySelector("[role=combobox]");
  field.value = hit.dataset.name;
  pick(field, hit.dataset.id);
  closeFound(field);
  field.focus();
});
