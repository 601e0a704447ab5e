// The receivers' side: a receiver for each company, what it was promised, what it got.
import http from 'k6/http';
import { sleep } from 'k6';
import { RECEIVER } from './config.js';
import { webhooks } from './metrics.js';

const EVENT = 'order.created';
const HELD = 50; // promises that a VU keeps before it sends them
const HELD_FOR = 2000; // ms

function send(method, path, body) {
  const res = http.request(method, RECEIVER + path, body === undefined ? null : JSON.stringify(body), { tags: { side: 'receiver', name: `receiver ${method} ${path.split(/[/?]/)[1]}` }, timeout: '60s' });
  if (res.status < 200 || res.status > 299) throw new Error(`receiver: ${method} ${path} answered ${res.status}: ${res.error || res.body}`);
  return res;
}

export const setSecret = (name, secret) => send('POST', `/secrets/${name}`, { secret });
export const behave = (name, behaviour) => send('POST', `/behaviour/${name}`, behaviour);
export const behaveWell = (name) => send('DELETE', `/behaviour/${name}`);
export const forgetLatency = (name) => send('DELETE', `/latency/${name}`);
export const report = (prefix) => send('GET', `/report?prefix=${prefix}`).json();
/** forget removes the receivers of earlier runs: they keep what they got until then, for whoever looks into a failure. */
export const forget = () => send('DELETE', '/receivers?prefix=load-');
export const waitFor = (name, event) => send('GET', `/wait/${name}?event=${event}&timeout=30s`);
/** open begins to count what arrives at the receivers. */
export const open = (names) => send('POST', '/promises', { event: EVENT, receivers: Object.fromEntries(names.map((n) => [n, []])) });

// Each VU has its own JavaScript world, hence its own list.
let held = {};
let count = 0;
let since = 0;

/** promise notes that the creation of an order must arrive. The list travels in one request for many orders. */
export function promise(company, id) {
  if (!RECEIVER || !company.receiver) return;
  if (count === 0) since = Date.now();
  (held[company.receiver] = held[company.receiver] || []).push(id);
  count++;
  if (count >= HELD || Date.now() - since > HELD_FOR) sendPromises();
}

/** sendPromises sends what the VU still holds. */
export function sendPromises() {
  if (count === 0) return;
  send('POST', '/promises', { event: EVENT, receivers: held });
  held = {};
  count = 0;
}

/** await waits until nothing is missing at the receivers of the run, and returns the last report. */
export function settleReceivers(run, bound) {
  const began = Date.now();
  for (;;) {
    const got = report(`${run}.`);
    const promises = (got.promises || {})[EVENT] || { promised: 0, missing: 0, unpromised: 0, repeated: 0, missingIds: [] };
    const waited = (Date.now() - began) / 1000;
    if (promises.missing === 0 || waited > bound) {
      webhooks.promised.add(promises.promised);
      webhooks.missing.add(promises.missing);
      webhooks.unpromised.add(promises.unpromised);
      webhooks.repeated.add(promises.repeated);
      webhooks.refused.add(got.invalid);
      webhooks.duplicates.add(got.duplicates);
      webhooks.settled.add(waited);
      webhooks.arrived.add(got.latencyMs.count);
      if (got.latencyMs.count > 0) {
        webhooks.p50.add(got.latencyMs.p50);
        webhooks.p99.add(got.latencyMs.p99);
      }
      if (promises.missing > 0) console.error(`${promises.missing} orders have no ${EVENT} after ${waited.toFixed(0)} s, such as ${promises.missingIds.slice(0, 3).join(', ')}`);
      return;
    }
    sleep(0.5);
  }
}

/** measure emits the latencies of one kind of receivers for the phase that ends, and starts them anew. */
export function measure(run, kind, phase) {
  const got = report(`${run}.${kind}.`);
  webhooks.p50.add(got.latencyMs.p50, { phase, kind });
  webhooks.p99.add(got.latencyMs.p99, { phase, kind });
  for (const name of Object.keys(got.receivers)) forgetLatency(name);
}
