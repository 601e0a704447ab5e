package accounts

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name: "accounts", Cleanup: []cleanup.Job{sessionsExpire, linksExpire, limitsExpire},
		Errors: []apierr.Doc{
			{Status: 409, Code: "INVITATION_LIMIT_REACHED", Advice: "A company sends at most 50 invitations in 24 hours, in the console. Invite the others tomorrow."},
		},
	}
}
