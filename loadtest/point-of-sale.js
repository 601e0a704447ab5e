// point-of-sale: tills sell, take money, refund and read their shift. Does each shift hold exactly what was sold in it?
import { check } from 'k6';
import { number, seconds } from './lib/config.js';
import { call, uuid } from './lib/client.js';
import { pick, sale } from './lib/data.js';
import { here, plan } from './lib/plan.js';
import { sales, shifts } from './lib/metrics.js';
import { finish, prepare, read, settle, setUp } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const OPENING = 10000; // minor units in each drawer

const load = plan({
  loads: { tills: { last: seconds('DURATION', 60), rate: number('RATE', 100), vus: number('VUS', 100) } },
  thresholds: { api_available: ['rate>=0.9995'], sale_duration: ['p(99)<250'], read_duration: ['p(99)<250'], sales_abandoned: ['count==0'], dropped_iterations: ['count==0'] },
});
export const { options } = load;
export { settle };

export function setup() {
  const data = prepare(load);
  for (const c of data.companies) {
    // One token has one open shift: that of a run that was cut short is closed first.
    const open = call(c, 'GET', '/shifts/current', { expected: [404], tags: { side: 'setup' } });
    if (open.status === 200) closeShift(c, open.json().id);
    c.shift = setUp(c, 'POST', '/shifts/open', { openingCash: OPENING }).id;
  }
  return data;
}

const closeShift = (c, id) => setUp(c, 'POST', `/shifts/${id}/close`, {});

// The latest sales of this VU, to refund or look up.
const latest = [];

export default function till(data) {
  here(data);
  const r = Math.random();
  if (r < 0.7 || latest.length === 0) sell(pick(data.companies));
  else if (r < 0.78) refund();
  else if (r < 0.9) readSale();
  else {
    const company = pick(data.companies);
    read(company, `/shifts/${company.shift}`, { name: '/shifts/{id}' });
  }
}

function sell(company) {
  const { body, total, change, cash } = sale(company);
  const began = Date.now();
  const res = call(company, 'POST', '/sales', { body: { ...body, shiftId: company.shift }, key: uuid() });
  if (res.status !== 201) {
    sales.abandoned.add(1);
    return;
  }
  sales.duration.add(Date.now() - began);
  sales.accepted.add(1);
  sales.cash.add(cash);
  const made = res.json();
  check(made, {
    'the total of a sale is the sum of its lines': (s) => s.total === total,
    'the change is what was given beyond the cash part': (s) => s.changeAmount === change,
  });
  latest.push({ company, id: made.id, cash });
  if (latest.length > 20) latest.shift();
}

// A sale that this VU refunds leaves its list, so it is refunded once.
function refund() {
  const [sold] = latest.splice(Math.floor(Math.random() * latest.length), 1);
  const res = call(sold.company, 'POST', `/sales/${sold.id}/refund`, { body: {}, key: uuid(), name: '/sales/{id}/refund' });
  if (res.status !== 200) {
    sales.abandoned.add(1);
    return;
  }
  sales.refunded.add(1);
  sales.cash.add(-sold.cash);
  check(res.json(), { 'a refund names its sale': (s) => s.refundOfSaleId === sold.id });
}

function readSale() {
  const sold = pick(latest);
  const res = read(sold.company, `/sales/${sold.id}`, { name: '/sales/{id}' });
  check(res, { 'a sale reads back': (x) => x.status !== 200 || x.json().id === sold.id });
}

export function teardown(data) {
  const closed = data.companies.map((c) => closeShift(c, c.shift));
  const sum = (of) => closed.reduce((all, s) => all + of(s), 0);
  shifts.sales.add(sum((s) => s.salesCount));
  shifts.refunds.add(sum((s) => s.refundsCount));
  shifts.cash.add(sum((s) => s.expectedCash - OPENING));
  finish(data);
}

export const handleSummary = summarise('point-of-sale', 'tills sell into shifts', load, {
  judge: (m) => [
    ['sales in the shifts', 'shift_sales', 'sales_accepted'],
    ['refunds in the shifts', 'shift_refunds', 'sales_refunded'],
    ['cash that the shifts expect, in minor units', 'shift_cash', 'sales_cash'],
  ].map(([what, held, counted]) => ({ rule: `${what}: as much as the tills counted`, value: `${m.value(held)} for ${m.count(counted)}`, ok: m.value(held) === m.count(counted) })),
  notes: (m) => [`${m.count('sales_accepted')} sales and ${m.count('sales_refunded')} refunds.`],
});
