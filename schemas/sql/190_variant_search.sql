-- Variants are found by SKU and barcode, in lists of what is stocked.

ALTER TABLE product_variants ADD COLUMN IF NOT EXISTS search_text TEXT NOT NULL DEFAULT '';

-- batches
UPDATE product_variants SET search_text = lower(sku) || COALESCE(chr(10) || lower(barcode), '')
WHERE search_text = '';
