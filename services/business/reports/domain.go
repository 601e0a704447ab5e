package reports

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
)

const tag = "Reports"

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{Name: "reports", Errors: []apierr.Doc{
		{Status: 409, Code: dailytotals.OutOfRange, Advice: "A sum exceeds the largest amount. Ask for fewer days, or group by more."},
	}}
}
