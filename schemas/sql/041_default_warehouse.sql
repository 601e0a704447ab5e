-- Every company has a default branch and, in it, a default warehouse. New companies are created with both; this adds them to
-- existing companies. Existing rows keep their ids, and a company that has both is not changed.

-- Companies with branches but no default: the oldest open branch becomes the default.
UPDATE branches SET is_default = true, version = version + 1, ev_pos = ev_pos + 1, updated_at = now()
WHERE (company_id, id) IN (
    SELECT DISTINCT ON (b.company_id) b.company_id, b.id FROM branches AS b
    WHERE b.is_active AND NOT EXISTS (SELECT 1 FROM branches AS d WHERE d.company_id = b.company_id AND d.is_default)
    ORDER BY b.company_id, b.created_at, b.id
);

-- Companies without an open branch.
INSERT INTO branches (company_id, id, name, is_active, is_default, version, ev_pos, created_at, updated_at)
SELECT c.id, gen_random_uuid(), 'Main', true, true, 1, c.ev_pos, now(), now() FROM companies AS c
WHERE NOT EXISTS (SELECT 1 FROM branches AS b WHERE b.company_id = c.id AND b.is_default)
ON CONFLICT DO NOTHING;

-- Companies with warehouses but no default: the one in the default branch, otherwise the oldest.
UPDATE warehouses SET is_default = true, version = version + 1, ev_pos = ev_pos + 1, updated_at = now()
WHERE (company_id, id) IN (
    SELECT DISTINCT ON (w.company_id) w.company_id, w.id FROM warehouses AS w
    LEFT JOIN branches AS b ON b.company_id = w.company_id AND b.id = w.branch_id AND b.is_default
    WHERE NOT EXISTS (SELECT 1 FROM warehouses AS d WHERE d.company_id = w.company_id AND d.is_default)
    ORDER BY w.company_id, b.id IS NULL, w.created_at, w.id
);

-- A default warehouse without a branch moves to the default branch, unless that branch has another warehouse.
UPDATE warehouses SET branch_id = b.id, version = warehouses.version + 1, ev_pos = warehouses.ev_pos + 1, updated_at = now()
FROM branches AS b
WHERE b.company_id = warehouses.company_id AND b.is_default AND warehouses.is_default AND warehouses.branch_id IS NULL
AND NOT EXISTS (SELECT 1 FROM warehouses AS o WHERE o.company_id = b.company_id AND o.branch_id = b.id);

-- Companies without a warehouse.
INSERT INTO warehouses (company_id, id, name, address, is_default, manager_user_id, branch_id, search_text, version, ev_pos, created_at, updated_at)
SELECT b.company_id, gen_random_uuid(), 'Main', NULL, true, NULL, b.id, 'main', 1, b.ev_pos, now(), now() FROM branches AS b
WHERE b.is_default AND NOT EXISTS (SELECT 1 FROM warehouses AS w WHERE w.company_id = b.company_id)
ON CONFLICT DO NOTHING;
