// Who starts a job and goes on working elsewhere is told when it has ended, on whichever page of the company they are. The frame names what was started; it is kept for this tab
// until its end was said, which happens once: the next page does not say it again. Nothing is asked while nothing is kept, while nobody looks, and of jobs that took longer than a working day.
const template = document.getElementById("notice");
if (template) {
  const ask = template.dataset.ask, most = 5, longest = 8 * 3600e3, soon = 1000, seldom = 60000;
  const kept = () => {
    try { return JSON.parse(sessionStorage.getItem(ask)).filter((job) => job.text || Date.now() - job.at < longest); } catch { return []; }
  };
  const keep = (jobs) => {
    try { jobs.length ? sessionStorage.setItem(ask, JSON.stringify(jobs.slice(-most))) : sessionStorage.removeItem(ask); } catch { /* no storage: the page of the job says it */ }
  };
  const forget = (id) => keep(kept().filter((job) => job.id !== id));
  const isHere = (id) => location.pathname.includes(id); // the page of the job says it itself
  let toast, pause = soon, timer = 0, asking = false;
  const show = () => {
    const job = kept().find((job) => job.text && !isHere(job.id));
    if (toast || !job || document.hidden) return;
    forget(job.id);
    toast = template.content.firstElementChild.cloneNode(true);
    const [text, link, close] = toast.children, address = new URL(job.href, location.origin);
    if (address.origin === location.origin) link.href = address.href;
    if (job.bad) toast.setAttribute("role", "alert");
    close.addEventListener("click", () => { toast.remove(); toast = undefined; show(); });
    document.body.append(toast);
    toast.showPopover?.();
    requestAnimationFrame(() => { text.textContent = job.text; }); // it is read out because it changes
  };
  const waiting = () => kept().filter((job) => !job.text && !isHere(job.id));
  const renew = async () => {
    const jobs = waiting();
    if (asking || document.hidden || !jobs.length) return;
    asking = true;
    try {
      const answer = await fetch(ask + "?" + new URLSearchParams(jobs.map((job) => ["id", job.id])), { headers: { "X-Renews": "1" }, redirect: "error" });
      if (answer.ok) {
        const told = new Map((await answer.json()).jobs.map((job) => [job.id, job]));
        keep(kept().filter((job) => told.has(job.id) || !jobs.some((one) => one.id === job.id)).map((job) => ({ ...job, ...told.get(job.id) })));
        show();
      }
    } catch { /* not now; it is asked again later */ }
    asking = false;
    plan();
  };
  const plan = () => {
    clearTimeout(timer);
    if (document.hidden || !waiting().length) return;
    timer = setTimeout(renew, pause);
    pause = Math.min(pause * 1.5, seldom);
  };
  const { started } = template.dataset, here = new URL(location);
  if (started && here.searchParams.get("started") === started) { // not after going back: the entry of the history has it no more
    here.searchParams.delete("started");
    history.replaceState(history.state, "", here);
    keep([...kept().filter((job) => job.id !== started), { id: started, href: here.pathname + here.search, at: Date.now() }]);
  }
  document.addEventListener("visibilitychange", () => { pause = soon; show(); plan(); });
  addEventListener("pagehide", () => { // what the page of a job has said is not said again
    if (!document.querySelector("#live[hx-trigger]")) kept().filter((job) => isHere(job.id)).forEach((job) => forget(job.id));
  });
  show();
  plan();
}
