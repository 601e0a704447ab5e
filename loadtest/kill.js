// kill: processes are killed under load, by loadtest/run. Integrations repeat with the same key: is every order that was
// answered stored once, and does its event arrive?
import { number, seconds } from './lib/config.js';
import { pick } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { finish, placeOrder, prepare, settle } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const TRIES = 40; // with pauses of up to 5 s, so that an order outlives a restart

const load = plan({
  loads: { orders: { last: seconds('DURATION', 60), rate: number('RATE', 30), vus: number('VUS', 400) } },
  thresholds: { webhooks_unpromised: ['value==0'], dropped_iterations: ['count==0'] },
});
export const { options } = load;
export const setup = () => prepare(load, { needReceiver: true });
export const teardown = (data) => finish(data, { bound: seconds('WAIT', 300) });
export { settle };

export default function orders(data) {
  here(data);
  placeOrder(pick(data.companies), { tries: TRIES, outage: true });
}

export const handleSummary = summarise('kill', 'processes are killed under load', load, {
  judge: (m) => [
    { rule: 'orders stored, by their numbers: as many as accepted', value: `${m.value('orders_stored')} for ${m.count('orders_accepted')}`, ok: m.value('orders_stored') === m.count('orders_accepted') },
    { rule: 'processes were killed', value: `${m.count('requests_repeated')} requests repeated`, ok: m.count('requests_repeated') > 0 },
  ],
  notes: (m) => [`${m.count('requests_repeated')} requests were repeated under their key; ${m.value('webhooks_duplicates')} deliveries came again with the same delivery id.`],
});
