// A day of marketplace.mjs: the shop of $SHOP_TOKEN changes, sells and ships, the marketplace orders, webhooks get lost. What both
// sides have in the end is compared, and printed.
import assert from "node:assert/strict";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Api, Sync, serve } from "./marketplace.mjs";

const shop = new Api(process.env.SHOP_BASE, process.env.SHOP_TOKEN);
const api = new Api(process.env.BASE, process.env.TOKEN);

// The marketplace: what it has got.
const market = {
  offers: new Map(), shipped: new Map(), cancelled: new Map(), sent: 0,
  async putOffers(offers) { this.sent += offers.length; for (const o of offers) this.offers.set(o.sku, o); },
  async removeOffers(skus) { for (const sku of skus) this.offers.delete(sku); },
  async shipOrder(id, tracking) { this.shipped.set(id, tracking); },
  async cancelOrder(id, reason) { this.cancelled.set(id, reason); },
};
const offer = (sku) => { const { price, quantity } = market.offers.get(sku) ?? {}; return `${price}/${quantity}`; };

async function until(what, condition) {
  for (const end = Date.now() + 60_000; !condition(); await sleep(50)) assert(Date.now() < end, `waiting for ${what}: ${JSON.stringify([...market.offers.values()])}`);
}

// logged waits until the log shows an event, which it does a moment after the change.
async function logged(event, is) {
  for (const end = Date.now() + 60_000; ; await sleep(100)) {
    if ((await shop.call("GET", `/events?events=${event}&order=desc`)).data.items.some(({ data }) => is(data))) return;
    assert(Date.now() < end, `waiting for ${event} in the log`);
  }
}

const batch = async (path, bodies) => {
  const { results } = (await shop.call("POST", path, { items: bodies.map((body) => ({ op: "create", body })) })).data;
  for (const r of results) assert(r.status < 300, r.message);
  return results.map((r) => r.id);
};

// The catalog of the shop.
const [bell, jersey] = await batch("/catalog/products/batch", [
  { name: "Bell", sku: "MP-BELL", price: 1990, hasStock: true },
  { name: "Jersey", sku: "MP-JERSEY", price: 5900, hasStock: true },
  { name: "Inner tube", sku: "MP-TUBE", price: 790, hasStock: true },
]);
await batch("/catalog/variants/batch", ["S", "M", "L"].map((size) => ({ productId: jersey, name: size, sku: `MP-JERSEY-${size}`, ...(size === "L" && { price: 6400 }) })));
const [{ id: warehouseId }] = (await shop.call("GET", "/warehouse/warehouses")).data.items;
await batch("/warehouse/stocks/adjust/batch", ["BELL", "TUBE", "JERSEY-S", "JERSEY-M", "JERSEY-L"].map((sku) => ({ warehouseId, sku: `MP-${sku}`, targetQty: 10, reason: "opening stock" })));

// The first time: everything.
let sync = new Sync(api, market, process.env.STATE);
const receiver = serve(sync).listen(0, "127.0.0.1");
await once(receiver, "listening");
await sync.start(`http://127.0.0.1:${receiver.address().port}/tradegrid`);
assert.deepEqual([offer("MP-BELL"), offer("MP-TUBE"), offer("MP-JERSEY-S"), offer("MP-JERSEY-L")], ["1990/10", "790/10", "5900/10", "6400/10"]);
console.log(`marketplace: ${market.offers.size} offers at first`);

// The shop works, webhooks tell of it.
await shop.call("PATCH", `/catalog/products/${bell}`, { price: 2190 });
await shop.call("DELETE", `/catalog/products/${(await shop.call("GET", "/catalog/products?sku=MP-TUBE")).data.items[0].id}`);
const shift = (await shop.call("POST", "/shifts/open", { openingCash: 0 })).data;
await shop.call("POST", "/sales", { shiftId: shift.id, paymentMethod: "card", items: [{ sku: "MP-JERSEY-S", qty: 2 }] });
await shop.call("POST", `/shifts/${shift.id}/close`, {});
await until("prices and stock", () => offer("MP-BELL") === "2190/10" && !market.offers.has("MP-TUBE") && offer("MP-JERSEY-S") === "5900/8");

