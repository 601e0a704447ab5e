// A menu closes when something else is pressed, and with Escape, which leads back to its button.
document.addEventListener("click", (e) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(e.target)) menu.open = false;
});
// The question of a command takes the focus, on the button that destroys nothing, and is over once the focus has left it. Closing it leads back by itself.
document.addEventListener("toggle", (e) => {
  if (e.newState === "open" && e.target.matches?.(".dialog")) e.target.querySelector("input:not([type=hidden]), textarea, select, button:not(.danger)")?.focus();
}, true);
document.addEventListener("focusout", (e) => {
  const dialog = e.relatedTarget && e.target.closest?.(".dialog:popover-open");
  if (dialog && !dialog.contains(e.relatedTarget)) dialog.hidePopover();
});
document.addEventListener("keydown", (e) => {
  const menu = e.key === "Escape" && e.target.closest?.("details.menu[open]");
  if (menu && !menu.querySelector(":popover-open")) { menu.open = false; menu.firstElementChild.focus(); }
});
