-- The record of changes also holds those that people make in the console, with what the record was before and after.
ALTER TABLE admin_changes ADD COLUMN IF NOT EXISTS user_id UUID;

ALTER TABLE admin_changes ADD COLUMN IF NOT EXISTS before TEXT;

ALTER TABLE admin_changes ADD COLUMN IF NOT EXISTS after TEXT;
