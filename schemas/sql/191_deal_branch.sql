-- The branch that a converted lead is dealt with in.

ALTER TABLE deals ADD COLUMN IF NOT EXISTS branch_id UUID;
