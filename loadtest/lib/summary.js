// What a run says at its end: a text for the terminal, summary.json for programs, summary.html for people.
import { BASE, OUT, RECEIVER } from './config.js';
import { SLICES, always } from './plan.js';
import { perOrder, short } from './figures.js';
import { page } from './html.js';
import { inWords } from './rules.js';

/**
 * summarise makes a scenario's handleSummary. judge gets a reader of the metrics and returns verdicts beyond k6's
 * thresholds, [{rule, value, ok}]; notes returns sentences worth reading.
 */
export function summarise(name, about, plan, { judge = () => [], notes = () => [] } = {}) {
  return (data) => {
    const m = reader(data.metrics);
    const verdicts = [...wholeRun(m, data.state, plan.total), ...thresholds(data.metrics), ...checks(data.root_group), ...consistent(m), ...judge(m)];
    verdicts.sort((a, b) => a.ok - b.ok);
    const result = {
      scenario: name, about, ok: verdicts.every((v) => v.ok), api: BASE, receiver: RECEIVER || null, endedAt: new Date().toISOString(),
      seconds: plan.total, settings: settings(), verdicts, notes: notes(m),
      load: {
        ordersAccepted: m.count('orders_accepted'), ordersPerSecond: m.count('orders_accepted') / plan.total, ordersStored: m.value('orders_stored'),
        requests: m.count('http_reqs{side:api}'), repeated: m.count('requests_repeated'), limited: m.count('answers_limited'),
        shed: m.count('answers_shed'), unexpected: m.count('answers_unexpected'), abandoned: m.count('orders_abandoned'), dropped: m.count('dropped_iterations'),
        cpuSeconds: m.value('process_cpu_seconds'), memoryBytes: m.value('process_memory_bytes'),
      },
      durations: durations(data.metrics), webhooks: RECEIVER ? webhooks(m) : null, slices: slices(m, plan.total),
    };
    const out = { stdout: text(result) };
    if (OUT) {
      out[`${OUT}/summary.json`] = JSON.stringify(result, null, 2) + '\n';
      out[`${OUT}/summary.html`] = page(result);
    }
    return out;
  };
}

/** reader reads figures; what was never measured is 0, or null for a gauge. */
function reader(metrics) {
  const values = (name) => (metrics[name] || { values: {} }).values;
  return {
    has: (name) => metrics[name] !== undefined,
    count: (name) => values(name).count || 0,
    value: (name) => (values(name).value === undefined ? null : values(name).value),
    at: (name, stat) => values(name)[stat] || 0,
  };
}

function thresholds(metrics) {
  const out = [];
  for (const [name, metric] of Object.entries(metrics)) {
    for (const [rule, t] of Object.entries(metric.thresholds || {})) {
      if (always.includes(rule)) continue;
      out.push({ rule: inWords(name, rule), value: withUnit(figure(metric, rule, !name.startsWith('webhook_p') || arrived(metrics)), name, rule), ok: t.ok });
    }
  }
  return out;
}

function withUnit(value, name, rule) {
  if (value === null) return value;
  if (rule.startsWith('rate')) return `${short(value * 100)} %`;
  return rule.startsWith('p(') || name.startsWith('webhook_p') ? `${short(value)} ms` : value;
}

const arrived = (metrics) => metrics.webhooks_arrived !== undefined && metrics.webhooks_arrived.values.value > 0;

// Rules that nothing was measured for would all be kept.
function wholeRun(m, state, total) {
  const took = Math.floor(state.testRunDurationMs / 1000);
  return [{ rule: 'the load ran to its end', value: `${m.count('iterations')} iterations in ${took} s`, ok: m.count('iterations') > 0 && took >= total }];
}

// Each check by itself: the threshold says only that one of them failed.
function checks(group) {
  return group.checks.map((c) => ({ rule: `check: ${c.name}`, value: `${c.passes} of ${c.passes + c.fails}`, ok: c.fails === 0 }));
}

// k6 shows a percentile of no samples and a gauge that was never set as 0.
function figure(metric, rule, arrived) {
  const stat = /^[a-z0-9()]+/.exec(rule)[0];
  if (stat.startsWith('p(') ? metric.values.count === 0 : !arrived) return null;
  const value = metric.values[stat === 'p(50)' ? 'med' : stat];
  if (value === undefined) return metric.values.rate !== undefined ? metric.values.rate : metric.values.value;
  return value;
}

