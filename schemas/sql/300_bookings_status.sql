-- A list of bookings by a status that few have, such as those to confirm, reads these alone.

CREATE INDEX IF NOT EXISTS bookings_status_idx ON bookings (company_id, status, start_at, id);
