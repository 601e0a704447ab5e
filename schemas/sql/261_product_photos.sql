-- Images of a product in their order; photo_file_id is the first of them.
ALTER TABLE products ADD COLUMN IF NOT EXISTS photo_file_ids UUID[] NOT NULL DEFAULT ARRAY[]::UUID[];
