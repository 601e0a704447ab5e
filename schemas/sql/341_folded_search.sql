-- Texts are searched with folded case, too: ς is σ, and ß is ss. New rows have both forms; older ones get the second here, behind a
-- character that no text has, so that a step that is repeated changes nothing.

-- batches
UPDATE companies SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE products SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE clients SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE warehouses SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE suppliers SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE orders SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE receipts SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE leads SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE deals SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE client_addresses SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE client_assets SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE client_interactions SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE sales SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE services SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE scheduling_resources SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE bookings SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE product_variants SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE files SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE order_payments SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;

-- batches
UPDATE cash_movements SET search_text = search_text || chr(10) || chr(31) || replace(replace(search_text, 'ß', 'ss'), 'ς', 'σ')
WHERE (search_text LIKE '%ß%' OR search_text LIKE '%ς%') AND strpos(search_text, chr(31)) = 0;
