// Thresholds in words, for the summary.

const measured = {
  checks: 'Checks that hold', api_available: 'Requests that are answered, and not by a 5xx', answers_unexpected: 'Answers nobody expected', answers_limited: 'Answers 429',
  answers_unchanged: 'Answers 304', answers_packed: 'Compressed answers', pulls: 'Pulls to the last page', orders_abandoned: 'Orders given up',
  order_duration: 'Order, from the first try to the answer', read_duration: 'Read', dropped_iterations: 'Iterations not started for lack of VUs',
  webhooks_missing: 'Orders without an accepted order.created', webhooks_refused: 'Refused signatures', webhooks_unpromised: 'Creations whose answer the client never saw',
  webhooks_repeated: 'Second deliveries of one creation', webhook_p99: 'From change to arrival, p99',
  sale_duration: 'Sale, from the first try to the answer', sales_abandoned: 'Sales and refunds given up', booking_duration: 'Answers to all clients of a slot',
  items_failed: 'Items that were not written', files_written: 'Files', files_failed: 'Exports that failed', feed_read: 'Events read',
};
const bounds = { '==': '', '>=': 'at least ', '<=': 'at most ', '>': 'more than ', '<': 'less than ' };

/** inWords says a threshold such as 'order_duration{phase:after}', 'p(99)<250'. It throws on one that has no words. */
export function inWords(metric, threshold) {
  const [, name, , tags] = /^(\w+)(\{(.*)\})?$/.exec(metric) || [];
  const [, stat, percentile, how, limit] = /^(rate|count|value|p\((\d+)\))(==|>=|<=|>|<)([\d.]+)$/.exec(threshold) || [];
  if (measured[name] === undefined || stat === undefined) throw new Error(`loadtest/lib/rules.js has no words for ${metric}: ${threshold}`);
  const where = tags ? ` (${tags.replace(/:/g, ' ').replace(/,/g, ', ')})` : '';
  return `${measured[name]}${where}${percentile ? `, p${percentile}` : ''}: ${amount(name, stat, how, Number(limit))}`;
}

function amount(name, stat, how, limit) {
  if (stat === 'rate') return how === '==' && limit === 1 ? 'all' : `${bounds[how]}${Number((limit * 100).toFixed(3))} %`;
  if (how === '==' && limit === 0) return 'none';
  if (how === '>' && limit === 0) return 'at least one';
  return `${bounds[how]}${limit}${stat.startsWith('p(') || name === 'webhook_p99' ? ' ms' : ''}`;
}
