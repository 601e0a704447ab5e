ALTER TABLE sale_lines ADD CONSTRAINT IF NOT EXISTS sale_lines_refunded_chk CHECK (refunded_qty >= 0 AND refunded_qty <= qty);

ALTER TABLE sale_payments ADD CONSTRAINT IF NOT EXISTS sale_payments_refunded_chk CHECK (refunded_amount >= 0 AND refunded_amount <= amount);
