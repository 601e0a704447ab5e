-- A link remembers its address: an invitation claims it for the company only when it is accepted.
ALTER TABLE account_links ADD COLUMN IF NOT EXISTS email TEXT NOT NULL DEFAULT ''; -- in lower case; '' = that of the account

CREATE INDEX IF NOT EXISTS account_links_email_idx ON account_links (email) WHERE email <> '';
