-- Active variants of each product. A change of a variant counts them anew.
ALTER TABLE products ADD COLUMN IF NOT EXISTS variants_count INT8 NOT NULL DEFAULT 0;

UPDATE products AS p SET variants_count = v.n
FROM (SELECT company_id, product_id, count(*) AS n FROM product_variants WHERE status = 'active' GROUP BY company_id, product_id) AS v
WHERE p.company_id = v.company_id AND p.id = v.product_id AND p.variants_count <> v.n;
