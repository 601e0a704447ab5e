// The counter without a connection: the cart is added up here from the prices that were shown, and each sale is kept in this browser with
// its key and its time until the console has it. A sale is sent until the answer says that it is stored, or why not; its key makes it one.
const unsent = document.getElementById("unsent");
if (unsent) {
  const most = 200, every = 5000, form = () => document.getElementById("till");
  const place = "till:" + new URL(unsent.dataset.sent, location.href).pathname;
  const ahead = Date.parse(form().dataset.now) - Date.now();
  let alone = false, sending = false, goods = [];
  const read = () => { try { return JSON.parse(localStorage.getItem(place)) ?? []; } catch { return []; } };
  const keep = (all) => { localStorage.setItem(place, JSON.stringify(all)); show(); };
  const uuid = () => {
    const b = crypto.getRandomValues(new Uint8Array(16));
    b[6] = (b[6] & 15) | 64;
    b[8] = (b[8] & 63) | 128;
    return [...b].map((n) => n.toString(16).padStart(2, "0")).join("").replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, "$1-$2-$3-$4-$5");
  };
  const now = () => new Date(Date.now() + ahead).toISOString();
  const number = (text) => Number(String(text).replace(",", ".")) || 0;
  const shown = (text) => String(text).replace(".", (1.5).toLocaleString(document.documentElement.lang)[1]);
  const says = (what, shown) => { unsent.querySelector(`[data-says=${what}]`).hidden = !shown; show(); };

  // What waits.
  const show = () => {
    const all = read(), title = document.getElementById("unsent-title").content;
    unsent.querySelector("h2").textContent = title.querySelector(`[data-many=${all.length > 1 ? "some" : all.length ? "one" : "none"}]`).textContent.replace("0", all.length);
    unsent.querySelector("ol").replaceChildren(...all.map((sale) => {
      const item = document.getElementById("unsent-item").content.firstElementChild.cloneNode(true);
      item.dataset.key = sale.key;
      item.querySelector("b").textContent = sale.total;
      item.querySelector(".sub").textContent = new Date(sale.at).toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", timeZone: unsent.dataset.zone }) + " · " + sale.what;
      item.querySelector(".fault").textContent = sale.fault ?? "";
      item.querySelector(".row").hidden = !sale.fault;
      return item;
    }));
    unsent.hidden = !all.length && !alone && !unsent.querySelector("[data-says]:not([hidden])");
  };
  const add = (fields, total, what) => {
    const all = read();
    if (all.length >= most) { says("full", true); return false; }
    keep([...all, { key: fields.get("key"), body: fields.toString(), at: fields.get("soldAt"), total, what }]);
    return true;
  };
  unsent.addEventListener("click", (e) => {
    const key = e.target.closest("li")?.dataset.key;
    if (e.target.dataset.unsent === "drop") keep(read().filter((sale) => sale.key !== key));
    if (e.target.dataset.unsent !== "again") return;
    keep(read().map((sale) => { // a refusal is kept with its key
      if (sale.key !== key) return sale;
      const fields = new URLSearchParams(sale.body), fresh = uuid();
      fields.set("key", fresh);
      return { ...sale, key: fresh, body: fields.toString(), fault: undefined };
    }));
    send();
  });

  // Sending, one after the other.
  const post = async (sale) => {
    const res = await fetch(unsent.dataset.sent, { method: "POST", body: new URLSearchParams(sale.body) });
    says("out", res.redirected);
    if (res.redirected || !res.headers.get("Content-Type")?.startsWith("application/json")) throw res.status;
    return res.json();
  };
  const send = async () => {
    if (sending) return;
    sending = true;
    try {
      let next, sent = 0;
      while ((next = read().find((sale) => !sale.fault))) {
        const { sale, fault } = await post(next);
        keep(read().flatMap((one) => (one.key !== next.key ? [one] : sale ? [] : [{ ...one, fault }])));
        sent++;
      }
      if (alone) await fetch(document.querySelector("link[rel=icon]").href, { cache: "no-store" });
      if (alone || sent) back();
    } catch { /* the next time */ }
    sending = false;
  };
  addEventListener("online", send);
  setInterval(() => { if (alone || read().some((sale) => !sale.fault)) send(); }, every);

  // The cart.
  const cart = () => document.getElementById("cart");
  const sum = () => {
    let minor = 0;
    const digits = Math.max(0, ...[...cart().querySelectorAll("li")].map((li) => (li.dataset.unit.split(".")[1] ?? "").length)), one = 10 ** digits;
    for (const li of cart().querySelectorAll("li")) {
      const value = (name) => li.querySelector(`[name^="${name}."]`).value;
      const all = Math.round(number(value("price") || li.dataset.unit) * number(value("qty")) * one), due = all - Math.round(all * number(value("discount")) / 100);
      li.querySelector(".amount").textContent = shown((due / one).toFixed(digits));
      minor += due;
    }
    const text = shown((minor / one).toFixed(digits));
    for (const at of cart().querySelectorAll("[data-sum]")) at.textContent = text;
    for (const button of cart().querySelectorAll("[data-alone-pay]")) button.disabled = !cart().querySelector("li");
    return text;
  };
  const renumber = () => cart().querySelectorAll("li").forEach((li, i) => {
    for (const at of [li, ...li.querySelectorAll("*")]) {
      for (const name of ["id", "name", "value", "aria-describedby"]) {
        const value = at.getAttribute(name);
        if (value && (name !== "value" || /^(drop|more|less) \d+$/.test(value))) at.setAttribute(name, value.replace(/([.\- ])\d+$/, "$1" + i));
      }
    }
  });
  const put = (button) => {
    const line = new URLSearchParams(button.do.slice(4));
    const same = [...cart().querySelectorAll("li")].find((li) => ["ref", "variant"].every((name) => li.querySelector(`[name^="${name}."]`).value === (line.get(name) ?? "")) && !li.querySelector(`[name^="price."]`).value && line.get("ref"));
    if (same) {
      const qty = same.querySelector(`[name^="qty."]`);
      qty.value = String(number(qty.value) + 1);
      return sum();
    }
    const li = document.getElementById("till-line").content.firstElementChild.cloneNode(true);
    for (const [name, value] of line) li.querySelector(`[name^="${name}."]`).value = value;
    li.querySelector(`[name^="qty."]`).value = "1";
    li.querySelector("summary b").textContent = line.get("name");
    li.querySelector(".sub").textContent = shown(button.unit);
    const emoji = line.get("picture") ?? "";
    li.querySelector(".pic").textContent = emoji && emoji.length < 20 ? emoji : line.get("name").slice(0, 1); // an image has an id, and is not there
    li.dataset.unit = button.unit;
    cart().querySelector("ol").append(li);
    renumber();
    return sum();
  };
  const fresh = (lines, client) => {
    const blank = document.getElementById("till-alone").content.firstElementChild.cloneNode(true);
    blank.querySelector("ol").append(...lines);
    if (client) blank.prepend(client);
    cart().replaceWith(blank);
    sum();
  };
  const leave = () => {
    if (alone) return;
    alone = true;
    const able = "alone" in form().dataset && "sells" in form().dataset;
    says("never", !able);
    if (able) fresh([...cart().querySelectorAll("ol.lines > li")], cart().querySelector("input[name=client]"));
    setTimeout(send, 1000);
  };
  const back = () => {
    alone = false;
    says("never", false);
    says("full", false);
    htmx.ajax("POST", form().action, { source: form(), values: { do: "sum", view: "" }, target: "#till", select: "#till", swap: "outerHTML" });
  };
  const sell = (method) => {
    const fields = new URLSearchParams(new FormData(form()));
    for (const li of cart().querySelectorAll("li")) {
      const price = li.querySelector(`[name^="price."]`);
      if (!price.value) fields.set(price.name, li.dataset.unit);
    }
    for (const name of ["redeem", "points", "discountPercent", "fixedDiscount", "given", "card", "view"]) fields.delete(name);
    fields.set("method", method);
    fields.set("soldAt", now());
    const what = [...cart().querySelectorAll("summary b")].map((b) => b.textContent).join(", ");
    if (add(fields, sum(), what)) again();
  };
  const again = () => {
    form().elements.key.value = uuid();
    form().elements.soldAt.value = "";
    fresh([], undefined);
  };

  // What a button asks the console for is done here while there is no connection.
  const instead = (elt, sent) => {
    const what = elt.name === "do" ? elt.value : "";
    if (!cart()?.querySelector("ol")) return;
    if (what === "take") {
      const due = form().querySelector(".due b").textContent, names = [...cart().querySelectorAll("summary b")].map((b) => b.textContent).join(", ");
      const fields = new URLSearchParams(sent ?? new FormData(form()));
      if (add(fields, due, names)) again();
    } else if (what.startsWith("add ")) {
      if (elt.dataset.unit) put({ do: what, unit: elt.dataset.unit });
    } else if ("scanned" in elt.dataset) {
      const text = form().elements.scan.value.toLowerCase(), found = goods.find((one) => one.codes.toLowerCase().split(" ").includes(text));
      if (found) put(found);
      else Object.assign(form().elements.p, { value: text }).select();
      document.dispatchEvent(new Event("till:scanned"));
    } else if (what.startsWith("drop ")) {
      elt.closest("li").remove();
      renumber();
      sum();
    }
  };
  document.addEventListener("htmx:beforeRequest", (e) => {
    if (!form()?.contains(e.target)) return;
    if (alone) { e.preventDefault(); instead(e.target); }
  });
  for (const type of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
    document.addEventListener(type, (e) => {
      const status = e.detail.xhr?.status ?? 0, path = e.detail.requestConfig?.path ?? "";
      if (!form()?.contains(e.target) || !path.startsWith(new URL(form().action).pathname) || (status !== 0 && status < 502)) return;
      e.preventDefault();
      const taking = e.target.value === "take" ? e.detail.requestConfig.formData : undefined;
      leave();
      instead(e.target, taking);
    });
  }
  addEventListener("offline", () => { if (form()) leave(); });
  document.addEventListener("input", (e) => { if (alone && cart()?.contains(e.target)) sum(); });
  document.addEventListener("click", (e) => {
    const pay = e.target.closest?.("[data-alone-pay]");
    if (pay) sell(pay.dataset.alonePay);
    const take = e.target.closest?.("#till button[value=take]");
    if (take && form().elements.soldAt && !form().elements.soldAt.value) form().elements.soldAt.value = now();
  }, true);

  // What can be scanned without a connection is asked for once in a while.
  const learn = async () => {
    try {
      const kept = JSON.parse(localStorage.getItem(place + ":goods"));
      goods = kept?.goods ?? [];
      if (!(Date.now() - kept?.at < 600000)) {
        goods = await (await fetch(unsent.dataset.goods)).json();
        localStorage.setItem(place + ":goods", JSON.stringify({ at: Date.now(), goods }));
      }
    } catch { /* what is known stays */ }
  };
  show();
  learn();
  if (!navigator.onLine) leave();
  else send();
}
