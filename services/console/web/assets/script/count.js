// Goods are counted by a form with data-scans. What is scanned waits in the browser until the server has it, in the order of the scans, each with a key of its own:
// a scanner is faster than an answer, and neither a reload nor a lost connection loses a scan. The camera reads codes where the browser can.
{
  const form = () => document.querySelector("form[data-scans]");
  const stored = () => { try { return JSON.parse(sessionStorage.getItem(form().dataset.scans)) ?? []; } catch { return []; } };
  const keep = (all) => {
    sessionStorage.setItem(form().dataset.scans, JSON.stringify(all));
    show(all);
  };
  let failed = false;
  const show = (all) => {
    const note = document.querySelector("[data-queue]");
    note.hidden = !failed || !all.length;
    note.textContent = form().dataset.waiting + all.map((s) => s.code).join(", ");
  };
  let busy = false;
  const drain = async () => {
    if (busy || !form()) return;
    busy = true;
    for (let all = stored(); all.length && form(); all = stored()) {
      let status = 0;
      const seen = (e) => { status = e.detail.xhr.status; };
      document.body.addEventListener("htmx:afterRequest", seen, { once: true });
      try { await htmx.ajax("POST", form().getAttribute("action"), { source: "#count", target: "#counted", select: "#counted", swap: "outerHTML", values: all[0] }); } catch { status = 0; }
      document.body.removeEventListener("htmx:afterRequest", seen);
      failed = !status || status >= 500 || status === 429;
      if (failed) { show(all); setTimeout(drain, 3000); break; }
      keep(stored().slice(1));
    }
    busy = false;
  };
  // What waits is sent again without anybody.
  for (const type of ["htmx:responseError", "htmx:sendError"]) document.addEventListener(type, (e) => { if (e.target.id === "count" && [0, 429, 500, 502, 503, 504].includes(e.detail.xhr.status)) e.preventDefault(); });
  const count = (code) => {
    const field = form().elements.code;
    field.value = "";
    if (!code.trim()) return;
    keep([...stored(), { code: code.trim(), mode: form().elements.mode.value, key: crypto.randomUUID?.() ?? String(Math.random()).slice(2) + Date.now() }]);
    navigator.vibrate?.(40);
    drain();
  };
  document.addEventListener("submit", (e) => {
    if (!e.target.matches("form[data-scans]")) return;
    e.preventDefault();
    count(e.target.elements.code.value);
  });

  // The camera looks four times a second; a code is taken once until it is out of sight.
  let stream = null, sight = "";
  const look = async (detector, video) => {
    if (!stream) return;
    const found = await detector.detect(video).catch(() => []);
    const code = found[0]?.rawValue ?? "";
    if (code && code !== sight) count(code);
    sight = code;
    setTimeout(look, 250, detector, video);
  };
  const stop = () => {
    stream?.getTracks().forEach((track) => track.stop());
    stream = null;
    const video = document.querySelector("video.camera");
    if (video) video.hidden = true;
  };
  document.addEventListener("click", async (e) => {
    if (!e.target.closest("[data-camera]")) return;
    if (stream) return stop();
    const video = document.querySelector("video.camera");
    try { stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: "environment" } }); } catch { return unable(); }
    video.srcObject = stream;
    video.hidden = false;
    await video.play();
    look(new BarcodeDetector(), video);
  });
  const unable = () => {
    for (const [name, hidden] of [["[data-camera]", true], ["[data-no-camera]", false]]) document.querySelector(name).hidden = hidden;
  };
  const begin = () => {
    if (!form()) return;
    if ("BarcodeDetector" in window && navigator.mediaDevices) document.querySelector("[data-camera]").hidden = false; else unable();
    show(stored());
  };
  // What was typed or asked has been answered: the next thing is a scan.
  document.addEventListener("htmx:afterSettle", () => { if (form() && document.activeElement === document.body) form().elements.code.focus(); });
  begin();
  drain();
}
