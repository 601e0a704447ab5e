// webhook-storm: some receivers hang, fail, drip, break off, redirect and answer with far too much. Do the healthy ones
// notice, and does everything arrive at the others once they are well again?
import { number, seconds } from './lib/config.js';
import { compare, endOf, series } from './lib/contrast.js';
import { here, plan } from './lib/plan.js';
import { pick } from './lib/data.js';
import { behave, behaveWell } from './lib/receiver.js';
import { finish, placeOrder, prepare, settle } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const modes = [{ mode: 'hang' }, { mode: 'status', status: 500 }, { mode: 'drip' }, { mode: 'close' }, { mode: 'redirect' }, { mode: 'huge', bytes: 8 << 20, status: 200 }];
const half = seconds('DURATION', 120) / 2;
const bad = number('BAD', modes.length);
const phases = ['well', 'storm'];
const kindOf = (i) => (i < bad ? 'bad' : 'healthy');
const load = plan({
  loads: {
    orders: { last: 2 * half, rate: number('RATE', 100), vus: number('VUS', 100) },
    storm: { at: half, last: 5, once: true, run: 'storm' },
  },
  phases: [{ name: phases[0], until: half }, { name: phases[1], until: 2 * half }],
  thresholds: { api_available: ['rate>=0.9995'] },
  samples: series(phases, 'healthy'),
});
export const { options } = load;
export const setup = () => prepare(load, { kindOf, needReceiver: true });
export { settle };

const stormy = (data) => data.companies.filter((c) => kindOf(c.index) === 'bad');

export function storm(data) {
  endOf(data, 'healthy', phases[0]);
  for (const c of stormy(data)) behave(c.receiver, modes[c.index % modes.length]);
}

// Retries and resting receivers take their time: minutes after the storm, not seconds.
export function teardown(data) {
  endOf(data, 'healthy', phases[1]);
  for (const c of stormy(data)) behaveWell(c.receiver);
  finish(data, { bound: seconds('WAIT', 900) });
}

export default function orders(data) {
  here(data);
  const company = pick(data.companies);
  placeOrder(company, { tags: { group: kindOf(company.index) === 'bad' ? 'stormy' : 'others' } });
}

export const handleSummary = summarise('webhook-storm', 'some receivers misbehave in every way', load, {
  judge: (m) => compare(m, phases, 'healthy'),
});