// The promises that reached the receiver are all that were made; otherwise the run itself is at fault.
function consistent(m) {
  if (!RECEIVER) return [];
  if (m.value('webhooks_promised') === null) return [{ rule: 'the receivers were asked after the load', value: 'the run was cut short', ok: false }];
  const [promised, accepted] = [m.value('webhooks_promised'), m.count('orders_accepted')];
  return [{ rule: 'every accepted order was promised to its receiver', value: `${promised} of ${accepted}`, ok: promised === accepted }];
}

function durations(metrics) {
  const out = {};
  for (const name of ['order_duration', 'sale_duration', 'booking_duration', 'batch_duration', 'file_duration', 'feed_lag', 'read_duration', 'http_req_duration{side:api}', 'iteration_duration']) {
    if (metrics[name] && metrics[name].values.count !== 0 && metrics[name].values.max > 0) out[name] = metrics[name].values;
  }
  return out;
}

function webhooks(m) {
  const out = {};
  for (const [key, name] of Object.entries({
    promised: 'webhooks_promised', missing: 'webhooks_missing', refused: 'webhooks_refused', duplicates: 'webhooks_duplicates', repeated: 'webhooks_repeated',
    unpromised: 'webhooks_unpromised', settledSeconds: 'webhooks_settled_seconds', p50: 'webhook_p50', p99: 'webhook_p99',
  })) out[key] = m.value(name);
  if (!m.value('webhooks_arrived')) out.p50 = out.p99 = null;
  return out;
}

function slices(m, total) {
  const length = total / SLICES;
  return Array.from({ length: SLICES }, (_, i) => ({
    from: i * length, requestsPerSecond: m.count(`http_reqs{side:api,slice:${i}}`) / length, ordersPerSecond: m.count(`orders_accepted{slice:${i}}`) / length,
    p95: m.at(`http_req_duration{side:api,slice:${i}}`, 'p(95)'), orderP95: m.at(`order_duration{slice:${i}}`, 'p(95)'),
  }));
}

function settings() {
  const out = {};
  for (const key of ['RATE', 'DURATION', 'VUS', 'COMPANIES', 'START', 'FACTOR', 'FLOOR', 'WAIT', 'UNLIMITED', 'BAD', 'KILL', 'KILL_EVERY']) if (__ENV[key]) out[key] = __ENV[key];
  return out;
}

function text(r) {
  const lines = ['', `${r.ok ? 'PASSED' : 'FAILED'}  ${r.scenario}: ${r.about}`, ''];
  for (const v of r.verdicts) lines.push(`  ${v.ok ? 'ok  ' : 'FAIL'}  ${v.rule}  (${short(v.value)})`);
  lines.push('');
  for (const [name, d] of Object.entries(r.durations)) {
    lines.push(`  ${name.padEnd(30)} p50 ${short(d.med)} ms, p95 ${short(d['p(95)'])} ms, p99 ${short(d['p(99)'])} ms, max ${short(d.max)} ms`);
  }
  const l = r.load;
  lines.push(`  orders ${l.ordersAccepted} (${short(l.ordersPerSecond)}/s), requests ${l.requests}, repeated ${l.repeated}, 429 ${l.limited}, 503 shed ${l.shed}, not started for lack of VUs ${l.dropped}`);
  if (l.cpuSeconds !== null) lines.push(`  processes behind METRICS_URL: ${perOrder(l)}, ${short(l.memoryBytes / 2 ** 20)} MiB of memory at the end`);
  if (r.webhooks) {
    const w = r.webhooks;
    lines.push(`  webhooks: promised ${short(w.promised)}, missing ${short(w.missing)}, duplicates ${short(w.duplicates)}, ${w.p50 === null ? 'nothing arrived' : `from change to arrival p50 ${short(w.p50)} ms, p99 ${short(w.p99)} ms`}, all there ${short(w.settledSeconds)} s after the load`);
  } else lines.push('  webhooks: not checked, RECEIVER_URL is not set');
  for (const n of r.notes) lines.push(`  ${n}`);
  if (OUT) lines.push('', `  ${OUT}/summary.html`);
  return lines.join('\n') + '\n';
}

/** notWorse judges one figure against another of the same run; below the floor (ms) a difference means nothing. */
export function notWorse(rule, now, base, factor, floor) {
  return { rule: `${rule}: at most ${factor} times, or ${floor} ms`, value: `${short(now)} ms against ${short(base)} ms`, ok: now <= Math.max(base * factor, floor) };
}
