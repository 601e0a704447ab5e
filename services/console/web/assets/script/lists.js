// A list that changes in place: its address says what it shows, so that fields and tabs follow it.
document.addEventListener("htmx:pushedIntoHistory", () => {
  const field = document.getElementById("f-search");
  if (field && field !== document.activeElement) field.value = new URL(location.href).searchParams.get("search") ?? "";
  for (const view of document.querySelectorAll("#views a")) {
    if (view.href === location.href) view.setAttribute("aria-current", "page"); else view.removeAttribute("aria-current");
  }
});
document.addEventListener("htmx:afterSettle", (e) => {
  if (e.target.id !== "listed") return;
  document.getElementById("said").textContent = document.querySelector("#listed .empty b")?.textContent || document.querySelector("#lead b")?.textContent || "";
  if (document.activeElement === document.body) document.getElementById("add")?.focus({ preventScroll: true });
});
// The form of one filter comes into the menu of filters.
document.addEventListener("click", (e) => {
  const link = e.target.closest?.("a[data-form]");
  if (!link || e.ctrlKey || e.metaKey) return;
  e.preventDefault();
  e.stopPropagation();
  const pop = document.getElementById("adds");
  htmx.ajax("GET", link.href, { target: "#" + link.dataset.form, select: ".one", swap: "innerHTML" }).then(() => { if (!pop.matches(":popover-open")) pop.showPopover(); pop.querySelector("input:not([type=hidden]), select")?.focus(); });
}, true);
// The commands of a row are asked for when its menu is opened.
let opener = null;
document.addEventListener("click", (e) => {
  const link = e.target.closest?.("a[data-menu]"), pop = document.getElementById("row-menu");
  if (!link || e.ctrlKey || e.metaKey) return;
  e.preventDefault();
  opener = link;
  htmx.ajax("GET", link.href, { target: pop, select: "#commands", swap: "innerHTML" }).then(() => { if (!pop.matches(":popover-open")) pop.showPopover(); pop.querySelector("a, button")?.focus(); });
});
// What opens beside a button stands below it, inside of the window.
document.addEventListener("beforetoggle", (e) => {
  if (e.newState !== "open" || !e.target.matches?.(".pop")) return;
  const button = e.target.id === "row-menu" ? opener : document.querySelector(`[popovertarget="${e.target.id}"]`);
  if (!button) return;
  const at = button.getBoundingClientRect(), style = e.target.style, up = at.bottom > innerHeight * .6;
  style.top = up ? "auto" : `${at.bottom + 6}px`;
  style.bottom = up ? `${innerHeight - at.top + 6}px` : "auto";
  style.left = e.target.hasAttribute("data-end") ? "auto" : `${Math.max(8, Math.min(at.left, innerWidth - 348))}px`;
  style.right = e.target.hasAttribute("data-end") ? `${innerWidth - at.right}px` : "auto";
}, true);
document.addEventListener("toggle", (e) => {
  if (!e.target.matches?.(".pop")) return;
  if (e.newState === "open") e.target.querySelector("input:not([type=hidden]), a, button")?.focus();
  else if (e.target.id === "row-menu") opener?.focus({ preventScroll: true });
  else if (e.target.id === "adds") document.getElementById("one").replaceChildren();
}, true);
