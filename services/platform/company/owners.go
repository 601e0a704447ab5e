package company

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// sqlSelectOwners has a row for a company without owners, too.
const sqlSelectOwners = `SELECT c.name, u.email FROM companies AS c
LEFT JOIN users AS u ON u.company_id = c.id AND lower(u.role) = 'owner' AND u.status = 'active' AND NOT u.is_technical AND u.email IS NOT NULL
WHERE c.id = $1 ORDER BY u.id NULLS LAST LIMIT $2`

// Owners reads the name of a company and the addresses of its active owners, at most limit of them. It is a [ownermail.Owners].
func Owners(ctx context.Context, q db.Querier, id tenant.ID, limit int) (name string, addresses []string, err error) {
	rows, err := q.Query(ctx, sqlSelectOwners, id, limit)
	if err != nil {
		return "", nil, fmt.Errorf("read owners of company: %w", err)
	}
	var email *string
	if _, err := pgx.ForEachRow(rows, []any{&name, &email}, func() error {
		if email != nil {
			addresses = append(addresses, *email)
		}
		return nil
	}); err != nil {
		return "", nil, fmt.Errorf("read owners of company: %w", err)
	}
	return name, addresses, nil
}
