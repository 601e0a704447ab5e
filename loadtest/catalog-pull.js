// catalog-pull: shops copy whole catalogs and then ask for what has changed, while prices change. Does each copy hold
// every product once, and does what is unchanged cost little?
import { check } from 'k6';
import { Counter, Trend } from 'k6/metrics';
import exec from 'k6/execution';
import { number, seconds } from './lib/config.js';
import { call, uuid } from './lib/client.js';
import { pick } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { finish, prepare, read, settle } from './lib/shop.js';
import { short } from './lib/figures.js';
import { summarise } from './lib/summary.js';

const pulls = new Counter('pulls');
const pullDuration = new Trend('pull_duration', true);
const unchanged = new Counter('answers_unchanged');
const packed = new Counter('answers_packed');

const last = seconds('DURATION', 60);
const load = plan({
  loads: {
    pull: { last, rate: number('RATE', 30), vus: number('VUS', 60) },
    change: { last, rate: 5, vus: 10, run: 'change' },
  },
  thresholds: { api_available: ['rate==1'], read_duration: ['p(99)<250'], answers_unchanged: ['count>0'], answers_packed: ['count>0'], pulls: ['count>0'] },
});
export const { options } = load;
export const setup = () => prepare(load);
export const teardown = (data) => finish(data);
export { settle };

const PAGE = 20; // small on purpose: a pull crosses several cursors while prices change

// pages follows the cursors of a list and returns its items.
function pages(company, query) {
  const items = [];
  let cursor = '';
  for (let n = 0; n < 1000; n++) {
    const res = read(company, `/catalog/products?pageSize=${PAGE}&${query}${cursor}`, { name: '/catalog/products' });
    if (res.status !== 200) return null;
    if (res.headers['Content-Encoding'] === 'gzip') packed.add(1);
    const page = res.json();
    items.push(...page.items);
    if (!page.nextCursor) return items;
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  }
  return null;
}

// A VU is one shop: it copies one company's catalog, and keeps it between two pulls.
let copy = null;

export default function pull(data) {
  here(data);
  const company = data.companies[exec.vu.idInTest % data.companies.length];
  const began = Date.now();
  if (!copy) copy = copyAll(company, began);
  else if (Math.random() < 0.4) askAgain(company);
  else update(company, began);
  pullDuration.add(Date.now() - began);
  pulls.add(1);
}

// The overlap makes up for clocks that differ and for changes that were under way.
const since = (began) => encodeURIComponent(new Date(began - 5000).toISOString());

function copyAll(company, began) {
  const items = pages(company, 'sort=createdAt');
  const ids = new Set((items || []).map((p) => p.id));
  check(items, {
    'a pull is complete': (list) => list !== null && company.products.every((p) => ids.has(p.id)),
    'a pull holds each product once': (list) => list !== null && ids.size === list.length,
  });
  return { at: began, products: new Map((items || []).map((p) => [p.id, p.version])) };
}

function update(company, began) {
  const items = pages(company, `updatedSince=${since(copy.at)}`);
  check(items, { 'an update never goes back': (list) => list !== null && list.every((p) => p.version >= (copy.products.get(p.id) || 0)) });
  for (const p of items || []) copy.products.set(p.id, p.version);
  copy.at = began;
}

function askAgain(company) {
  const [id, version] = pick([...copy.products]);
  const res = read(company, `/catalog/products/${id}`, { name: '/catalog/products/{id}', headers: { 'If-None-Match': `"${version}"` } });
  if (res.status === 304) unchanged.add(1);
  else check(res, { 'what has changed has a later version': (r) => r.status === 200 && r.json().version > version });
}

export function change(data) {
  here(data);
  const company = pick(data.companies);
  const { id } = pick(company.products);
  call(company, 'PATCH', `/catalog/products/${id}`, { body: { price: 100 + Math.floor(Math.random() * 20000) }, key: uuid(), name: '/catalog/products/{id}' });
}

export const handleSummary = summarise('catalog-pull', 'shops copy catalogs while prices change', load, {
  notes: (m) => [`${m.count('pulls')} pulls, p95 ${short(m.at('pull_duration', 'p(95)'))} ms each; ${m.count('answers_packed')} pages came compressed, ${m.count('answers_unchanged')} records were unchanged and cost a 304.`],
});
