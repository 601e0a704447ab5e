package reports

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/business/daysum"
)

const tag = "Reports"

// Reports need the scope and the component of what they sum; that of payments checks those of the origins that it is asked for.
var (
	ofPayments = httpapi.Group{Tag: tag}
	ofOrders   = httpapi.Group{Tag: tag, Scope: "orders", Component: "orders"}
	ofSales    = httpapi.Group{Tag: tag, Scope: "sales", Component: "cashier"}
	ofBookings = httpapi.Group{Tag: tag, Scope: "scheduling", Component: "scheduling"}
)

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{Name: "reports", Errors: []apierr.Doc{
		{Status: 409, Code: daysum.OutOfRange, Advice: "A sum exceeds the largest amount. Ask for fewer days, or group by more."},
	}}
}