// The marketplace orders, and tells it again.
const buyer = { name: "Nora Lind", phone: "+49 30 9018 2020" };
const parcel = { buyer, address: "Lindenstr. 1, Berlin", shipping: 490 };
const first = { id: "M-1", ...parcel, paid: 3 * 2190 + 5900 + 490, lines: [{ sku: "MP-BELL", quantity: 3, price: 2190 }, { sku: "MP-JERSEY-M", quantity: 1, price: 5900 }] };
const [order, again] = [await sync.takeOrder(first), await sync.takeOrder(first)];
assert.deepEqual([again.id, order.payable, order.paymentStatus], [order.id, first.paid, "paid"]);
await until("the reserve", () => offer("MP-BELL") === "2190/7" && offer("MP-JERSEY-M") === "5900/9");
assert.equal(await sync.takeOrder({ id: "M-2", ...parcel, paid: 0, lines: [{ sku: "MP-BELL", quantity: 8, price: 2190 }] }), null);
assert.match(market.cancelled.get("M-2"), /STOCK_INSUFFICIENT/);

// The buyer moves while the shop changes the same order.
const call = api.call;
api.call = async (...args) => {
  const answer = await call.apply(api, args);
  if (args[0] === "GET") (api.call = call), await shop.call("PATCH", `/orders/${order.id}`, { note: "gift" });
  return answer;
};
assert.equal(await sync.readdress(order.id, "Seestr. 7, Berlin"), true);
const { note, deliveryAddressText } = (await shop.call("GET", `/orders/${order.id}`)).data;
assert.deepEqual([note, deliveryAddressText], ["gift", "Seestr. 7, Berlin"]);

// One parcel leaves, another order is cancelled.
const third = await sync.takeOrder({ id: "M-3", ...parcel, paid: 0, lines: [{ sku: "MP-BELL", quantity: 1, price: 2190 }] });
await shop.call("POST", `/orders/${order.id}/status/in_progress`);
await shop.call("POST", `/orders/${order.id}/shipments`, { trackingNumber: "JD0146", carrier: "DHL" });
await shop.call("POST", `/orders/${third.id}/status/cancelled`, { reason: "bell is scratched" });
await until("the parcel", () => market.shipped.get("M-1") === "JD0146" && market.cancelled.get("M-3") === "bell is scratched" && offer("MP-BELL") === "2190/7");
assert.equal(await sync.readdress(order.id, "Hauptstr. 2, Bonn"), false);
assert.equal((await sync.takeOrder(first)).deliveryAddressText, "Seestr. 7, Berlin"); // told once more, it is as it is by now
console.log(`marketplace: orders taken 2, refused 1, shipped ${market.shipped.size}`);

// The receiver is gone for a while. A new process finds in the log what it has missed.
receiver.close();
receiver.closeAllConnections();
await sync.working;
await shop.call("PATCH", `/catalog/products/${bell}`, { price: 2290 });
await shop.call("POST", "/warehouse/stocks/adjust", { warehouseId, sku: "MP-JERSEY-L", delta: -4, reason: "damaged" });
assert.equal(offer("MP-BELL"), "2190/7");
sync = new Sync(api, market, process.env.STATE);
await logged("product.updated", ({ price }) => price === 2290);
await logged("stock.available_changed", ({ variantSku, available }) => variantSku === "MP-JERSEY-L" && available === 6);
await sync.catchUp();
assert.deepEqual([offer("MP-BELL"), offer("MP-JERSEY-L")], ["2290/7", "6400/6"]);

// It was gone for longer than the log: the lists say what has changed since they were read.
await shop.call("PATCH", `/catalog/products/${jersey}`, { price: 6100 });
sync.state.cursor = undefined;
await sync.catchUp();
assert.deepEqual([offer("MP-JERSEY-S"), offer("MP-JERSEY-M"), offer("MP-JERSEY-L")], ["6100/8", "6100/9", "6400/6"]);

// In the end the marketplace has what the shop has.
const truth = (await shop.call("GET", "/catalog/variants?include=stock&search=MP-JERSEY&sort=sku")).data.items.map((v) => `${v.sku} ${v.effectivePrice}/${v.stockAvailable}`);
assert.deepEqual([...market.offers.keys()].filter((sku) => sku.startsWith("MP-JERSEY")).sort().map((sku) => `${sku} ${offer(sku)}`), truth);
assert.equal(truth.length, 3);
const own = (await api.call("GET", "/webhooks/subscriptions")).data.items.find((s) => s.name === "marketplace");
await shop.call("DELETE", `/webhooks/subscriptions/${own.id}`);
console.log(`marketplace: ${market.offers.size} offers in the end, MP-BELL ${offer("MP-BELL")}, ${truth.join(", ")}`);
console.log(`marketplace: calls ${api.calls}`);
