ALTER TABLE "companies" SET LOCALITY GLOBAL;
ALTER TABLE "orders" ADD COLUMN IF NOT EXISTS crdb_home_c0acb303 crdb_internal_region NOT NULL AS (CASE substring(company_id::STRING, 33, 4) WHEN '2222' THEN 'eu' WHEN '4444' THEN 'o''us' ELSE 'eu' END) STORED;
ALTER TABLE "orders" SET LOCALITY REGIONAL BY ROW AS crdb_home_c0acb303;
ALTER TABLE "orders" ADD COLUMN IF NOT EXISTS crdb_home_aa5ade19 crdb_internal_region NOT NULL AS (CASE substring(company_id::STRING, 33, 4) WHEN '2222' THEN 'eu' WHEN '6666' THEN 'asia-9' WHEN '4444' THEN 'o''us' ELSE 'eu' END) STORED;
ALTER TABLE "orders" SET LOCALITY REGIONAL BY ROW AS crdb_home_aa5ade19;
ALTER TABLE "orders" DROP COLUMN IF EXISTS crdb_home_c0acb303;
