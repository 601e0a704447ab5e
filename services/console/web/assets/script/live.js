// #live is read again when the stream of the page says that something has changed; without a stream, every few seconds.
const live = document.getElementById("live");
if (live?.dataset.live) {
  const start = Date.now();
  let source, heard = 0, tried = 0, due = false, reading = false, last = 0;
  const renew = async () => {
    due = true;
    if (reading || Date.now() - last < 2000) return later();
    if (live.querySelector(":popover-open, input:checked, input:focus, textarea:focus, select:focus, .dragged, .htmx-request")) return;
    reading = true;
    due = false;
    try {
      const answer = await fetch(location.href, { headers: { "X-Renews": "1" } });
      if (answer.status === 429 || answer.status === 503) throw answer.status;
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
      if (answer.redirected || !fresh) return location.reload();
      show(fresh);
    } catch { due = true; } // not now; the interval tries again
    reading = false;
    last = Date.now();
  };
  let timer = 0;
  const later = () => { clearTimeout(timer); timer = setTimeout(() => due && renew(), 2000); };
  const show = (fresh) => {
    const open = [...live.querySelectorAll("details")].map((d) => d.open);
    fresh.querySelectorAll("details").forEach((d, i) => { d.open = open[i] ?? d.open; });
    const at = live.contains(document.activeElement) && document.activeElement;
    live.replaceChildren(...fresh.childNodes);
    htmx.process(live);
    if (at) [...live.querySelectorAll(at.tagName)].find((e) => at.id ? e.id === at.id : e.getAttribute("href") === at.getAttribute("href") && e.textContent === at.textContent)?.focus();
    live.dataset.live = fresh.dataset.live ?? "";
    if (!live.dataset.live) close();
  };
  const close = () => { source?.close(); source = undefined; };
  const connect = () => {
    close();
    tried = Date.now();
    source = new EventSource(live.dataset.live);
    source.addEventListener("changed", renew);
    source.addEventListener("beat", () => { heard = Date.now(); });
    source.addEventListener("over", () => location.reload());
  };
  setInterval(() => {
    if (!live.dataset.live || document.hidden) return;
    if (due || Date.now() - (heard || start) > (heard ? 40000 : 5000)) renew();
    if (source?.readyState === EventSource.CLOSED && Date.now() - tried > 60000) connect();
  }, 5000);
  document.addEventListener("visibilitychange", () => {
    if (!live.dataset.live) return;
    if (document.hidden) return close();
    connect();
    renew();
  });
  if (!document.hidden) connect();
}
