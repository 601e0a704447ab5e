// spike: ten times the load within two seconds, and gone again. Is everything as before afterwards?
import { number, seconds } from './lib/config.js';
import { pick } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { finish, placeOrder, prepare, settle } from './lib/shop.js';
import { notWorse, summarise } from './lib/summary.js';

const rate = number('RATE', 50);
const peak = rate * number('FACTOR', 10);
const third = seconds('DURATION', 90) / 3;
const load = plan({
  loads: {
    spike: {
      last: 3 * third + 4, start: rate, vus: number('VUS', 300),
      stages: [{ seconds: third, target: rate }, { seconds: 2, target: peak }, { seconds: third, target: peak }, { seconds: 2, target: rate }, { seconds: third, target: rate }],
    },
  },
  // What the spike left in the queue of the load generator itself is no longer "after".
  phases: [{ name: 'before', until: third }, { name: 'spike', until: third * 2 + 4 }, { name: 'settling', until: third * 2 + 4 + third / 3 }, { name: 'after', until: 3 * third + 4 }],
  thresholds: { api_available: ['rate>=0.999'], 'orders_abandoned{phase:after}': ['count==0'] },
  samples: ['order_duration{phase:before}', 'order_duration{phase:spike}', 'order_duration{phase:after}'],
});
export const { options } = load;
export const setup = () => prepare(load);
export const teardown = (data) => finish(data, { bound: seconds('WAIT', 180) });
export { settle };

export default function spike(data) {
  here(data);
  placeOrder(pick(data.companies));
}

export const handleSummary = summarise('spike', 'ten times the load at once, and gone again', load, {
  judge: (m) => [notWorse('p95 of orders after the spike against before', m.at('order_duration{phase:after}', 'p(95)'), m.at('order_duration{phase:before}', 'p(95)'), 2, 100)],
});
