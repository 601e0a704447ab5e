// summary.html: one page without anything from outside.
import { perOrder, short } from './figures.js';

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const text = (value) => String(value).replace(/[&<>"]/g, (c) => escapes[c]);

const style = `
:root { color-scheme: light dark; --good: #137333; --bad: #b3261e; --line: #8884; --bar: #4c7bd9; --curve: #d9822b; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.about { margin: .2rem 0 1rem; opacity: .8; }
.verdict { display: inline-block; padding: .1rem .6rem; border-radius: .3rem; color: #fff; font-size: 1rem; margin-right: .5rem; }
.good { background: var(--good); } .bad { background: var(--bad); }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } .no td { color: var(--bad); font-weight: 600; }
svg { width: 100%; height: auto; } svg text { font: 11px system-ui, sans-serif; fill: currentColor; }
`;

const names = {
  order_duration: 'Order, from the first try to the answer', read_duration: 'Read', 'http_req_duration{side:api}': 'Every request', iteration_duration: 'Iteration',
};

const row = (cells, cls = '') => `<tr class="${cls}">${cells.map((c, i) => `<td class="${i ? 'n' : ''}">${text(c)}</td>`).join('')}</tr>`;
const table = (head, rows) => `<table><thead><tr>${head.map((h, i) => `<th class="${i ? 'n' : ''}">${text(h)}</th>`).join('')}</tr></thead><tbody>${rows.join('')}</tbody></table>`;

/** page writes the whole document. */
export function page(r) {
  const failed = r.verdicts.filter((v) => !v.ok).length;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${text(r.scenario)}: ${r.ok ? 'passed' : 'failed'}</title><style>${style}</style></head><body>
<h1><span class="verdict ${r.ok ? 'good' : 'bad'}">${r.ok ? 'passed' : `${failed} of ${r.verdicts.length} rules broken`}</span>${text(r.scenario)}</h1>
<p class="about">${text(r.about)}<br>${text(r.api)}, ${short(r.seconds)} s of load, ended ${text(r.endedAt)}${Object.entries(r.settings).map(([k, v]) => `, ${text(k)}=${text(v)}`).join('')}</p>
${r.notes.length ? `<ul>${r.notes.map((n) => `<li>${text(n)}</li>`).join('')}</ul>` : ''}
<h2>Rules</h2>${table(['Rule', 'Measured', ''], r.verdicts.map((v) => row([v.rule, short(v.value), v.ok ? 'kept' : 'broken'], v.ok ? '' : 'no')))}
<h2>Over time</h2>${chart(r.slices)}
<h2>Durations, ms</h2>${table(['', 'p50', 'p90', 'p95', 'p99', 'max', 'samples'], Object.entries(r.durations).map(([name, d]) => row([names[name] || name, short(d.med), short(d['p(90)']), short(d['p(95)']), short(d['p(99)']), short(d.max), short(d.count)])))}
<h2>Load</h2>${facts({
    'Orders accepted': r.load.ordersAccepted, 'Orders accepted per second': r.load.ordersPerSecond, 'Orders stored, by their numbers': r.load.ordersStored, 'Requests': r.load.requests,
    'Requests repeated': r.load.repeated, 'Answers 429': r.load.limited, 'Answers 503, shed': r.load.shed, 'Answers nobody expected': r.load.unexpected, 'Orders given up': r.load.abandoned,
    'Iterations not started for lack of VUs': r.load.dropped,
    ...(r.load.cpuSeconds === null ? {} : { 'Processes behind METRICS_URL': perOrder(r.load), 'Their memory at the end, MiB': Math.round(r.load.memoryBytes / 2 ** 20) }),
  })}
<h2>Receivers</h2>${r.webhooks ? facts({
    'Orders promised': r.webhooks.promised, 'Without an accepted order.created': r.webhooks.missing, 'Refused signatures': r.webhooks.refused,
    'Deliveries that came again after a 2xx': r.webhooks.duplicates, 'Second deliveries of one creation': r.webhooks.repeated,
    'Creations whose answer the client never saw': r.webhooks.unpromised, 'From change to arrival, p50, ms': r.webhooks.p50, 'From change to arrival, p99, ms': r.webhooks.p99,
    'Seconds after the load until all was there': r.webhooks.settledSeconds,
  }) : '<p>Not checked: RECEIVER_URL was not set.</p>'}
</body></html>
`;
}

const facts = (all) => table(['', ''], Object.entries(all).map(([k, v]) => row([k, short(v)])));

// Bars: requests per second, the dark part orders. Curve: p95 of all requests.
function chart(slices) {
  const [w, h, left, bottom] = [900, 240, 90, 24]; // the labels of both axes fit into left
  const most = Math.max(1, ...slices.map((s) => s.requestsPerSecond));
  const slowest = Math.max(1, ...slices.map((s) => s.p95));
  const step = (w - 2 * left) / slices.length;
  const y = (share) => (h - bottom) * (1 - share * 0.9);
  const bar = (s, i, value, opacity) => `<rect x="${left + i * step + 2}" y="${y(value / most)}" width="${step - 4}" height="${h - bottom - y(value / most)}" fill="var(--bar)" opacity="${opacity}"><title>${short(value)}/s</title></rect>`;
  const points = slices.flatMap((s, i) => (s.requestsPerSecond > 0 ? [`${left + (i + 0.5) * step},${y(s.p95 / slowest)}`] : [])).join(' ');
  return `<svg viewBox="0 0 ${w} ${h}" role="img" aria-label="requests per second and p95 over time">
${slices.map((s, i) => bar(s, i, s.requestsPerSecond, 0.35) + bar(s, i, s.ordersPerSecond, 0.9)).join('')}
<polyline points="${points}" fill="none" stroke="var(--curve)" stroke-width="2"/>
<text x="${left - 6}" y="${y(1)}" text-anchor="end">${short(most)}/s</text>${points ? `<text x="${w - left + 6}" y="${y(1)}">${short(slowest)} ms</text>` : ''}
${[0, 5, 10, 15].map((i) => `<text x="${left + i * step}" y="${h - 8}">${short(slices[i].from)} s</text>`).join('')}
</svg><p class="about">Bars: requests per second, the dark part accepted orders. Line: p95 of all requests, where there were any. Left and right: the highest of each.</p>`;
}
