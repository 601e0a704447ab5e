// feed-readers: integrations follow the event log of their company while orders are placed. Does each see every event once?
import { check, sleep } from 'k6';
import exec from 'k6/execution';
import { number, seconds } from './lib/config.js';
import { call } from './lib/client.js';
import { pick } from './lib/data.js';
import { feed } from './lib/metrics.js';
import { here, plan } from './lib/plan.js';
import { finish, placeOrder, prepare, read, settle as settleAll, setUp } from './lib/shop.js';
import { short } from './lib/figures.js';
import { summarise } from './lib/summary.js';

const LIMIT = 200;
const POLL = 1; // seconds between two reads of one reader
const load = plan({
  loads: {
    orders: { last: seconds('DURATION', 60), rate: number('RATE', 50), vus: number('VUS', 50) },
    readers: { last: seconds('DURATION', 60), vus: number('FACTOR', 40), everyVU: true, run: 'follow' },
  },
  thresholds: { api_available: ['rate==1'], read_duration: ['p(99)<250'], feed_read: ['count>0'], dropped_iterations: ['count==0'] },
});
export const { options } = load;

export function setup() {
  const data = prepare(load);
  for (const c of data.companies) c.cursor = setUp(c, 'GET', '/events?start=now').nextCursor;
  return data;
}

export default function orders(data) {
  here(data);
  placeOrder(pick(data.companies));
}

// A VU is one integration: it keeps its cursor and what it has seen.
let reader = null;

export function follow(data) {
  here(data);
  if (!reader) {
    const company = data.companies[exec.vu.idInTest % data.companies.length];
    reader = { company, cursor: company.cursor, seen: new Set() };
  }
  readOn(reader, poll);
  sleep(POLL * (0.8 + 0.4 * Math.random()));
}

// poll is a read whose duration counts; the others come after the load.
const poll = { send: read, measured: true };
const after = { send: (company, path, options) => call(company, 'GET', path, options), measured: false };

// readOn reads what has come since the last time.
function readOn(r, { send, measured }) {
  for (;;) {
    const res = send(r.company, `/events?limit=${LIMIT}&cursor=${encodeURIComponent(r.cursor)}`, { name: '/events' });
    if (res.status !== 200) return false;
    const page = res.json();
    const known = page.items.filter((e) => r.seen.has(e.eventId)).length;
    check(page, { 'a page holds nothing that the reader has seen': () => known === 0 });
    for (const e of page.items) {
      r.seen.add(e.eventId);
      if (measured && e.event === 'order.created') feed.lag.add(Math.max(0, Date.now() - Date.parse(e.occurredAt)));
    }
    if (measured) feed.read.add(page.items.length);
    r.cursor = page.nextCursor;
    if (!page.hasMore) return true;
  }
}

/** settle also reads the log to its end, and once more from the start in one go: both must have seen the same. */
export function settle(data) {
  settleAll();
  if (!reader || !readOn(reader, after)) return;
  const again = { company: reader.company, cursor: reader.company.cursor, seen: new Set() };
  if (!readOn(again, after)) return;
  check(again, { 'who followed the log saw what it holds': (a) => a.seen.size === reader.seen.size && [...a.seen].every((id) => reader.seen.has(id)) });
}

export function teardown(data) {
  let created = 0;
  for (const c of data.companies) {
    let { cursor } = c;
    for (let more = true; more;) {
      const page = setUp(c, 'GET', `/events?events=order.created&limit=${LIMIT}&cursor=${encodeURIComponent(cursor)}`);
      created += page.items.length;
      cursor = page.nextCursor;
      more = page.hasMore;
    }
  }
  feed.created.add(created);
  finish(data);
}

export const handleSummary = summarise('feed-readers', 'integrations follow the event log', load, {
  judge: (m) => [{ rule: 'order.created in the log: one for each accepted order', value: `${m.value('feed_created')} for ${m.count('orders_accepted')}`, ok: m.value('feed_created') === m.count('orders_accepted') }],
  notes: (m) => [`${m.count('feed_read')} events were read; from change to reader p50 ${short(m.at('feed_lag', 'med'))} ms, p95 ${short(m.at('feed_lag', 'p(95)'))} ms, polls included.`],
});
