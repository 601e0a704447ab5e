// The figures that scenarios measure beside those of k6 itself.
import { Counter, Gauge, Rate, Trend } from 'k6/metrics';

export const orders = {
  accepted: new Counter('orders_accepted'), // answered 2xx, each order once
  duration: new Trend('order_duration', true), // from the first try to the answer, waits between tries included
  abandoned: new Counter('orders_abandoned'), // given up after all tries
};

export const answers = {
  available: new Rate('api_available'), // false: 5xx other than a shed 503, or no answer at all
  limited: new Counter('answers_limited'), // 429
  shed: new Counter('answers_shed'), // 503 with Retry-After
  unexpected: new Counter('answers_unexpected'), // what an integration could not explain
  repeated: new Counter('requests_repeated'), // tries after the first
};

export const reads = { duration: new Trend('read_duration', true) };

export const sales = {
  accepted: new Counter('sales_accepted'),
  refunded: new Counter('sales_refunded'),
  abandoned: new Counter('sales_abandoned'),
  cash: new Counter('sales_cash'), // minor units, less those of refunds
  duration: new Trend('sale_duration', true),
};

// Set once, after the load: what the shifts hold.
export const shifts = { sales: new Gauge('shift_sales'), refunds: new Gauge('shift_refunds'), cash: new Gauge('shift_cash') };

export const bookings = {
  slots: new Counter('slots_offered'),
  accepted: new Counter('bookings_accepted'),
  stored: new Gauge('bookings_stored'),
  duration: new Trend('booking_duration', true), // until all clients of a slot have their answer
};

export const batches = {
  items: new Counter('items_written'),
  failed: new Counter('items_failed'),
  repeated: new Counter('batches_repeated'),
  stored: new Gauge('items_stored'),
  synced: new Gauge('companies_synced'),
  duration: new Trend('batch_duration', true),
};

export const files = { written: new Counter('files_written'), failed: new Counter('files_failed'), duration: new Trend('file_duration', true) };

export const feed = {
  read: new Counter('feed_read'),
  created: new Gauge('feed_created'), // order.created in the log
  lag: new Trend('feed_lag', true), // from the change to the reader
};

// Set once, after the load: what the receivers say.
export const webhooks = {
  promised: new Gauge('webhooks_promised'), // orders answered 2xx whose companies have a receiver
  missing: new Gauge('webhooks_missing'), // of these, without an accepted order.created
  refused: new Gauge('webhooks_refused'), // requests with a bad signature
  duplicates: new Gauge('webhooks_duplicates'), // deliveries that came again after a 2xx
  repeated: new Gauge('webhooks_repeated'), // second deliveries of one order's creation
  unpromised: new Gauge('webhooks_unpromised'), // creations that no answer told of: the answer was lost
  settled: new Gauge('webhooks_settled_seconds'), // from the end of the load until nothing was missing
  arrived: new Gauge('webhooks_arrived'), // deliveries, each once
  p50: new Gauge('webhook_p50', true), // from the change to its arrival, ms
  p99: new Gauge('webhook_p99', true),
};

export const stored = new Gauge('orders_stored'); // by the companies' order numbers, which have no gaps
export const memory = new Gauge('process_memory_bytes');
export const goroutines = new Gauge('process_goroutines');
export const processor = new Gauge('process_cpu_seconds'); // of the processes behind METRICS_URL, from the start to the last webhook
