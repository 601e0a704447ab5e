// An API client that behaves as an integration should: one idempotency key per change, the same key on every
// try, pauses that grow, Retry-After honoured, an end to it.
import http from 'k6/http';
import { sleep } from 'k6';
import { BASE } from './config.js';
import { answers } from './metrics.js';

const TIMEOUT = '15s';
const LONGEST_PAUSE = 5; // seconds

http.setResponseCallback(http.expectedStatuses({ min: 200, max: 399 }, 429, 503));

/** uuid is a random one, version 4. */
export function uuid() {
  return 'xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx'.replace(/[xy]/g, (c) => {
    const r = Math.floor(Math.random() * 16);
    return (c === 'x' ? r : (r & 3) | 8).toString(16);
  });
}

/** request describes one request; k6 groups its figures by name, not by URL. */
export function request(company, method, path, { body, key, name, headers = {}, tags = {}, timeout = TIMEOUT, limited = false } = {}) {
  const all = { Authorization: `Bearer ${limited ? company.limitedToken : company.token}`, 'Accept-Encoding': 'gzip', ...headers };
  if (body !== undefined) all['Content-Type'] = 'application/json';
  if (key) all['X-Idempotency-Key'] = key;
  return {
    method, url: BASE + path, body: body === undefined ? null : JSON.stringify(body),
    params: { headers: all, timeout, tags: { name: `${method} ${name || path.split('?')[0]}`, side: 'api', ...tags } },
  };
}

/** note counts what kind of answer came; expected lists statuses that the caller asked for. During an outage no answer is none of them. */
export function note(res, expected = [], tags = {}, outage = false) {
  answers.available.add(!(res.status === 0 || (res.status >= 500 && res.status !== 503)), tags);
  if (res.status === 429) answers.limited.add(1, tags);
  else if (res.status === 503) answers.shed.add(1, tags);
  else if (!(res.status >= 200 && res.status < 400) && !expected.includes(res.status) && !unfinished(res) && !(outage && res.status === 0)) {
    answers.unexpected.add(1, { ...tags, status: String(res.status) });
    if (__ENV.VERBOSE) console.error(`${res.request.method} ${res.url} answered ${res.status}: ${res.error || res.body}`);
  }
  return res;
}

/** unfinished says that another request with the same key is still being worked on. */
export const unfinished = (res) => res.status === 409 && String(res.body).includes('IDEMPOTENCY_IN_FLIGHT');

const worthAnotherTry = (res) => [0, 429, 500, 502, 503, 504].includes(res.status) || unfinished(res);

/** call sends a request and repeats it as long as that can help, at most `tries` times. */
export function call(company, method, path, options = {}) {
  const { tries = 5, expected = [], tags = {}, outage = false } = options;
  const req = request(company, method, path, options);
  for (let n = 1; ; n++) {
    const res = note(http.request(req.method, req.url, req.body, req.params), expected, tags, outage);
    if (n >= tries || expected.includes(res.status) || !worthAnotherTry(res)) return res;
    pause(res, n);
    answers.repeated.add(1, tags);
  }
}

function pause(res, n) {
  const asked = Number(res.headers['Retry-After'] || 0);
  const own = 0.2 * 2 ** (n - 1);
  sleep(Math.min(Math.max(asked, own), LONGEST_PAUSE) * (0.8 + 0.4 * Math.random()));
}
