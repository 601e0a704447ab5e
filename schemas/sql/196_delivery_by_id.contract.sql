-- Deliveries are found by subscription and id; the previous release looked for the id alone.

DROP INDEX IF EXISTS deliveries_id_key CASCADE;
