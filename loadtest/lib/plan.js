// Turns a short description of the load into k6's options, and knows where in the run one is.
import exec from 'k6/execution';
import { inWords } from './rules.js';

export const SLICES = 20; // parts of the run that the summary shows one by one
const GRACE = 10; // seconds that requests in flight get at the end of a load

/**
 * plan makes k6's options, and what `here` needs to know. Each load has a name and: at (seconds after the start), last (seconds),
 * rate or stages ([{seconds, target}] with start), vus, run (the function), once (a single iteration),
 * everyVU (each VU runs on its own, without a rate). Phases
 * are [{name, until}] in seconds; every sample carries the tags phase and slice.
 */
export function plan({ loads, phases = [], thresholds = {}, samples = [] }) {
  const total = Math.max(...Object.values(loads).map((l) => (l.at || 0) + (l.last || 0)));
  for (const [metric, rules] of Object.entries(thresholds)) rules.forEach((rule) => inWords(metric, rule)); // fails before the load, not after it
  const scenarios = {};
  for (const [name, l] of Object.entries(loads)) scenarios[name] = executor(l);
  // The last scenario takes every VU of the run once, so that each sends the promises that it still holds.
  scenarios.settle = {
    executor: 'per-vu-iterations', exec: 'settle', vus: vusAtOnce(loads), iterations: 1,
    startTime: `${total + GRACE}s`, maxDuration: '60s', gracefulStop: '0s',
  };
  const options = {
    scenarios,
    thresholds: { ...everywhere, ...thresholds, ...shown(samples) },
    setupTimeout: '10m', teardownTimeout: '30m',
    summaryTrendStats: ['count', 'min', 'avg', 'med', 'p(90)', 'p(95)', 'p(99)', 'max'],
    userAgent: 'tradegrid-load/1.0',
    tags: { side: 'api' },
  };
  return { options, total, phases, starts: Object.fromEntries(Object.entries(loads).map(([n, l]) => [n, l.at || 0])) };
}

const everywhere = {
  checks: ['rate==1'],
  answers_unexpected: ['count==0'],
  orders_abandoned: ['count==0'],
  webhooks_missing: ['value==0'],
  webhooks_refused: ['value==0'],
};

function executor(l) {
  const common = { exec: l.run || 'default', startTime: `${l.at || 0}s`, gracefulStop: `${GRACE}s`, tags: l.tags || {} };
  if (l.once) return { ...common, executor: 'per-vu-iterations', vus: 1, iterations: 1, maxDuration: `${l.last}s` };
  if (l.everyVU) return { ...common, executor: 'constant-vus', vus: l.vus, duration: `${l.last}s` };
  const arrival = { ...common, timeUnit: '1s', preAllocatedVUs: l.vus, maxVUs: l.vus };
  if (!l.stages) return { ...arrival, executor: 'constant-arrival-rate', rate: Math.round(l.rate), duration: `${l.last}s` };
  const stages = l.stages.map((s) => ({ duration: `${s.seconds}s`, target: Math.round(s.target) }));
  return { ...arrival, executor: 'ramping-arrival-rate', startRate: Math.round(l.start), stages };
}

function vusAtOnce(loads) {
  const all = Object.values(loads).map((l) => ({ from: l.at || 0, to: (l.at || 0) + l.last + GRACE, vus: l.once ? 1 : l.vus }));
  return Math.max(...all.map((a) => all.filter((b) => b.from <= a.from && a.from < b.to).reduce((sum, b) => sum + b.vus, 0)));
}

// k6 keeps a tagged series for the summary only where a threshold names it; these can never fail.
function shown(samples) {
  const out = {};
  const show = (metric, rule) => { out[metric] = [rule]; };
  for (let i = 0; i < SLICES; i++) {
    show(`http_reqs{side:api,slice:${i}}`, 'count>=0');
    show(`orders_accepted{slice:${i}}`, 'count>=0');
    show(`order_duration{slice:${i}}`, 'max>=0');
    show(`http_req_duration{side:api,slice:${i}}`, 'max>=0');
  }
  show('http_reqs{side:api}', 'count>=0');
  show('http_req_duration{side:api}', 'max>=0');
  for (const metric of samples) show(metric, metric.includes('duration') ? 'max>=0' : metric.startsWith('webhook_') || metric.startsWith('process_') ? 'value>=0' : 'count>=0');
  return out;
}

/** always names the rules that only keep a series in the summary. */
export const always = ['count>=0', 'max>=0', 'value>=0'];

/** here tags what follows in this VU with the part of the run, and returns the phase. */
export function here(data) {
  const { total, phases, starts } = data.plan;
  const elapsed = (Date.now() - exec.scenario.startTime) / 1000 + (starts[exec.scenario.name] || 0);
  const phase = (phases.find((p) => elapsed < p.until) || phases[phases.length - 1] || { name: 'run' }).name;
  exec.vu.metrics.tags.slice = String(Math.min(SLICES - 1, Math.floor((elapsed / total) * SLICES)));
  exec.vu.metrics.tags.phase = phase;
  return phase;
}
