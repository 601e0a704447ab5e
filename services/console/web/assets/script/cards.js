// A card of a board is moved by dragging it to a column, by Shift with an arrow, with W or L, or from its menu. What is sent answers with the columns that have changed.
{
  const send = (address, values) => htmx.ajax("POST", address, { source: "#said", target: "#said", select: "#said > *", swap: "innerHTML", values });
  const stageOf = (card) => card.closest("[data-stage]");
  let left = null; // the stage that the last card has left
  const moveCard = (card, to) => {
    if (!to || to === stageOf(card)) return;
    if (to.dataset.outcome === "lost") return openMenu(card, true); // it needs a reason
    left = stageOf(card).id;
    send(card.dataset.move, { version: card.dataset.version, stage: to.dataset.stage });
  };
  let lost = false;
  const openMenu = (card, reasons) => {
    lost = reasons;
    card.querySelector("[data-menu]")?.click();
  };
  document.addEventListener("toggle", (e) => {
    if (e.target.id !== "row-menu" || e.newState !== "open" || !lost) return;
    lost = false;
    const reasons = e.target.querySelector(".reasons");
    if (reasons) { reasons.open = true; setTimeout(() => (reasons.querySelector("button") ?? reasons.firstElementChild).focus()); } // behind the focus of the menu
  }, true);
  document.addEventListener("submit", (e) => {
    if (!document.querySelector(".board") || !e.target.closest("#row-menu")) return;
    e.preventDefault();
    left = document.activeElement.closest("[data-stage]")?.id ?? left;
    document.getElementById("row-menu").hidePopover();
    send(e.target.action, Object.fromEntries(new FormData(e.target, e.submitter)));
  });
  // A card that has left the board leaves the focus to the column that it was in.
  document.addEventListener("htmx:afterSettle", (e) => {
    if (e.target.id === "said" && left && document.activeElement === document.body) document.querySelector(`#${left} a`)?.focus();
  });
  document.addEventListener("dragstart", (e) => {
    const card = e.target.closest?.(".deal[draggable]");
    if (card) { e.dataTransfer.setData("text/x-card", card.id); e.dataTransfer.effectAllowed = "move"; }
  });
  for (const type of ["dragover", "dragleave", "drop"]) {
    document.addEventListener(type, (e) => {
      const to = e.target.closest?.("[data-stage]");
      if (!to || !e.dataTransfer.types.includes("text/x-card")) return;
      to.classList.toggle("over", type === "dragover");
      if (type === "dragleave") return;
      e.preventDefault();
      const card = type === "drop" && document.getElementById(e.dataTransfer.getData("text/x-card"));
      if (card) moveCard(card, to);
    });
  }
  const columns = () => [...document.querySelectorAll(".board > [data-stage]")];
  const cardsIn = (column) => [...column.querySelectorAll(".deal")];
  const walk = (card, key) => {
    const column = stageOf(card), at = cardsIn(column).indexOf(card), step = /Right|Down/.test(key) ? 1 : -1;
    if (/Up|Down/.test(key)) return cardsIn(column)[at + step];
    const all = columns();
    for (let i = all.indexOf(column) + step; all[i]; i += step) if (cardsIn(all[i]).length) return cardsIn(all[i])[Math.min(at, cardsIn(all[i]).length - 1)];
  };
  document.addEventListener("keydown", (e) => {
    const card = e.target.closest?.(".deal");
    if (!card || e.ctrlKey || e.metaKey || e.altKey) return;
    const arrow = /^Arrow(Left|Right|Up|Down)$/.test(e.key), all = columns();
    if (arrow && !e.shiftKey) {
      const to = walk(card, e.key)?.querySelector("a");
      if (to) { e.preventDefault(); to.focus(); }
      return;
    }
    if (!card.dataset.move) return;
    if (/^Arrow(Left|Right)$/.test(e.key)) { e.preventDefault(); return moveCard(card, all[all.indexOf(stageOf(card)) + (e.key === "ArrowRight" ? 1 : -1)]); }
    switch (e.key.toLowerCase()) {
      case "w": return moveCard(card, document.querySelector('[data-outcome="won"]'));
      case "l": return openMenu(card, true);
      case "m": return openMenu(card, false);
    }
  });
}
