// ramp: ever more orders per second until something gives way. Where is the knee, and does the API say no in an orderly way?
import { number, seconds } from './lib/config.js';
import { pick } from './lib/data.js';
import { SLICES, here, plan } from './lib/plan.js';
import { finish, placeOrder, prepare, settle } from './lib/shop.js';
import { short } from './lib/figures.js';
import { summarise } from './lib/summary.js';

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

// The knee is the highest rate that two parts of the run in a row kept up with. Parts before it that did not are told:
// on a machine that does other work too, they are its doing.
function knee(m) {
  const length = last / SLICES;
  const parts = Array.from({ length: SLICES }, (_, i) => {
    const offered = start + ((rate - start) * (i + 0.5)) / SLICES;
    const accepted = m.count(`orders_accepted{slice:${i}}`) / length;
    const p95 = m.at(`order_duration{slice:${i}}`, 'p(95)');
    return { offered, accepted, p95, good: accepted >= KEPT_UP * offered && p95 <= GOOD_P95 };
  });
  const at = parts.findLastIndex((p, i) => p.good && i > 0 && parts[i - 1].good);
  return { parts, at: parts[at], reached: at < SLICES - 1, worse: parts.slice(0, Math.max(at, 0)).filter((p) => !p.good).length };
}

export const handleSummary = summarise('ramp', 'ever more orders per second until something gives way', load, {
  notes: (m) => {
    const k = knee(m);
    const best = Math.max(...k.parts.map((p) => p.accepted));
    const most = `Most accepted in any part of the run: ${short(best)} orders/s.`;
    if (!k.at) return [`No rate was kept up with at p95 up to ${GOOD_P95} ms, not even the first.`, most];
    const found = `${k.reached ? 'Knee' : 'No knee up to'}: ${short(k.at.offered)} orders/s offered, ${short(k.at.accepted)} accepted, p95 ${short(k.at.p95)} ms.`;
    return k.worse ? [found, `${k.worse} of ${SLICES} parts before it did worse: does the machine do other work?`, most] : [found, most];
  },
  judge: (m) => [{ rule: 'the API keeps up with the rate of the start', value: `${short(knee(m).parts[0].accepted)} of ${short(knee(m).parts[0].offered)} orders/s`, ok: knee(m).parts[0].accepted >= KEPT_UP * knee(m).parts[0].offered }],
});
