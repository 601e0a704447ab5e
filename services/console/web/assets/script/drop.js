// A file that is dropped on a field is as one that was chosen there. One that is too large is not sent.
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (e) => {
    const zone = e.target.closest?.("[data-drop]");
    if (!zone || !e.dataTransfer.types.includes("Files")) return;
    e.preventDefault();
    zone.classList.toggle("over", type === "dragover");
    const field = zone.querySelector("input[type=file]");
    if (type !== "drop" || !e.dataTransfer.files.length) return;
    const files = new DataTransfer();
    for (const file of [...e.dataTransfer.files].slice(0, field.multiple ? undefined : 1)) files.items.add(file);
    field.files = files.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  });
}
document.addEventListener("change", (e) => {
  const most = Number(e.target.dataset?.most);
  if (!most) return;
  const large = [...e.target.files].some((file) => file.size > most);
  e.target.setCustomValidity(large ? e.target.dataset.large : "");
  if (!large) return;
  e.stopImmediatePropagation();
  e.target.reportValidity();
}, true);
