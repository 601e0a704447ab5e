// Scenarios that compare some companies with themselves: first alone, then beside something that should not touch them.
import { RECEIVER } from './config.js';
import { measure } from './receiver.js';
import { notWorse } from './summary.js';

/** series are the metrics that the comparison reads; phases are its two. */
export const series = (phases, kind) => phases.flatMap((phase) => [
  `order_duration{group:others,phase:${phase}}`, `webhook_p99{kind:${kind},phase:${phase}}`, `orders_accepted{group:others,phase:${phase}}`,
]);

/** compare judges orders and webhooks of the others in the second phase by the first. */
export function compare(m, [base, now], kind, { factor = 2, orderFloor = 100, webhookFloor = 250 } = {}) {
  const at = (phase) => m.at(`order_duration{group:others,phase:${phase}}`, 'p(99)');
  const out = [notWorse(`p99 of the others' orders, ${now} against ${base}`, at(now), at(base), factor, orderFloor)];
  if (RECEIVER) {
    const arrival = (phase) => m.value(`webhook_p99{kind:${kind},phase:${phase}}`);
    out.push(notWorse(`p99 of the others' webhooks, ${now} against ${base}`, arrival(now), arrival(base), factor, webhookFloor));
  }
  return out;
}

/** endOf emits what the receivers of a kind measured in the phase that ends. */
export function endOf(data, kind, phase) {
  if (RECEIVER) measure(data.run, kind, phase);
}
