-- Sums of records by day, which reports show; see docs/architecture.md#reports.

-- The sums of one day that is over. They hold while the day still has these bounds and form, and its records had as many changes
-- as day_changes counts now. keys and amounts hold one group of records after the other.
CREATE TABLE IF NOT EXISTS day_sums (
    company_id UUID NOT NULL,
    report     TEXT NOT NULL,
    day        DATE NOT NULL, -- in the time zone of the company
    starts_at  TIMESTAMPTZ NOT NULL,
    ends_at    TIMESTAMPTZ NOT NULL,
    form       INT4 NOT NULL,
    changes    BIGINT NOT NULL,
    keys       TEXT[] NOT NULL,
    amounts    BIGINT[] NOT NULL,
    CONSTRAINT day_sums_pkey PRIMARY KEY (company_id, report, day)
);

-- Changes of records whose day may be over: one row each, inserted by the transaction of the change, so that changes do not wait
-- for each other. Reports merge rows of a day into one with the sum of n.
CREATE TABLE IF NOT EXISTS day_changes (
    company_id UUID NOT NULL,
    report     TEXT NOT NULL,
    day        DATE NOT NULL, -- in UTC
    id         UUID NOT NULL,
    n          BIGINT NOT NULL,
    CONSTRAINT day_changes_pkey PRIMARY KEY (company_id, report, day, id)
);
