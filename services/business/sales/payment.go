package sales

import (
	"fmt"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// method is the method of a payment under either of its names.
func (in PaymentInput) method() string {
	switch {
	case in.PaymentMethod != nil:
		return *in.PaymentMethod
	case in.Method != nil:
		return *in.Method
	}
	return ""
}

// methodAt is the path of the method of the i-th payment in the body.
func methodAt(i int) string { return fmt.Sprintf("payments[%d].paymentMethod", i) }

// check checks that the i-th payment of a body has one method.
func (in PaymentInput) check(i int, faults *apierr.Fields) {
	switch {
	case in.method() == "":
		faults.Add(methodAt(i), apierr.Required, "is required")
	case in.PaymentMethod != nil && in.Method != nil && *in.PaymentMethod != *in.Method:
		faults.Add(methodAt(i), apierr.Conflict, "must equal method, its other name; send one of them")
	}
}

// checkPayments checks the rules of payments that do not depend on the total; see docs/reference/rules.md#payments.
func (in *Input) checkPayments(faults *apierr.Fields) {
	for i, p := range in.Payments {
		known := len(*faults)
		if p.check(i, faults); len(*faults) == known && in.PaymentMethod != methodMixed && p.method() != in.PaymentMethod {
			faults.Add(methodAt(i), apierr.Conflict, "must be %s, the paymentMethod of the sale; use mixed for several methods", in.PaymentMethod)
		}
	}
	if in.PaymentMethod != methodMixed && len(in.Payments) > 1 {
		faults.Add("payments", apierr.Max, "must have at most 1 item unless paymentMethod is mixed")
	}
}

// pay sets the payments, and the cash received and returned. The sale has its total.
func (s *Sale) pay(payments []PaymentInput) error {
	var faults apierr.Fields
	s.Payments = s.paymentsOf(payments, &faults)
	s.settleCash(&faults)
	return faults.Err()
}

func (s *Sale) paymentsOf(in []PaymentInput, faults *apierr.Fields) []Payment {
	switch {
	case s.Total == 0:
		if len(in) > 0 {
			faults.Add("payments", apierr.Conflict, "must be empty, because the total is 0")
		}
		return []Payment{}
	case len(in) == 0 && s.PaymentMethod != methodMixed:
		return []Payment{payment(s.PaymentMethod, s.PaymentMethodExt, s.Total, s.CreatedAt)}
	case len(in) < 2 && s.PaymentMethod == methodMixed:
		faults.Add("payments", apierr.Min, "must have at least 2 items, because paymentMethod is mixed")
		return nil
	}
	all := make([]Payment, len(in))
	left := s.Total
	for i, p := range in {
		all[i] = payment(p.method(), p.PaymentMethodExt, p.Amount, s.CreatedAt)
		if len(in) == 1 && p.PaymentMethodExt == nil {
			all[i].MethodExt = s.PaymentMethodExt
		}
		left -= p.Amount // at most 50 times 2^53, which does not overflow
	}
	if left != 0 {
		faults.Add("payments", apierr.Conflict, "must add up to %s, the total of the sale", s.Total)
	}
	return all
}

func payment(method string, ext *string, amount money.Amount, at jsontype.Time) Payment {
	return Payment{ID: record.NewID(), Method: method, MethodExt: ext, Amount: amount, CreatedAt: at}
}

// settleCash computes the change, and clears the cash received if nothing is paid in cash.
func (s *Sale) settleCash(faults *apierr.Fields) {
	var cash money.Amount
	for _, p := range s.Payments {
		if p.Method == methodCash {
			cash += p.Amount
		}
	}
	switch {
	case cash == 0:
		s.ReceivedAmount = nil
	case s.ReceivedAmount == nil:
	case *s.ReceivedAmount < cash:
		faults.Add("receivedAmount", apierr.Min, "must be at least %s, the part that is paid in cash", cash)
	default:
		s.ChangeAmount = new(*s.ReceivedAmount - cash)
	}
}
