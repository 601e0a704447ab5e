package sales

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
)

var group = httpapi.Group{Tag: "Sales", About: "The point of sale: shifts, sales, refunds and movements of cash.", Scope: "sales", Component: "cashier"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{
		Name:       "sales",
		Scopes:     []access.Resource{{Name: "sales"}},
		Components: []access.Component{{Alias: "cashier"}},
		Events:     event.Declare(group.Component, group.Scope, completed, updated, refunded, opened, cashMoved, shut),
		Errors: []apierr.Doc{
			{Status: 409, Code: "SHIFT_ALREADY_OPEN", Advice: "The token, or the person in cashierId, has an open shift; meta.shiftId identifies it. Use it, or close it first."},
			{Status: 409, Code: "SHIFT_ALREADY_CLOSED", Advice: "The shift was closed before. Nothing was changed."},
			{Status: 409, Code: "SHIFT_CLOSED", Advice: "Nothing can be sold in a closed shift, and its cash does not change, except by what happened before its end and is sent later with its time. Open another one."},
			{Status: 409, Code: "SHIFT_NOT_OPEN", Advice: "The shift of the sale is closed and the token has no open one to refund in. Open a shift."},
			{Status: 409, Code: "SHIFT_TOTAL_OUT_OF_RANGE", Advice: "The total of the shift would exceed the largest amount that can be stored. Open another shift."},
			{Status: 409, Code: "SALE_ALREADY_REFUNDED", Advice: "The sale was refunded in full before; meta.refundSaleId identifies its last refund."},
			{Status: 409, Code: "REFUND_QTY_EXCEEDED", Advice: "Less is left of a line than is to be refunded; meta.lines has what was sold, refunded and is left. Refund at most left."},
			{Status: 409, Code: "REFUND_PAYMENT_EXCEEDED", Advice: "More is to be paid back by a method than is left of what was paid by it; meta.left has what is left of each method."},
			{Status: 409, Code: "CASH_INSUFFICIENT", Advice: "More cash is to be taken out of the shift than its drawer holds; meta.expectedCash has what that is."},
			{Status: 409, Code: "CASHIER_INACTIVE", Advice: "The user in cashierId was invited or blocked. Name an active user, or activate this one."},
			{Status: 409, Code: "SALE_DRAFT_LIMIT_REACHED", Advice: "A company has at most 200 drafts of sales that have not expired. Sell or delete some."},
			{Status: 409, Code: "SALE_DRAFTS_TOO_LARGE", Advice: "The drafts of sales of a company take at most 4 MiB together, meta.limitBytes. Sell or delete some."},
			{Status: 409, Code: "SALE_IS_REFUND", Advice: "A refund cannot be refunded. Sell the items again."},
			{Status: 409, Code: "LOYALTY_POINTS_EXCEED_TOTAL", Advice: "redeemPoints exceeds the total after the discount; meta.total has it. Redeem fewer points."},
		},
		Entities: []string{"SALE", "SALE_LINE", "SHIFT", "CASH_MOVEMENT", "SALE_DRAFT"},
		Tables:   []resource.Described{shifts, table, cashMovements, drafts},
		Lists:    []domain.Statements{shiftItems, items, cashItems, draftItems},
		Cleanup:  []cleanup.Job{draftsExpire},
		Samples: []domain.Sample{
			{Entity: "SHIFT", Path: "/shifts", CreatePath: "/shifts/open", Create: `{"openingCash":10000}`},
			{
				Entity: "SALE_DRAFT", Path: "/sale-drafts",
				Create: `{"name":"Blue jacket, comes back at noon","sale":{"items":[{"kind":"custom","name":"Inner tube, fitted","unitPrice":1460,"qty":2}],"discountPercent":10,"customerId":"CLIENT"}}`,
			},
			{
				Entity: "SALE", Path: "/sales", Change: `{"source":"till","metadata":{"till":"4"}}`,
				Create: `{"shiftId":"SHIFT","customerId":"CLIENT","items":[{"kind":"custom","name":"Inner tube, fitted","unitPrice":1460,"qty":1.5,"taxRateId":"TAX_RATE"}],"discountPercent":10,
					"paymentMethod":"mixed","payments":[{"paymentMethod":"card","amount":1000},{"method":"cash","amount":971}],"receivedAmount":1000,"channel":"pos"}`,
			},
		},
	}
}
