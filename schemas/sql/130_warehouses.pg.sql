-- Stock cannot refer to a warehouse that is being deleted, whatever the isolation of the transactions.

ALTER TABLE stocks DROP CONSTRAINT IF EXISTS stocks_warehouse_fkey,
    ADD CONSTRAINT stocks_warehouse_fkey FOREIGN KEY (company_id, warehouse_id) REFERENCES warehouses (company_id, id) NOT VALID;

ALTER TABLE stocks VALIDATE CONSTRAINT stocks_warehouse_fkey;
