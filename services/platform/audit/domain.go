package audit

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

var group = httpapi.Group{Tag: "Audit", About: "The record of changes by operators.", Platform: true}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{Name: "console", Lists: []domain.Statements{items}, Cleanup: []cleanup.Job{changesExpire}}
}
