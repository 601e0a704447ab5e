// Keeps a marketplace in step with a company: offers with prices and quantities go there, orders come back. Node.js 20 or newer, no packages.
//
// What changes arrives by webhook. What a webhook did not bring comes from the event log, and what the log has no more from the lists.
import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const SOURCE = "marketplace"; // of external ids
const EVENTS = ["product.*", "stock.available_changed", "order.shipped", "order.cancelled"];
const BEGIN = "2000-01-01T00:00:00Z"; // before the first record
const TRIES = 8;

export class ApiError extends Error {
  constructor(status, body) {
    super(`${status} ${body.code}: ${[body.message].flat().join("; ")} (request ${body.requestId})`);
    Object.assign(this, { status, code: body.code, meta: body.meta ?? {} });
  }
}

// Api calls the API: every change under an idempotency key, again after what may pass.
export class Api {
  constructor(base, token) {
    Object.assign(this, { base: new URL(base).href, token, calls: 0 });
  }

  async call(method, path, body, ifMatch) {
    const headers = { authorization: `Bearer ${this.token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    if (ifMatch) headers["if-match"] = ifMatch;
    if (method !== "GET") headers["x-idempotency-key"] = randomUUID(); // one for all tries, so that the change is made once
    this.calls++;
    for (let attempt = 1; ; attempt++) {
      let pause = Math.min(100 * 2 ** attempt, 10_000) * (0.5 + Math.random() / 2);
      try {
        const res = await fetch(this.base + path, { method, headers, body: JSON.stringify(body), signal: AbortSignal.timeout(35_000) });
        const text = await res.text();
        if (res.ok) return { data: text && JSON.parse(text), etag: res.headers.get("etag"), watermark: res.headers.get("x-sync-watermark") };
        const error = new ApiError(res.status, JSON.parse(text));
        const passes = [408, 429, 500, 502, 503, 504].includes(res.status) ? error.code !== "QUERY_TOO_EXPENSIVE" : error.code === "IDEMPOTENCY_IN_FLIGHT";
        if (!passes || attempt === TRIES) throw error;
        if (res.headers.has("retry-after")) pause = 1000 * Number(res.headers.get("retry-after"));
      } catch (err) {
        if (err instanceof ApiError || attempt === TRIES) throw err; // otherwise no answer, or a part of one
      }
      await sleep(pause);
    }
  }

  // changed calls each with every record that was changed since, and returns since for the next time.
  async changed(path, query, since, each) {
    for (let cursor; ; ) {
      const q = new URLSearchParams({ ...query, updatedSince: since, pageSize: 200, ...(cursor && { cursor }) });
      const { data, watermark } = await this.call("GET", `${path}?${q}`);
      for (const record of data.items) await each(record);
      if (!data.nextCursor) return watermark;
      cursor = data.nextCursor;
    }
  }
}

// signed reports whether a webhook is the platform's; see docs/webhooks.md#verify.
export function signed(secret, headers, body) {
  const want = Buffer.from("sha256=" + createHmac("sha256", secret).update(body).digest("hex"));
  return ["x-svc-signature", "x-svc-signature-previous"].some((name) => {
    const got = Buffer.from(headers[name] ?? "");
    return got.length === want.length && timingSafeEqual(got, want);
  });
}

export class Sync {
  // market is the marketplace: putOffers(offers), removeOffers(skus), shipOrder(id, tracking), cancelOrder(id, reason). Each may be
  // called again.
  // file keeps what has to outlive the process; with many products, take a database.
  constructor(api, market, file) {
    Object.assign(this, { api, market, file });
    this.state = { since: {}, products: {}, stocks: {}, offers: {}, inbox: [], seen: {} };
    try {
      this.state = JSON.parse(readFileSync(file, "utf8"));
    } catch (err) {
      if (err.code !== "ENOENT") throw err;
    }
  }

  save() {
    writeFileSync(this.file + ".new", JSON.stringify(this.state));
    renameSync(this.file + ".new", this.file);
  }

  // start subscribes, once, and brings everything up to date.
  async start(url) {
    if (!this.state.secret) {
      this.state.secret = (await this.api.call("POST", "/webhooks/subscriptions", { url, events: EVENTS, name: SOURCE })).data.secret;
      this.save();
    }
    await this.catchUp();
  }

  // receive takes a webhook: it stores the event and answers, the work follows.
  receive(headers, body) {
    if (!this.state.secret || !signed(this.state.secret, headers, body)) return 401;
    this.store([JSON.parse(body)]);
    return 204;
  }

  // store keeps events that are new. A webhook can come twice, and the log has the events of webhooks.
  store(events) {
    for (const { eventId, event, data } of events.filter(({ eventId }) => eventId && !this.state.seen[eventId])) {
      this.state.seen[eventId] = Date.now();
      this.state.inbox.push({ event, data });
    }
    const month = Date.now() - 31 * 24 * 3600 * 1000;
    for (const [id, at] of Object.entries(this.state.seen)) if (at < month) delete this.state.seen[id];
    this.save();
  }

  // catchUp reads what no webhook has brought: run it at the start, and every few minutes.
  async catchUp() {
    try {
      while (this.state.cursor) {
        const q = new URLSearchParams({ cursor: this.state.cursor, events: EVENTS, limit: 200 });
        const { data } = await this.api.call("GET", `/events?${q}`);
        this.store(data.items);
        this.state.cursor = data.nextCursor;
        if (!data.hasMore) return await this.work();
      }
    } catch (err) {
      if (err.code !== "EVENTS_CURSOR_EXPIRED") throw err;
    }
    await this.readAll();
  }

  // readAll reads the lists, from where they were read last: at first, and after a pause that is longer than the log.
  async readAll() {
    const { state, api } = this;
    const cursor = (await api.call("GET", "/events?start=now")).data.nextCursor; // before the lists: nothing falls between
    await this.readProducts();
    state.since.stocks = await api.changed("/warehouse/stocks", {}, state.since.stocks ?? BEGIN, (s) => this.putStock(s));
    state.since.orders = await api.changed("/orders", { source: SOURCE }, state.since.orders ?? BEGIN, (o) => this.tellOrder(o));
    state.cursor = cursor;
    await this.work();
  }

  async readProducts() {
    const { since } = this.state;
    since.products = await this.api.changed("/catalog/products", { include: "variants" }, since.products ?? BEGIN, (p) => this.putProduct(p));
  }

  // work does what the stored events ask for, in order, and tells the marketplace what differs.
  async work() {
    while (this.working) await this.working;
    this.working = this.workOnce().finally(() => (this.working = undefined));
    return this.working;
  }

  async workOnce() {
    const events = this.state.inbox.slice();
    const products = new Set();
    for (const { event, data } of events) {
      if (data.truncated) await this.readProducts(); // more products than product.bulk_repriced names
      else if (event.startsWith("product.")) (data.items ?? [data]).forEach(({ id }) => products.add(id));
      else if (event === "stock.available_changed") this.putStock(data);
      else await this.tellOrder(data);
    }
    const ids = [...products];
    for (let i = 0; i < ids.length; i += 100) {
      const q = new URLSearchParams({ ids: ids.slice(i, i + 100), include: "variants", status: "active,hidden", pageSize: 100 });
      (await this.api.call("GET", `/catalog/products?${q}`)).data.items.forEach((p) => this.putProduct(p));
    }
    await this.publish();
    this.state.inbox.splice(0, events.length);
    this.save();
  }

  putProduct({ id, name, sku, price, status, hasVariants, variants, version }) {
    if ((this.state.products[id]?.version ?? 0) > version) return; // an older event that came late
    const active = hasVariants ? variants.filter((v) => v.status === "active") : [];
    const items = hasVariants ? active.map((v) => ({ id: v.id, sku: v.sku, name: `${name}, ${v.name ?? v.sku}`, price: v.effectivePrice })) : [{ id, sku, name, price }];
    this.state.products[id] = { version, items: status === "active" ? items : [] };
  }

  putStock({ id, productId, variantId, available, version }) {
    if ((this.state.stocks[id]?.version ?? 0) > version) return;
    this.state.stocks[id] = { item: variantId ?? productId, available, version }; // one for each warehouse
  }

  async tellOrder({ source, externalId, status, cancelReason, deliveryStatus, shipment }) {
    if (source !== SOURCE) return;
    if (status === "cancelled") await this.market.cancelOrder(externalId, cancelReason);
    else if (deliveryStatus === "shipped") await this.market.shipOrder(externalId, shipment?.trackingNumber);
  }

  // publish sends the offers that differ from those that the marketplace has.
  async publish() {
    const quantity = {};
    for (const { item, available } of Object.values(this.state.stocks)) quantity[item] = (quantity[item] ?? 0) + available;
    const offers = {};
    for (const { id, sku, name, price } of Object.values(this.state.products).flatMap((p) => p.items)) {
      offers[sku] = { sku, name, price, quantity: Math.max(0, Math.floor(quantity[id] ?? 0)) };
    }
    const differs = Object.values(offers).filter((o) => JSON.stringify(o) !== JSON.stringify(this.state.offers[o.sku]));
    const gone = Object.keys(this.state.offers).filter((sku) => !offers[sku]);
    if (differs.length) await this.market.putOffers(differs);
    if (gone.length) await this.market.removeOffers(gone);
    this.state.offers = offers;
  }

  // takeOrder creates an order of the marketplace, once, and returns it; null if it was refused. An upsert would undo what the shop has
  // changed since.
  async takeOrder({ id, lines, buyer, address, shipping, paid }) {
    const body = {
      source: SOURCE, externalId: id, items: lines.map(({ sku, quantity, price }) => ({ sku, qty: quantity, unitPrice: price })),
      customerName: buyer.name, customerPhone: buyer.phone, deliveryMethod: "post", deliveryAddressText: address, deliveryCost: shipping, prepaidAmount: paid,
    };
    try {
      return (await this.api.call("POST", "/orders", body)).data;
    } catch (err) {
      if (err.code === "ORDER_EXTERNAL_ID_TAKEN") return (await this.api.call("GET", `/orders/${err.meta.id}`)).data; // told before
      if (!["STOCK_INSUFFICIENT", "PRODUCT_NOT_FOUND", "CATALOG_ITEM_HIDDEN"].includes(err.code)) throw err;
      await this.market.cancelOrder(id, err.message); // nothing was stored
      return null;
    }
  }

  // readdress changes where an order goes, unless it is on its way: false.
  async readdress(id, address) {
    for (;;) {
      const { data: order, etag } = await this.api.call("GET", `/orders/${id}`);
      if (order.deliveryStatus !== "pending") return false;
      try {
        await this.api.call("PATCH", `/orders/${id}`, { deliveryAddressText: address }, etag);
        return true;
      } catch (err) {
        if (err.code !== "PRECONDITION_FAILED") throw err; // otherwise somebody changed the order: look again
      }
    }
  }
}

// serve receives webhooks for a sync.
export function serve(sync) {
  return createServer(async (req, res) => {
    try {
      const chunks = [];
      for await (const chunk of req) chunks.push(chunk);
      res.writeHead(sync.receive(req.headers, Buffer.concat(chunks))).end();
    } catch (err) {
      console.error(err);
      res.writeHead(500).end(); // it comes again
    }
    sync.work().catch((err) => console.error(err)); // the events stay stored, and the next one tries again
  });
}
