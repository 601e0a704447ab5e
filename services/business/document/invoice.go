package document

import (
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

// Charge is what an order charges its client, for an invoice. Money is in minor units.
type Charge struct {
	OrderID       uuid.UUID
	Number        int64
	Cancelled     bool
	ClientID      *uuid.UUID
	CustomerName  *string
	CustomerEmail *string
	PayDueAt      *jsontype.Time
	Taxation      lineitem.Taxation
	Lines         []lineitem.Line // what is left of the lines after returns; without lines of which nothing is left
	DeliveryCost  money.Amount    // after returns
	ReturnFees    money.Amount    // kept of what returns have credited
	Payable       money.Amount    // totals of the lines + DeliveryCost + ReturnFees
}

// Buyer is a client as invoices name it.
type Buyer struct {
	Name             string // legal name of a company, display name of a person
	Address          *string
	INN, KPP         *string
	Email            *string
	PaymentTermsDays *int32
}
