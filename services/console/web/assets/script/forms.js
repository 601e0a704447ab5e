// A form that is refused is shown again, with what is wrong.
document.addEventListener("htmx:beforeSwap", (e) => { if (e.detail.xhr.status === 422) { e.detail.shouldSwap = true; e.detail.isError = false; } });
// It was no page of its own, so that the address stays.
document.addEventListener("htmx:beforeHistoryUpdate", (e) => { if (e.detail.xhr.status === 422) e.detail.history.type = ""; });

// A box with data-all ticks those of its form.
document.addEventListener("change", (e) => {
  if (!e.target.matches("[data-all]")) return;
  for (const box of document.querySelectorAll(`input[type=checkbox][name="${e.target.dataset.all}"]`)) box.checked = e.target.checked;
});

// A list that scrolls by itself stays where it was when its part of the page comes again.
const scrolled = new Map();
document.addEventListener("htmx:beforeSwap", () => { for (const list of document.querySelectorAll("[data-scrolled]")) scrolled.set(list.id, list.scrollTop); });
document.addEventListener("htmx:afterSwap", () => { for (const list of document.querySelectorAll("[data-scrolled]")) list.scrollTop = scrolled.get(list.id) ?? 0; });

// A row of a field is removed by emptying it: an empty one is not sent on. Without a script, people empty it themselves.
const showEmpties = () => { for (const button of document.querySelectorAll("[data-empties]")) button.hidden = false; };
showEmpties();
document.addEventListener("htmx:afterSettle", showEmpties);
document.addEventListener("click", (e) => {
  const button = e.target.closest?.("[data-empties]");
  if (!button) return;
  const number = button.parentElement.querySelector("input");
  number.value = "";
  number.dispatchEvent(new Event("change", { bubbles: true }));
  number.focus();
});
