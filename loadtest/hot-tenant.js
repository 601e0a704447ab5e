// hot-tenant: the load stays the same, but from the half on one company makes 80 % of it. Do the others notice?
import { number, seconds } from './lib/config.js';
import { compare, endOf, series } from './lib/contrast.js';
import { here, plan } from './lib/plan.js';
import { pick } from './lib/data.js';
import { finish, placeOrder, prepare, settle } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const half = seconds('DURATION', 120) / 2;
const rate = number('RATE', 200); // of all together
const phases = ['even', 'hot'];
const kindOf = (i) => (i === 0 ? 'hot' : 'others');
const load = plan({
  loads: {
    others: { last: 2 * half, rate: rate * 0.2, vus: number('VUS', 100) / 2 },
    most: { last: 2 * half, rate: rate * 0.8, vus: number('VUS', 100), run: 'most' },
    turn: { at: half, last: 5, once: true, run: 'turn' },
  },
  phases: [{ name: phases[0], until: half }, { name: phases[1], until: 2 * half }],
  thresholds: { api_available: ['rate>=0.9995'] },
  samples: [...series(phases, 'others'), 'order_duration{group:hot}', 'orders_accepted{group:hot}'],
});
export const { options } = load;
export const setup = () => prepare(load, { kindOf });
export const turn = (data) => endOf(data, 'others', phases[0]);
export function teardown(data) {
  endOf(data, 'others', phases[1]);
  finish(data, { bound: seconds('WAIT', 120) });
}
export { settle };

export default function others(data) {
  here(data);
  placeOrder(pick(data.companies.slice(1)), { tags: { group: 'others' } });
}

// The same load in both halves: what differs is whose it is.
export function most(data) {
  if (here(data) === phases[0]) placeOrder(pick(data.companies), { tags: { group: 'spread' } });
  else placeOrder(data.companies[0], { tags: { group: 'hot' } });
}

export const handleSummary = summarise('hot-tenant', 'the load stays, but one company makes 80 % of it', load, {
  judge: (m) => compare(m, phases, 'others'),
  notes: (m) => [`The hot company: ${m.count('orders_accepted{group:hot}')} orders, p99 ${m.at('order_duration{group:hot}', 'p(99)').toFixed(0)} ms; the others beside it: ${m.count('orders_accepted{group:others,phase:hot}')}.`],
});
