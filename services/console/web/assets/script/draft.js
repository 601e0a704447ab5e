// A new document is kept in this tab until it is made, so that neither a reload nor the end of a session loses it; it is offered when its form is opened again.
{
  const form = () => document.querySelector("form[data-draft]");
  const drafts = () => Object.keys(sessionStorage).filter((key) => key.startsWith("draft "));
  const key = () => "draft " + form().dataset.draft;
  const text = () => new URLSearchParams([...new FormData(form())].filter(([name]) => !["key", "do", "gone"].includes(name))).toString();
  const filled = (kept) => /(^|&)(kind\.0|client|customerName|note)=[^&]/.test(kept);
  let offered = false;
  const keep = () => {
    if (!form() || offered) return;
    if (filled(text())) sessionStorage.setItem(key(), text()); else sessionStorage.removeItem(key());
  };
  const note = () => document.getElementById("draft");
  const done = () => { offered = false; note().hidden = true; };
  // A page that says that something was made has made what was kept.
  if (new URLSearchParams(location.search).get("done") === "records") for (const one of drafts()) if (location.pathname.startsWith(one.split(" ")[1].replace(/new$/, ""))) sessionStorage.removeItem(one);
  if (form()) {
    offered = !!sessionStorage.getItem(key()) && !filled(text());
    note().hidden = !offered;
    document.addEventListener("input", (e) => { if (e.target.form === form()) { if (offered) done(); setTimeout(keep); } });
    document.addEventListener("htmx:afterSettle", keep);
    document.addEventListener("click", async (e) => {
      if (e.target.closest("[data-draft-drop]")) { sessionStorage.removeItem(key()); done(); }
      if (!e.target.closest("[data-draft-take]")) return;
      const values = Object.fromEntries(new URLSearchParams(sessionStorage.getItem(key())));
      done();
      await htmx.ajax("POST", form().getAttribute("action"), { source: note(), target: "#compose", select: "#compose", swap: "outerHTML", values: { ...values, do: "take", key: form().elements.key.value } });
    });
  }
}
