package console

import (
	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/domain"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

var group = httpapi.Group{Tag: "Audit", Platform: true}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{Name: "console", Lists: []domain.Statements{items}, Cleanup: []cleanup.Job{changesExpire}}
}
