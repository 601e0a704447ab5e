// noisy-neighbour: one company sends far more than it may and ignores every refusal. Do the others notice?
import exec from 'k6/execution';
import http from 'k6/http';
import { companies, number, seconds, switched } from './lib/config.js';
import { note, request, unfinished, uuid } from './lib/client.js';
import { compare, endOf, series } from './lib/contrast.js';
import { order, pick } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { finish, placeOrder, prepare, settle, took } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const half = seconds('DURATION', 120) / 2;
const rate = number('RATE', 50);
const phases = ['alone', 'beside'];
const kindOf = (i) => (i === 0 ? 'noisy' : 'others');
const limited = !switched('UNLIMITED'); // the flood uses the token of the standard tier
const load = plan({
  loads: {
    others: { last: 2 * half, rate, vus: number('VUS', 100) },
    flood: { at: half, last: half, rate: rate * number('FACTOR', 10), vus: number('VUS', 100), run: 'flood' },
    turn: { at: half, last: 5, once: true, run: 'turn' },
  },
  phases: [{ name: phases[0], until: half }, { name: phases[1], until: 2 * half }],
  thresholds: { api_available: ['rate>=0.9995'], 'answers_limited{group:others}': ['count==0'] },
  samples: [...series(phases, 'others'), 'answers_limited{group:flood}', 'orders_accepted{group:flood}', 'answers_shed{group:flood}'],
});
export const { options } = load;
export function setup() {
  if (limited && companies.length > 0 && !companies[0].limitedToken) exec.test.abort('the first company of TOKENS has no limitedToken: `tradegrid admin load-data` makes them, UNLIMITED=1 does without');
  return prepare(load, { kindOf });
}
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

// One try and no pause: what a broken integration does.
export function flood(data) {
  here(data);
  const tags = { group: 'flood' };
  const { body, total } = order(data.companies[0]);
  const began = Date.now();
  const r = request(data.companies[0], 'POST', '/orders', { body, key: uuid(), limited, tags });
  const res = note(http.request(r.method, r.url, r.body, r.params), [], tags);
  if (!unfinished(res)) took(data.companies[0], res, { total, began, tags });
}

export const handleSummary = summarise('noisy-neighbour', 'one company floods the API and ignores refusals', load, {
  judge: (m) => compare(m, phases, 'others'),
  notes: (m) => [`The flood: ${m.count('orders_accepted{group:flood}')} orders accepted, ${m.count('answers_limited{group:flood}')} refused with 429, ${m.count('answers_shed{group:flood}')} shed with 503.`],
});
