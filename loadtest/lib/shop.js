// Setup and teardown of a run, and what integrations do in between.
import exec from 'k6/execution';
import http from 'k6/http';
import { check, sleep } from 'k6';
import { BASE, HOOKS, METRICS, RECEIVER, companies, number, seconds } from './config.js';
import { call, request, uuid } from './client.js';
import { order, pick } from './data.js';
import { goroutines, memory, orders, processor, reads, stored } from './metrics.js';
import * as receiver from './receiver.js';

const SUBSCRIPTION = 'load run';

/**
 * prepare reads what the companies sell and to whom, and subscribes a receiver to each. kindOf tells the kind of the
 * i-th company's receiver: it becomes part of its name, so that reports can tell kinds apart.
 */
export function prepare(plan, { use = number('COMPANIES', 20), kindOf = () => 'all', needReceiver = false } = {}) {
  if (!BASE) exec.test.abort('BASE is not set: give the address of the API, such as http://127.0.0.1:8080/api/external/v1');
  if (companies.length === 0) exec.test.abort('TOKENS is not set: give the file that `tradegrid admin load-data` wrote');
  if (needReceiver && !RECEIVER) exec.test.abort('RECEIVER_URL is not set: this scenario is about receivers, give the address of `tradegrid receiver`');
  const run = `load-${Date.now().toString(36)}`;
  const list = companies.slice(0, use).map((c, i) => ({ ...c, index: i }));
  readRecords(list);
  for (const c of list) c.firstNumber = lastNumber(c);
  if (RECEIVER) subscribe(run, list, kindOf);
  return { run, companies: list, cpu: processes().process_cpu_seconds_total, plan: { total: plan.total, phases: plan.phases, starts: plan.starts }, startedAt: new Date().toISOString() };
}

// many sends requests in parallel, and stops the run at an answer that none of them expects.
function many(requests) {
  const out = [];
  for (let i = 0; i < requests.length; i += 20) {
    for (const res of http.batch(requests.slice(i, i + 20))) {
      if (res.status < 200 || res.status > 299) exec.test.abort(`setup: ${res.request.method} ${res.url} answered ${res.status}: ${res.error || res.body}`);
      out.push(res.body ? res.json() : null);
    }
  }
  return out;
}

const setupRequest = (c, method, path, body) => request(c, method, path, { body, key: method === 'POST' ? uuid() : undefined, tags: { side: 'setup' } });

/** setUp sends one request before or after the load, and returns its answer. */
export const setUp = (c, method, path, body) => many([setupRequest(c, method, path, body)])[0];

const POLL = 0.5; // seconds
const LONGEST_JOB = 120; // seconds

/** jobDone polls a job until it has ended; null if it takes too long. */
export function jobDone(company, job) {
  for (const until = Date.now() + LONGEST_JOB * 1000; Date.now() < until; sleep(POLL)) {
    const res = call(company, 'GET', `/jobs/${job.id}`, { name: '/jobs/{id}' });
    if (res.status === 200 && ['done', 'failed', 'canceled'].includes(res.json().status)) return res.json();
  }
  return null;
}

function readRecords(list) {
  const products = many(list.map((c) => setupRequest(c, 'GET', '/catalog/products?pageSize=100&fields=id,price')));
  const clients = many(list.map((c) => setupRequest(c, 'GET', '/clients?pageSize=100&fields=id&status=active')));
  list.forEach((c, i) => {
    c.products = products[i].items.map(({ id, price }) => ({ id, price }));
    c.clients = clients[i].items.map(({ id }) => id);
    if (c.products.length === 0 || c.clients.length === 0) exec.test.abort(`company ${c.id} has no products or no clients: make companies with \`tradegrid admin load-data\``);
  });
}

function subscribe(run, list, kindOf) {
  removeSubscriptions(list);
  receiver.forget();
  for (const c of list) c.receiver = `${run}.${kindOf(c.index)}.${c.index}`;
  const made = many(list.map((c) => setupRequest(c, 'POST', '/webhooks/subscriptions', { name: SUBSCRIPTION, url: `${HOOKS}/hook/${c.receiver}`, events: ['order.*', 'webhook.test'] })));
  made.forEach((s, i) => receiver.setSecret(list[i].receiver, s.secret));
  receiver.open(list.map((c) => c.receiver));
  many([setupRequest(list[0], 'POST', `/webhooks/subscriptions/${made[0].id}/test`, {})]);
  receiver.waitFor(list[0].receiver, 'webhook.test');
  for (const c of list) receiver.forgetLatency(c.receiver);
}

