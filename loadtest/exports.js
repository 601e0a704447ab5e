// exports: from the half on, companies export their lists again and again. Are the files whole, and do orders notice?
import { check } from 'k6';
import http from 'k6/http';
import { number, seconds } from './lib/config.js';
import { call, request, uuid } from './lib/client.js';
import { compare, endOf, series } from './lib/contrast.js';
import { pick } from './lib/data.js';
import { files } from './lib/metrics.js';
import { here, plan } from './lib/plan.js';
import { finish, jobDone, placeOrder, prepare, settle } from './lib/shop.js';
import { short } from './lib/figures.js';
import { summarise } from './lib/summary.js';

const half = seconds('DURATION', 120) / 2;
const phases = ['alone', 'beside'];
const load = plan({
  loads: {
    orders: { last: 2 * half, rate: number('RATE', 50), vus: number('VUS', 100) },
    exports: { at: half, last: half, rate: number('FACTOR', 4), vus: 40, run: 'exportList' },
    turn: { at: half, last: 5, once: true, run: 'turn' },
  },
  phases: [{ name: phases[0], until: half }, { name: phases[1], until: 2 * half }],
  thresholds: { api_available: ['rate>=0.9995'], files_written: ['count>0'], files_failed: ['count==0'] },
  samples: series(phases, 'all'),
});
export const { options } = load;
export const setup = () => prepare(load);
export const turn = (data) => endOf(data, 'all', phases[0]);
export function teardown(data) {
  endOf(data, 'all', phases[1]);
  finish(data);
}
export { settle };

export default function orders(data) {
  here(data);
  placeOrder(pick(data.companies), { tags: { group: 'others' } });
}

export function exportList(data) {
  here(data);
  const company = pick(data.companies);
  const resource = pick(['products', 'orders', 'clients']);
  const format = pick(['ndjson', 'csv']);
  const began = Date.now();
  const started = call(company, 'POST', '/exports', { body: { resource, format, ...(resource === 'products' ? { filters: { status: ['active', 'hidden'] } } : {}) }, key: uuid() });
  const job = started.status === 202 ? jobDone(company, started.json()) : null;
  if (!job || job.status !== 'done') {
    files.failed.add(1);
    return;
  }
  const r = request(company, 'GET', `/jobs/${job.id}/result`, { name: '/jobs/{id}/result' });
  const res = http.request(r.method, r.url, null, r.params);
  files.duration.add(Date.now() - began);
  files.written.add(1);
  whole(company, resource, format, job, res);
}

// whole looks at the file: every record on a line, each once, and the products that were there before.
function whole(company, resource, format, job, res) {
  const lines = String(res.body).split('\n').filter((l) => l !== '');
  check(lines, { 'a file has as many lines as its job says': () => format === 'csv' || lines.length === job.processed });
  if (format !== 'ndjson') return;
  const ids = new Set(lines.map((l) => JSON.parse(l).id));
  check(ids, {
    'a file holds each record once': () => ids.size === lines.length,
    'a file holds all products': () => resource !== 'products' || company.products.every((p) => ids.has(p.id)),
  });
}

export const handleSummary = summarise('exports', 'companies export their lists beside orders', load, {
  judge: (m) => compare(m, phases, 'all'),
  notes: (m) => [`${m.count('files_written')} files; from the start of the job to the last byte p50 ${short(m.at('file_duration', 'med'))} ms, p95 ${short(m.at('file_duration', 'p(95)'))} ms, polls included.`],
});
