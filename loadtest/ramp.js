// ramp: ever more orders per second until something gives way. Where is the knee, and does the API say no in an orderly way?
import { number, seconds } from './lib/config.js';
import { pick } from './lib/data.js';
import { SLICES, here, plan } from './lib/plan.js';
import { finish, placeOrder, prepare, settle } from './lib/shop.js';
import { short, summarise } from './lib/summary.js';

const last = seconds('DURATION', 180);
const start = number('START', 50);
const rate = number('RATE', 2000);
const load = plan({
  loads: { ramp: { last, start, stages: [{ seconds: last, target: rate }], vus: number('VUS', 300) } },
  thresholds: { api_available: ['rate>=0.999'] },
});
export const { options } = load;
export const setup = () => prepare(load);
export const teardown = (data) => finish(data, { bound: seconds('WAIT', 180) });
export { settle };

export default function ramp(data) {
  here(data);
  placeOrder(pick(data.companies));
}

const GOOD_P95 = 250; // ms
const KEPT_UP = 0.95; // share of what was offered

// The knee is the last part of the run before the first two in a row that did not keep up.
function knee(m) {
  const length = last / SLICES;
  const parts = Array.from({ length: SLICES }, (_, i) => {
    const offered = start + ((rate - start) * (i + 0.5)) / SLICES;
    const accepted = m.count(`orders_accepted{slice:${i}}`) / length;
    const p95 = m.at(`order_duration{slice:${i}}`, 'p(95)');
    return { offered, accepted, p95, good: accepted >= KEPT_UP * offered && p95 <= GOOD_P95 };
  });
  const end = parts.findIndex((p, i) => !p.good && !(parts[i + 1] || p).good);
  return { parts, at: end < 0 ? parts[SLICES - 1] : parts[end - 1], reached: end >= 0 };
}

export const handleSummary = summarise('ramp', 'ever more orders per second until something gives way', load, {
  notes: (m) => {
    const k = knee(m);
    const best = Math.max(...k.parts.map((p) => p.accepted));
    if (!k.at) return [`The API did not keep up with even the first ${start} orders/s.`, `Most accepted in any part of the run: ${short(best)} orders/s.`];
    const found = k.reached ? 'Knee' : 'No knee up to';
    return [`${found}: ${short(k.at.offered)} orders/s offered, ${short(k.at.accepted)} accepted, p95 ${short(k.at.p95)} ms.`, `Most accepted in any part of the run: ${short(best)} orders/s.`];
  },
  judge: (m) => [{ rule: 'the API keeps up with the rate of the start', value: `${short(knee(m).parts[0].accepted)} of ${short(knee(m).parts[0].offered)} orders/s`, ok: knee(m).at !== undefined }],
});
