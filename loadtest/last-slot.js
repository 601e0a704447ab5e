// last-slot: several clients book the one free slot at the same moment, again and again. Does exactly one of them get it?
import { check } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { number, seconds } from './lib/config.js';
import { call, note, request, uuid } from './lib/client.js';
import { bookings } from './lib/metrics.js';
import { here, plan } from './lib/plan.js';
import { finish, prepare, settle, setUp } from './lib/shop.js';
import { summarise } from './lib/summary.js';

const RIVALS = number('FACTOR', 8); // clients for each slot
const SLOT = 15; // minutes
const A_DAY = (24 * 60) / SLOT;

const load = plan({
  loads: { slots: { last: seconds('DURATION', 30), rate: number('RATE', 20), vus: number('VUS', 60) } },
  thresholds: { api_available: ['rate>=0.9995'], booking_duration: ['p(99)<1000'], dropped_iterations: ['count==0'] },
});
export const { options } = load;
export { settle };

export function setup() {
  const data = prepare(load);
  for (const c of data.companies) {
    c.resource = setUp(c, 'POST', '/scheduling/resources', {
      type: 'seat', name: `Seat of ${data.run}`, timeZone: 'Etc/UTC', slotStepMinutes: SLOT, parallelBookings: 1,
      workingHours: [1, 2, 3, 4, 5, 6, 7].map((weekday) => ({ weekday, from: '00:00', to: '23:45' })),
    }).id;
  }
  data.firstDay = new Date(Date.now() + 86400e3).setUTCHours(0, 0, 0, 0);
  return data;
}

// slot returns the start of the n-th slot of a company; the last one of each day is outside of the working hours.
function slot(data, n) {
  const [day, place] = [Math.floor(n / (A_DAY - 1)), n % (A_DAY - 1)];
  return new Date(data.firstDay + (day * A_DAY + place) * SLOT * 60e3).toISOString();
}

export default function rush(data) {
  here(data);
  const n = exec.scenario.iterationInTest;
  const company = data.companies[n % data.companies.length];
  const startAt = slot(data, Math.floor(n / data.companies.length));
  const rivals = Array.from({ length: RIVALS }, (_, i) => ({
    key: uuid(), body: { resourceId: company.resource, startAt, durationMinutes: SLOT, customerName: `Guest ${i + 1}`, customerPhone: `+49 30 ${1000000 + i}` },
  }));
  const began = Date.now();
  const all = http.batch(rivals.map((r) => request(company, 'POST', '/scheduling/bookings', r))).map((res) => note(res, [409]));
  // Whoever was told to come back does so under the same key.
  const ends = all.map((res, i) => ([201, 409].includes(res.status) ? res : call(company, 'POST', '/scheduling/bookings', { ...rivals[i], expected: [409] })));
  bookings.duration.add(Date.now() - began);
  const taken = ends.filter((res) => res.status === 201).length;
  bookings.accepted.add(taken);
  bookings.slots.add(1);
  check(ends, {
    'exactly one client gets the slot': () => taken === 1,
    'the others are told that it is taken': (list) => list.every((res) => res.status === 201 || (res.status === 409 && res.json().code === 'BOOKING_SLOT_TAKEN')),
  });
}

export function teardown(data) {
  let stored = 0;
  for (const c of data.companies) {
    stored += setUp(c, 'GET', `/scheduling/bookings?resourceId=${c.resource}&pageSize=1`).total;
    setUp(c, 'PATCH', `/scheduling/resources/${c.resource}`, { isActive: false });
  }
  bookings.stored.add(stored);
  finish(data);
}

export const handleSummary = summarise('last-slot', 'several clients want the one free slot', load, {
  judge: (m) => [{
    rule: 'bookings stored: one for each slot', value: `${m.value('bookings_stored')} for ${m.count('slots_offered')} slots`,
    ok: m.value('bookings_stored') === m.count('slots_offered') && m.count('bookings_accepted') === m.count('slots_offered'),
  }],
  notes: (m) => [`${m.count('slots_offered')} slots, ${RIVALS} clients each.`],
});
