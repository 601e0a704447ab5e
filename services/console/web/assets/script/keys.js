// A key leads to the field with it, or presses the button or link with it; letters only outside of fields. Digits outside of fields come from a scanner.
document.addEventListener("keydown", (e) => {
  const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);
  const key = (e.ctrlKey || e.metaKey ? "Control+" : "") + e.key;
  if (e.altKey || (typing && key.length === 1)) return;
  const all = [...document.querySelectorAll("[data-key]")];
  const to = all.findLast((at) => at.dataset.key.split(" ").includes(key)) ?? (/^[0-9]$/.test(key) ? document.querySelector("[data-scan]") : undefined);
  if (!to) return;
  if (to.matches("button, a")) { e.preventDefault(); return to.click(); }
  if (!/^[0-9]$/.test(key)) e.preventDefault(); // a digit goes into the field
  to.focus();
  to.select();
});
