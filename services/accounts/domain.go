package accounts

import (
	"github.com/tradegrid/tradegrid/pkg/cleanup"
	"github.com/tradegrid/tradegrid/pkg/domain"
)

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{Name: "accounts", Cleanup: []cleanup.Job{sessionsExpire, linksExpire, limitsExpire}}
}
