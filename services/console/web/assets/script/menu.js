// A menu closes when something else is pressed, and with Escape, which leads back to its button.
document.addEventListener("click", (e) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (!menu.contains(e.target)) menu.open = false;
});
document.addEventListener("keydown", (e) => {
  const menu = e.key === "Escape" && e.target.closest?.("details.menu[open]");
  if (menu && !menu.querySelector(":popover-open")) { menu.open = false; menu.firstElementChild.focus(); }
});
