// Package catalog holds what a company sells: products, the categories they lie in, and units.
// Stock is not part of it; see package warehouse.
package catalog

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/db"
)

const (
	component = "catalog"
	scope     = "catalog"
)

// Service is the catalog of all companies.
type Service struct {
	db  *db.DB
	now func() time.Time
}

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d, now: time.Now} }
