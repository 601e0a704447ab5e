package clients

const (
	sqlSelectGroups = `SELECT id, name, price_list_id FROM client_groups WHERE company_id = $1 ORDER BY name, id`

	sqlSelectPriceLists = `SELECT id, name FROM price_lists WHERE company_id = $1 ORDER BY name, id`

	sqlInsertGroup = `INSERT INTO client_groups (company_id, id, name, price_list_id, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`

	sqlInsertPriceList = `INSERT INTO price_lists (company_id, id, name, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7)`
)
