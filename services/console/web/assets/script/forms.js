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
