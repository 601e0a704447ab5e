// What a run is told: addresses, companies and sizes, all from the environment. See docs/load.md.
import { SharedArray } from 'k6/data';

const env = __ENV;

/** base of the API, such as http://127.0.0.1:8080/api/external/v1 */
export const BASE = (env.BASE || '').replace(/\/$/, '');
/** address of `tradegrid receiver` (or of `tradegrid dev`) for this script; empty: the receivers' side is not checked */
export const RECEIVER = (env.RECEIVER_URL || '').replace(/\/$/, '');
/** the same receiver as the dispatcher reaches it */
export const HOOKS = (env.HOOK_URL || RECEIVER).replace(/\/$/, '');
/** addresses of /metrics of all roles, with commas, for figures about processes; may be empty */
export const METRICS = (env.METRICS_URL || '').split(',').filter((url) => url !== '');
/** folder for summary.json and summary.html; empty: text only */
export const OUT = env.OUT || '';

/** companies with their tokens, as `tradegrid admin load-data` writes them */
export const companies = new SharedArray('companies', () => {
  if (!env.TOKENS) return [];
  const file = JSON.parse(open(env.TOKENS));
  return Array.isArray(file) ? file : file.companies;
});

/** number reads a number from the environment. */
export function number(name, fallback) {
  if (env[name] === undefined || env[name] === '') return fallback;
  const value = Number(env[name]);
  if (!(value > 0)) throw new Error(`${name}=${env[name]} must be a number greater than 0`);
  return value;
}

/** seconds reads a duration such as 90, 90s, 10m, 1h or 1h30m from the environment. */
export function seconds(name, fallback) {
  const text = env[name];
  if (text === undefined || text === '') return fallback;
  const match = /^(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s?)?$/.exec(text);
  const value = match && Number(match[1] || 0) * 3600 + Number(match[2] || 0) * 60 + Number(match[3] || 0);
  if (!value) throw new Error(`${name}=${text} must be a duration such as 90s, 10m or 1h`);
  return value;
}

/** switched tells whether a switch in the environment is on. */
export const switched = (name) => ['1', 'true', 'yes'].includes((env[name] || '').toLowerCase());
