// batch-sync: integrations write their catalog in batches, the same products again and again. Is every item answered, and is
// each product there once, as it was sent last?
import { check, sleep } from 'k6';
import exec from 'k6/execution';
import { number, seconds } from './lib/config.js';
import { call, uuid } from './lib/client.js';
import { batches } from './lib/metrics.js';
import { here, plan } from './lib/plan.js';
import { finish, jobDone, prepare, read, settle, setUp } from './lib/shop.js';
import { short } from './lib/figures.js';
import { summarise } from './lib/summary.js';

const SIZE = Math.min(number('FACTOR', 100), 1000); // items of a batch; above 200 they run as a job
const load = plan({
  loads: { batches: { last: seconds('DURATION', 60), rate: number('RATE', 4), vus: number('VUS', 20) } },
  thresholds: { api_available: ['rate>=0.9995'], items_failed: ['count==0'], dropped_iterations: ['count==0'] },
});
export const { options } = load;
export const setup = () => prepare(load);
export { settle };

export default function sync(data) {
  here(data);
  const company = data.companies[exec.scenario.iterationInTest % data.companies.length];
  const price = 100 + Math.floor(Math.random() * 20000);
  const items = Array.from({ length: SIZE }, (_, i) => ({
    op: 'upsert', source: data.run, externalId: `item-${i + 1}`, body: { name: `Synced product ${i + 1}`, price: price + i },
  }));
  const began = Date.now();
  const results = send(company, items);
  if (!results) {
    batches.failed.add(SIZE);
    return;
  }
  batches.duration.add(Date.now() - began);
  batches.items.add(results.length);
  const failed = results.filter((r) => r.status > 299);
  batches.failed.add(failed.length);
  if (failed.length && __ENV.VERBOSE) console.error(`item ${failed[0].index} answered ${failed[0].status} ${failed[0].code}: ${failed[0].message}`);
  check(results, { 'every item is answered, in its place': (list) => list.length === SIZE && list.every((r, i) => r.index === i) });
  const { id } = results[exec.scenario.iterationInTest % SIZE];
  const res = id && read(company, `/catalog/products/${id}`, { name: '/catalog/products/{id}' });
  check(res, { 'an item reads back': (x) => x && x.status === 200 && x.json().source === data.run });
}

// send returns the results of a batch, or null. Items that could not be written because others wrote the same products are
// sent again: the whole batch, with its key.
function send(company, items) {
  const key = uuid();
  let results = null;
  for (let n = 0; n < 5; n++) {
    results = sendOnce(company, items, key);
    if (!results || !results.some((r) => r.status === 503)) return results;
    batches.repeated.add(1);
    sleep(0.5 * 2 ** n * (0.8 + 0.4 * Math.random()));
  }
  return results;
}

function sendOnce(company, items, key) {
  const res = call(company, 'POST', '/catalog/products/batch', { body: { items }, key, timeout: '60s' });
  if (res.status === 200) return res.json().results;
  if (res.status !== 202) return null;
  const job = jobDone(company, res.json());
  if (!job || job.status !== 'done') return null;
  const file = call(company, 'GET', `/jobs/${job.id}/result`, { name: '/jobs/{id}/result' });
  return file.status === 200 ? String(file.body).split('\n').filter((l) => l !== '').map((l) => JSON.parse(l)) : null;
}

export function teardown(data) {
  const totals = data.companies.map((c) => setUp(c, 'GET', `/catalog/products?source=${data.run}&pageSize=1`).total).filter((n) => n > 0);
  batches.synced.add(totals.length);
  batches.stored.add(totals.reduce((sum, n) => sum + n, 0));
  finish(data);
}

export const handleSummary = summarise('batch-sync', 'integrations write their catalog in batches', load, {
  judge: (m) => [{
    rule: `products stored: ${SIZE} in each company that was synced`, value: `${m.value('items_stored')} in ${m.value('companies_synced')}`,
    ok: m.value('companies_synced') > 0 && m.value('items_stored') === SIZE * m.value('companies_synced'),
  }],
  notes: (m) => [`${m.count('items_written')} items in batches of ${SIZE}, p50 ${short(m.at('batch_duration', 'med'))} ms, p95 ${short(m.at('batch_duration', 'p(95)'))} ms a batch; ${m.count('batches_repeated')} were sent again because of others.`],
});
