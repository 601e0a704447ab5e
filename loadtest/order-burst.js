// order-burst: impatient integrations. Each order is sent twice at once, sometimes given up before its answer, and sent
// again later, always under its one key. Is each stored once, numbered once, announced once?
import http from 'k6/http';
import { check, sleep } from 'k6';
import { number, seconds } from './lib/config.js';
import { call, note, request, unfinished, uuid } from './lib/client.js';
import { order, pick } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { finish, prepare, settle, took } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const load = plan({
  loads: { burst: { last: seconds('DURATION', 30), rate: number('RATE', 100), vus: number('VUS', 200) } },
  thresholds: { api_available: ['rate>=0.9995'], webhooks_unpromised: ['value==0'], webhooks_repeated: ['value==0'] },
});
export const { options } = load;
export const setup = () => prepare(load);
export const teardown = (data) => finish(data);
export { settle };

const ABANDONED = 0.05; // share of orders whose first try is given up after a few milliseconds

export default function burst(data) {
  here(data);
  const company = pick(data.companies);
  const key = uuid();
  const { body, total } = order(company);
  const began = Date.now();
  if (Math.random() < ABANDONED) {
    const hasty = request(company, 'POST', '/orders', { body, key, timeout: '3ms', tags: { given_up: 'true' } });
    http.request(hasty.method, hasty.url, hasty.body, hasty.params);
  }
  const one = request(company, 'POST', '/orders', { body, key });
  const both = http.batch([one, one]).map((res) => note(res));
  let first = both.find((res) => res.status === 201);
  if (!first) { // both found the given-up try still at work
    sleep(1);
    first = call(company, 'POST', '/orders', { body, key, tries: 8 });
  }
  const made = took(company, first, { total, began });
  if (!made) return;
  check(both, { 'both tries got the one order, or were told to wait': (all) => all.every((r) => (r.status === 201 && r.json().id === made.id) || unfinished(r) || [429, 503].includes(r.status)) });
  const late = call(company, 'POST', '/orders', { body, key });
  check(late, {
    'a late repeat gets the same answer': (r) => r.status === 201 && r.body === first.body,
    'and is told that it is a repeat': (r) => r.headers['X-Idempotent-Replayed'] === 'true',
  });
}

export const handleSummary = summarise('order-burst', 'each order is sent at least three times under one key', load, {
  judge: (m) => [{ rule: 'orders stored, by their numbers: as many as accepted', value: `${m.value('orders_stored')} for ${m.count('orders_accepted')}`, ok: m.value('orders_stored') === m.count('orders_accepted') }],
});