// Those of an earlier run that was cut short, too: a company may have only 20.
function removeSubscriptions(list) {
  const found = many(list.map((c) => setupRequest(c, 'GET', '/webhooks/subscriptions?pageSize=200')));
  const old = list.flatMap((c, i) => found[i].items.filter((s) => s.name === SUBSCRIPTION).map((s) => setupRequest(c, 'DELETE', `/webhooks/subscriptions/${s.id}`)));
  many(old);
}

function lastNumber(c) {
  const [page] = many([setupRequest(c, 'GET', '/orders?pageSize=1&sort=number&order=desc&fields=id,number')]);
  return page.items.length ? page.items[0].number : 0;
}

/** finish waits for the receivers, counts what is stored, and takes the subscriptions away again. */
export function finish(data, { bound = seconds('WAIT', 60) } = {}) {
  stored.add(data.companies.reduce((sum, c) => sum + lastNumber(c) - c.firstNumber, 0));
  if (RECEIVER) {
    receiver.settleReceivers(data.run, bound);
    removeSubscriptions(data.companies);
  }
  if (METRICS.length === 0) return;
  processor.add(processes().process_cpu_seconds_total - data.cpu);
  measureProcess('end');
}

/** placeOrder places one order and returns it, or null when it was given up. */
export function placeOrder(company, { key = uuid(), tags = {}, limited = false, tries = 5, outage = false } = {}) {
  const { body, total } = order(company);
  const began = Date.now();
  const res = call(company, 'POST', '/orders', { body, key, tags, limited, tries, outage });
  return took(company, res, { total, began, tags });
}

/** took judges the answer to an order, and promises its event to the receiver. */
export function took(company, res, { total, began, tags = {} }) {
  if (res.status !== 201) {
    if (tags.group !== 'flood') orders.abandoned.add(1, tags);
    return null;
  }
  orders.duration.add(Date.now() - began, tags);
  orders.accepted.add(1, tags);
  const made = res.json();
  check(made, { 'the total is the sum of the lines': (o) => o.total === total });
  receiver.promise(company, made.id);
  return made;
}

export function read(company, path, options = {}) {
  const res = call(company, 'GET', path, options);
  if (res.status === 200 || res.status === 304) reads.duration.add(res.timings.duration, options.tags || {});
  return res;
}

// The latest orders of this VU, to go on with.
const latest = [];

/** journey is one thing that an integration does, in the proportions of a working day. */
export function journey(company, tags = {}) {
  const r = Math.random();
  if (r < 0.5) {
    const made = placeOrder(company, { tags });
    if (made) latest.push({ company, id: made.id, next: made.allowedTransitions.filter((s) => s !== 'cancelled')[0] });
    if (latest.length > 20) latest.shift();
  } else if (r < 0.62 && latest.length) {
    moveOrder(pick(latest), tags);
  } else if (r < 0.77 && latest.length) {
    const o = pick(latest);
    const res = read(o.company, `/orders/${o.id}`, { name: '/orders/{id}', tags });
    check(res, { 'an order reads back': (x) => x.status !== 200 || x.json().id === o.id });
  } else if (r < 0.85) {
    read(company, '/orders?pageSize=50&sort=createdAt&order=desc', { name: '/orders', tags });
  } else if (r < 0.93) {
    read(company, `/catalog/products/${pick(company.products).id}`, { name: '/catalog/products/{id}', tags });
  } else {
    read(company, `/clients?search=${pick(['Erika', 'Max', 'Anna', 'Jonas'])}&pageSize=20`, { name: '/clients', tags });
  }
}

// moveOrder takes an order one status on. Another try of this VU may have moved it already: 409 then.
function moveOrder(o, tags) {
  if (!o.next) return;
  const res = call(o.company, 'POST', `/orders/${o.id}/status/${o.next}`, { body: {}, key: uuid(), name: '/orders/{id}/status/{next}', tags });
  if (res.status === 200) o.next = res.json().allowedTransitions.filter((s) => s !== 'cancelled')[0];
}

/** measureProcess emits memory and goroutines of the processes behind METRICS_URL, added up. */
export function measureProcess(phase) {
  if (METRICS.length === 0) return;
  const now = processes();
  memory.add(now.process_resident_memory_bytes, { phase });
  goroutines.add(now.go_goroutines, { phase });
}

function processes() {
  const sum = { process_resident_memory_bytes: 0, go_goroutines: 0, process_cpu_seconds_total: 0 };
  for (const url of METRICS) {
    const text = String(http.get(url, { tags: { side: 'ops', name: 'metrics' } }).body);
    for (const name of Object.keys(sum)) sum[name] += Number((new RegExp(`^${name} (\\S+)$`, 'm').exec(text) || [])[1] || 0);
  }
  return sum;
}

/** settle is the last iteration of every VU. */
export function settle() {
  exec.vu.metrics.tags.slice = 'end';
  receiver.sendPromises();
}
