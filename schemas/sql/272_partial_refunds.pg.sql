-- Not validated, because that would read the tables while nothing can be sold. Rows of before have refunded nothing.
ALTER TABLE sale_lines DROP CONSTRAINT IF EXISTS sale_lines_refunded_chk,
    ADD CONSTRAINT sale_lines_refunded_chk CHECK (refunded_qty >= 0 AND refunded_qty <= qty) NOT VALID;

ALTER TABLE sale_payments DROP CONSTRAINT IF EXISTS sale_payments_refunded_chk,
    ADD CONSTRAINT sale_payments_refunded_chk CHECK (refunded_amount >= 0 AND refunded_amount <= amount) NOT VALID;
