package catalog

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
)

const sqlLockProductsOfSupplier = `SELECT ` + productColumns + ` FROM products WHERE company_id = $1 AND default_supplier_id = $2 ORDER BY id FOR UPDATE`

// ForgetSupplier clears the default supplier of the products that have this one, each as a change of its own.
func (s *Service) ForgetSupplier(ctx context.Context, tx *db.Tx, by access.Caller, supplier uuid.UUID) error {
	rows, err := tx.Query(ctx, sqlLockProductsOfSupplier, by.Company, supplier)
	if err != nil {
		return fmt.Errorf("select products of supplier: %w", err)
	}
	all, err := pgx.CollectRows(rows, db.RowTo(productTargets))
	if err != nil {
		return fmt.Errorf("read products of supplier: %w", err)
	}
	for _, p := range all {
		p.DefaultSupplierID = nil
		p.Touch(tx.Now())
		updateProduct(tx, p)
		if err := raiseProduct(ctx, tx, by, eventProductUpdated, p, event.Changed{ChangedFields: []string{"defaultSupplierId"}}); err != nil {
			return err
		}
	}
	return nil
}
