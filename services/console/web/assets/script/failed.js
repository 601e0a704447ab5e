// A part of a page that cannot be had is said in a toast, with what the console says of it, and is asked for again from there; the form keeps what was typed. What deals with
// failures itself, such as the counter without a connection, prevents the default. What is asked for again by itself, or was not asked for by anybody, fails in silence.
let failedToast = null;
const closeFailed = () => { failedToast?.remove(); failedToast = null; };
const saidOf = (xhr) => {
  const why = new DOMParser().parseFromString(xhr.responseText, "text/html").getElementById("why");
  return why?.textContent.trim() || document.getElementById("failed")?.content.firstElementChild.dataset[xhr.status ? "refused" : "away"].replace("#", xhr.status);
};
const showFailed = ({ xhr, requestConfig: sent, etc, select }) => {
  const template = document.getElementById("failed"), text = template && saidOf(xhr);
  closeFailed();
  if (!text) return;
  failedToast = template.content.firstElementChild.cloneNode(true);
  failedToast.firstElementChild.textContent = text;
  failedToast.of = sent.elt;
  const [again, close] = failedToast.querySelectorAll("button");
  const leave = () => { closeFailed(); if (sent.elt.isConnected) sent.elt.focus?.({ preventScroll: true }); };
  close.addEventListener("click", leave);
  again.addEventListener("click", () => {
    if (!sent.elt.isConnected) return location.reload();
    leave();
    htmx.ajax(sent.verb, sent.path, { source: sent.elt, target: sent.target, swap: etc.swapOverride, select, values: sent.formData }).catch(() => {}); // it is said again
  });
  document.body.append(failedToast);
  failedToast.showPopover?.(); // above other popovers
};
for (const type of ["htmx:responseError", "htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(type, (e) => {
    const { xhr, requestConfig: sent } = e.detail;
    if (xhr.status === 401 && xhr.responseText.includes('id="signed-out"')) return;
    if (/\b(every|load)\b/.test(sent.elt.getAttribute?.("hx-trigger") ?? "")) return;
    setTimeout(() => { if (!e.defaultPrevented) showFailed(e.detail); });
  });
}
document.addEventListener("htmx:afterRequest", (e) => { if (e.detail.successful && e.detail.requestConfig.elt === failedToast?.of) closeFailed(); });
