-- Files of orders and clients, in their order.
ALTER TABLE orders ADD COLUMN IF NOT EXISTS attachment_file_ids UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];
ALTER TABLE clients ADD COLUMN IF NOT EXISTS attachment_file_ids UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];

-- Who uploaded a file; NULL = nobody knows.
ALTER TABLE files ADD COLUMN IF NOT EXISTS created_by_id UUID;

-- Addresses that documents were sent to, and what clients were before they were anonymized, are not kept in records of changes any more.
-- batches
UPDATE admin_changes SET body = NULL WHERE operation IN ('mailOrder', 'mailSale') AND body IS NOT NULL;
-- batches
UPDATE admin_changes SET before = NULL WHERE operation = 'anonymizeClient' AND before IS NOT NULL;
