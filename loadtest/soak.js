// soak: an ordinary day, for long. Does anything grow, leak or slow down?
import { number, seconds } from './lib/config.js';
import { pick } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { finish, journey, measureProcess, prepare, settle } from './lib/shop.js';
import { notWorse, summarise } from './lib/summary.js';

const last = seconds('DURATION', 1800);
const load = plan({
  loads: {
    soak: { last, rate: number('RATE', 50), vus: number('VUS', 100) },
    early: { at: last / 4, last: 5, once: true, run: 'early' },
    late: { at: last - 5, last: 5, once: true, run: 'late' },
  },
  phases: [{ name: 'first', until: last / 4 }, { name: 'middle', until: (last * 3) / 4 }, { name: 'last', until: last }],
  thresholds: { api_available: ['rate>=0.9995'], webhooks_repeated: ['value==0'] },
  samples: ['order_duration{phase:first}', 'order_duration{phase:last}', 'process_memory_bytes{phase:first}', 'process_memory_bytes{phase:last}',
    'process_goroutines{phase:first}', 'process_goroutines{phase:last}'],
});
export const { options } = load;
export const setup = () => prepare(load);
export const teardown = (data) => finish(data);
export const early = () => measureProcess('first');
export const late = () => measureProcess('last');
export { settle };

export default function soak(data) {
  here(data);
  journey(pick(data.companies));
}

export const handleSummary = summarise('soak', 'an ordinary day, for long', load, {
  judge: (m) => {
    const out = [notWorse('p99 of orders in the last quarter against the first', m.at('order_duration{phase:last}', 'p(99)'), m.at('order_duration{phase:first}', 'p(99)'), 1.5, 100)];
    const [before, after] = ['first', 'last'].map((p) => (m.value(`process_memory_bytes{phase:${p}}`) || 0) / 2 ** 20);
    if (before) out.push({ rule: 'memory at the end: at most 1.5 times that after the first quarter', value: `${before.toFixed(0)} MiB, then ${after.toFixed(0)} MiB`, ok: after <= before * 1.5 });
    const [few, many] = ['first', 'last'].map((p) => m.value(`process_goroutines{phase:${p}}`) || 0);
    if (few) out.push({ rule: 'goroutines at the end: at most 1.5 times those after the first quarter', value: `${few}, then ${many}`, ok: many <= few * 1.5 });
    return out;
  },
});
