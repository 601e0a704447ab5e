// steady: an ordinary day of many companies at a constant rate, against the objectives of the service.
import { number, seconds } from './lib/config.js';
import { pick } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { finish, journey, prepare, settle } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const load = plan({
  loads: { steady: { last: seconds('DURATION', 120), rate: number('RATE', 100), vus: number('VUS', 100) } },
  thresholds: {
    api_available: ['rate>=0.9995'], order_duration: ['p(99)<250'], read_duration: ['p(99)<250'],
    webhook_p99: ['value<2000'], webhooks_repeated: ['value==0'], dropped_iterations: ['count==0'],
  },
});
export const { options } = load;
export const setup = () => prepare(load);
export const teardown = (data) => finish(data);
export { settle };

export default function steady(data) {
  here(data);
  journey(pick(data.companies));
}

export const handleSummary = summarise('steady', 'an ordinary day at a constant rate', load);
