// A button with data-print opens the dialog of the browser for printing; a link to #print opens it at once.
document.addEventListener("click", (e) => { if (e.target.closest("[data-print]")) print(); });
addEventListener("load", () => {
  if (location.hash !== "#print" || !document.querySelector("[data-print]")) return;
  history.replaceState(null, "", location.pathname + location.search);
  print();
});
