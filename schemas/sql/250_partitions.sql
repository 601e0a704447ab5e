-- How many partitions of the topic of events the companies of a bucket are spread over; NULL = not known. It follows the topic
-- when partitions are added, once the routers have processed what was published before.
ALTER TABLE outbox_leases ADD COLUMN IF NOT EXISTS partitions INT4;
