// A part of a page that is sent without a session: the form stays, and a dialog leads to the page to sign in.
document.addEventListener("htmx:responseError", (e) => {
  if (e.detail.xhr.status !== 401 || e.detail.requestConfig.verb !== "post") return;
  const part = new DOMParser().parseFromString(e.detail.xhr.responseText, "text/html").getElementById("signed-out");
  if (!part) return;
  const from = document.activeElement, dialog = document.createElement("dialog");
  const close = part.querySelector("form button");
  part.querySelector("form").replaceWith(close); // the form of the page still has what was typed
  close.type = "button";
  close.addEventListener("click", () => { dialog.close(); dialog.remove(); from?.focus(); });
  dialog.className = "dialog";
  dialog.setAttribute("aria-labelledby", "signed-out-title");
  part.querySelector("h1").id = "signed-out-title";
  part.className = "stack";
  part.removeAttribute("id");
  dialog.append(part);
  document.body.append(dialog);
  dialog.showModal();
});
