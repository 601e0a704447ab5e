-- Language and region in which the company addresses its clients, a BCP 47 tag.
ALTER TABLE companies ADD COLUMN IF NOT EXISTS locale TEXT NOT NULL DEFAULT 'en';
