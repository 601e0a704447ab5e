-- Who mails to customers are from, and where their answers go.
ALTER TABLE companies ADD COLUMN IF NOT EXISTS mail_reply_to TEXT; -- NULL = nowhere
ALTER TABLE notices ADD COLUMN IF NOT EXISTS sender_name TEXT; -- stands before the address that sends; NULL = the name of the platform
ALTER TABLE notices ADD COLUMN IF NOT EXISTS reply_to TEXT;
