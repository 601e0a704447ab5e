// Figures as a person reads them, in the summary and its page.

/** short writes a number as a person reads it. */
export function short(value) {
  if (typeof value !== 'number') return value === null || value === undefined ? '–' : String(value);
  if (Number.isInteger(value)) return String(value);
  return value >= 100 ? value.toFixed(0) : value >= 1 ? value.toFixed(2) : value.toPrecision(3);
}

/** perOrder tells what the processes took. */
export function perOrder(l) {
  const all = `${short(l.cpuSeconds)} s of processor`;
  return l.ordersAccepted ? `${all}, ${short((l.cpuSeconds * 1000) / l.ordersAccepted)} ms for each order` : all;
}
