-- What a process announces of its settings: processes that differ in what must be the same everywhere are reported.
ALTER TABLE processes ADD COLUMN IF NOT EXISTS settings TEXT[]; -- each as name=value; NULL = the release does not announce them
