// Scenarios that compare some companies with themselves: first alone, then beside something that should not touch them.
import { RECEIVER, number } from './config.js';
import { measure } from './receiver.js';
import { notWorse } from './summary.js';

/** series are the metrics that the comparison reads; phases are its two. */
export const series = (phases, kind) => phases.flatMap((phase) => [
  `order_duration{group:others,phase:${phase}}`, `webhook_p99{kind:${kind},phase:${phase}}`, `orders_accepted{group:others,phase:${phase}}`,
]);

const FACTOR = 2;
const FLOOR = number('FLOOR', 100); // ms for orders; webhooks, with their polls and batches on the way, get more

/** compare judges orders and webhooks of the others in the second phase by the first. */
export function compare(m, [base, now], kind) {
  const at = (phase) => m.at(`order_duration{group:others,phase:${phase}}`, 'p(99)');
  const out = [notWorse(`p99 of the others' orders, ${now} against ${base}`, at(now), at(base), FACTOR, FLOOR)];
  if (RECEIVER) {
    const arrival = (phase) => m.value(`webhook_p99{kind:${kind},phase:${phase}}`);
    out.push(notWorse(`p99 of the others' webhooks, ${now} against ${base}`, arrival(now), arrival(base), FACTOR, FLOOR * 2.5));
  }
  return out;
}

/** endOf emits what the receivers of a kind measured in the phase that ends. */
export function endOf(data, kind, phase) {
  if (RECEIVER) measure(data.run, kind, phase);
}
