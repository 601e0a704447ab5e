// smoke: does everything answer as described, for a few seconds of little load?
import exec from 'k6/execution';
import http from 'k6/http';
import { check } from 'k6';
import { number, seconds } from './lib/config.js';
import { call, note, request, uuid } from './lib/client.js';
import { order, pick } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { finish, journey, prepare, read, settle, took } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const last = seconds('DURATION', 10);
const load = plan({
  loads: { smoke: { last, rate: number('RATE', 5), vus: number('VUS', 10) } },
  thresholds: { api_available: ['rate==1'], webhooks_unpromised: ['value==0'], webhooks_repeated: ['value==0'] },
});
export const { options } = load;
export const setup = () => prepare(load, { use: number('COMPANIES', 2) });
export const teardown = (data) => finish(data);
export { settle };

export default function smoke(data) {
  here(data);
  const company = pick(data.companies);
  orderTwice(company);
  unchanged(company);
  if (exec.vu.iterationInScenario === 0) refusals(company); // wrong tokens are limited per address
  journey(company);
}

function orderTwice(company) {
  const key = uuid();
  const { body, total } = order(company);
  const began = Date.now();
  const first = call(company, 'POST', '/orders', { body, key });
  const made = took(company, first, { total, began });
  const again = call(company, 'POST', '/orders', { body, key });
  check(again, {
    'a repeat gives the first answer': (r) => made !== null && r.status === 201 && r.json().id === made.id,
    'and says that it is one': (r) => r.headers['X-Idempotent-Replayed'] === 'true',
  });
  const other = call(company, 'POST', '/orders', { body: { ...body, note: 'another order' }, key, expected: [422] });
  check(other, { 'another body under the same key is refused': (r) => r.status === 422 && r.json().code === 'IDEMPOTENCY_KEY_REUSED' });
}

function unchanged(company) {
  const path = `/catalog/products/${pick(company.products).id}`;
  const tag = read(company, path, { name: '/catalog/products/{id}' }).headers.Etag;
  const again = read(company, path, { name: '/catalog/products/{id}', headers: { 'If-None-Match': tag } });
  check(again, { 'what is unchanged answers 304': (r) => r.status === 304 });
}

function refusals(company) {
  const stranger = request({ token: 'svc_test_c1nobody_nothing' }, 'GET', '/catalog/units');
  check(note(http.request(stranger.method, stranger.url, null, stranger.params), [401]), { 'a wrong token is refused': (r) => r.status === 401 || r.status === 429 });
  const bad = call(company, 'POST', '/orders', { body: { items: [] }, key: uuid(), expected: [400] });
  check(bad, { 'an order without lines is refused': (r) => r.status === 400 && r.json().code === 'VALIDATION_ERROR' });
}

export const handleSummary = summarise('smoke', 'everything answers as described', load);
