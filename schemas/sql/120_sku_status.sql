-- The status of an item stands beside its SKU, so that a refusal of the SKU can tell it without knowing the table of the item.
ALTER TABLE skus ADD COLUMN IF NOT EXISTS status TEXT NOT NULL DEFAULT 'active';

-- batches
UPDATE skus SET status = 'hidden'
WHERE status = 'active' AND entity = 'product'
AND EXISTS (SELECT 1 FROM products AS p WHERE p.company_id = skus.company_id AND p.id = skus.entity_id AND p.status = 'hidden');
