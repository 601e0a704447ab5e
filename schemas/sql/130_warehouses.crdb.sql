-- Stock cannot refer to a warehouse that is being deleted, whatever the isolation of the transactions.

ALTER TABLE stocks ADD CONSTRAINT IF NOT EXISTS stocks_warehouse_fkey FOREIGN KEY (company_id, warehouse_id) REFERENCES warehouses (company_id, id);
