// A booking of the calendar is moved by dragging it, by its lower edge its end, or with Shift (its end: Alt or Ctrl) and the arrows. It jumps from row to row,
// and what it came to is sent by the form #move, which answers with the calendar; a booking that may not be there is shown where it was, with the reason.
{
  const rowHeight = 15;
  let moving = null, settle = 0;
  const at = (block, row, rows) => {
    for (const name of [...block.classList]) if (/^(at|for|lane)-/.test(name)) block.classList.remove(name);
    block.classList.add(`at-${row}`, `for-${rows}`);
  };
  const rowsOf = (block) => block.parentElement.parentElement.className.match(/for-(\d+)/)[1] - 1;
  const pick = (block) => {
    if (moving && moving.block !== block) send();
    if (!moving) moving = { block, column: block.closest("section"), row: +block.dataset.row, rows: +block.dataset.rows, by: 0, longer: 0 };
    block.classList.add("dragged");
    return moving;
  };
  const place = (m, by, longer, column) => {
    longer = Math.max(longer, 1 - m.rows);
    by = Math.min(Math.max(by, -m.row), rowsOf(m.block) - m.row - m.rows - longer);
    [m.by, m.longer, m.to] = [by, longer, column];
    if (m.block.closest("section") !== column) column.querySelector(".blocks").append(m.block);
    at(m.block, m.row + by, m.rows + longer);
  };
  const send = () => {
    const m = moving;
    moving = null;
    clearTimeout(settle);
    if (!m) return;
    const to = m.to ?? m.column;
    if (!m.by && !m.longer && to === m.column) return m.block.classList.remove("dragged");
    htmx.ajax("POST", m.block.dataset.move, { source: "#move", target: "#live", swap: "innerHTML", select: "#live > *", values: { version: m.block.dataset.version, rows: m.by, longer: m.longer, column: to.dataset.column, to: to.dataset.day } });
  };
  const columnsOf = () => [...document.querySelectorAll(".calendar > section")].filter((c) => c.offsetParent);

  document.addEventListener("pointerdown", (e) => {
    const block = e.target.closest?.(".calendar [data-move]");
    if (!block || e.button || e.pointerType === "touch" || e.shiftKey || e.ctrlKey || e.metaKey) return;
    const end = !!e.target.closest(".edge"), from = { x: e.clientX, y: e.clientY };
    let m = null;
    const move = (e) => {
      if (!m && Math.hypot(e.clientX - from.x, e.clientY - from.y) < 6) return;
      m ??= pick(block);
      const by = Math.round((e.clientY - from.y) / rowHeight);
      const over = !end && columnsOf().find((c) => { const b = c.getBoundingClientRect(); return e.clientX >= b.left && e.clientX < b.right; });
      place(m, end ? 0 : by, end ? by : 0, over || m.column);
    };
    const stop = (e) => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", stop);
      removeEventListener("keydown", cancel, true);
      if (!m) return;
      if (e.type === "keydown") place(m, 0, 0, m.column);
      addEventListener("click", (c) => { c.preventDefault(); c.stopPropagation(); }, { capture: true, once: true });
      setTimeout(send);
    };
    const cancel = (e) => { if (e.key === "Escape") { e.preventDefault(); e.stopPropagation(); stop(e); } };
    addEventListener("pointermove", move);
    addEventListener("pointerup", stop);
    addEventListener("keydown", cancel, true);
  });
  document.addEventListener("dragstart", (e) => { if (e.target.closest?.(".calendar")) e.preventDefault(); }); // links drag by themselves

  // Arrows alone walk over bookings and free times: up and down in a column, left and right to the nearest of the next.
  const walk = (e) => {
    const here = e.target.closest(".blocks > a"), columns = columnsOf();
    const own = here ? here.closest("section") : columns[0];
    const side = { ArrowLeft: -1, ArrowRight: 1 }[e.key] ?? 0;
    const column = side ? columns[columns.indexOf(own) + side] : own;
    const top = (a) => a.getBoundingClientRect().top;
    const all = [...(column?.querySelectorAll(".blocks > a") ?? [])].sort((a, b) => top(a) - top(b));
    if (!all.length) return;
    const next = !here ? all[0] : side ? all.reduce((a, b) => (Math.abs(top(b) - top(here)) < Math.abs(top(a) - top(here)) ? b : a)) : all[all.indexOf(here) + (e.key === "ArrowDown" ? 1 : -1)];
    if (!next) return;
    e.preventDefault();
    next.focus();
  };
  document.addEventListener("keydown", (e) => {
    const panel = document.getElementById("panel");
    if (e.key === "Escape" && panel && !document.querySelector(":popover-open")) return panel.querySelector(".close").click();
    if (!/^Arrow/.test(e.key) || !e.target.closest?.(".calendar")) return;
    const block = e.target.closest("[data-move]"), [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (!e.shiftKey && !e.altKey && !e.ctrlKey) return walk(e);
    if (!block || (!e.shiftKey && dx)) return;
    e.preventDefault();
    const m = pick(block), columns = columnsOf(), to = columns[columns.indexOf(m.to ?? m.column) + dx] ?? m.to ?? m.column;
    if (e.shiftKey) place(m, m.by + dy, m.longer, to); else place(m, m.by, m.longer + dy, to);
    block.focus();
    clearTimeout(settle);
    settle = setTimeout(send, 450);
  });

  // The line of now goes on by itself, by the clock of the server.
  const clocks = new WeakMap();
  const tick = () => {
    for (const svg of document.querySelectorAll("svg[data-now]")) {
      if (!clocks.has(svg)) clocks.set(svg, +svg.dataset.now - Date.now());
      const y = String(Math.floor((Date.now() + clocks.get(svg) - svg.dataset.from) / 60000));
      for (const part of svg.children) for (const name of part.tagName === "line" ? ["y1", "y2"] : ["y"]) part.setAttribute(name, y);
      const text = svg.querySelector("text");
      if (!text) continue;
      const said = text.textContent.match(/^(\d+):(\d+)/), was = svg.dataset.at ?? Math.floor((svg.dataset.now - svg.dataset.from) / 60000);
      const minutes = +said[1] * 60 + +said[2] + (y - was);
      text.textContent = `${String(Math.floor(minutes / 60) % 24).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
      svg.dataset.at = y;
    }
  };
  if (document.querySelector(".calpage")) { setInterval(tick, 10000); document.addEventListener("htmx:afterSettle", tick); tick(); }
}
