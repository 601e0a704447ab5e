// Package catalog holds what a company sells: products, the categories they lie in, and units.
// Stock and suppliers are not part of it; see package warehouse.
package catalog

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/reference"
)

const (
	component = "catalog"
	scope     = "catalog"
)

// Service is the catalog of all companies.
type Service struct {
	db        *db.DB
	stock     Stock
	suppliers reference.Known
	now       func() time.Time
}

// Neighbours is what the catalog asks other domains.
type Neighbours struct {
	Stock     Stock           // nil = no product has any
	Suppliers reference.Known // nil = there are none
}

// New makes the service.
func New(d *db.DB, n Neighbours) *Service {
	return &Service{db: d, stock: n.Stock, suppliers: n.Suppliers, now: time.Now}
}
