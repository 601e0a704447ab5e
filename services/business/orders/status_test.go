package orders

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// requireFault requires the error of a code, "" for none, and returns its meta.
func requireFault(t *testing.T, code string, err error, msg ...any) map[string]any {
	t.Helper()
	if code == "" {
		require.NoError(t, err, msg...)
		return nil
	}
	f, ok := apierr.As(err)
	require.True(t, ok, "%v: %v", msg, err)
	require.Equal(t, code, f.Code, msg...)
	return f.Meta
}

// fieldsOf are the faults of the fields, by their paths.
func fieldsOf(t *testing.T, err error) map[string]string {
	t.Helper()
	f, ok := apierr.As(err)
	require.True(t, ok, "%v", err)
	codes := map[string]string{}
	for _, field := range f.Fields {
		codes[field.Field] = field.Code
	}
	return codes
}

func TestTransitions(t *testing.T) {
	t.Parallel()
	all := []string{statusNew, statusConfirmed, statusInProgress, statusReady, statusCompleted, statusCancelled}
	allowed := map[string][]string{
		"new":         {"confirmed", "in_progress", "cancelled"},
		"confirmed":   {"in_progress", "ready", "cancelled"},
		"in_progress": {"ready", "completed", "cancelled"},
		"ready":       {"in_progress", "completed", "cancelled"},
		"completed":   {},
		"cancelled":   {},
	}
	require.Len(t, transitions, len(all))
	for _, from := range all {
		o := Order{Header: Header{Status: from}}
		o.Derive()
		require.Equal(t, allowed[from], o.AllowedTransitions, "what responses promise")
		require.Equal(t, len(allowed[from]) == 0, o.isFinal(), from)
		for _, to := range append(slices.Clone(all), "lost", "") {
			err := o.checkTransition(to)
			if slices.Contains(allowed[from], to) {
				require.NoError(t, err, "%s to %s", from, to)
				continue
			}
			meta := requireFault(t, "ORDER_STATUS_TRANSITION_INVALID", err, from, to)
			require.Equal(t, map[string]any{"from": from, "to": to, "allowed": allowed[from]}, meta)
		}
	}
}

func TestShippedOrdersAreNotCancelled(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		to      string
		shipped money.Qty
		code    string
	}{
		{statusCancelled, 0, ""},
		{statusCancelled, 1, "ORDER_HAS_SHIPMENTS"},
		{statusCompleted, 1, ""},
		{statusNew, 1, "ORDER_STATUS_TRANSITION_INVALID"},
	} {
		o := Order{Header: Header{Status: statusReady}, Lines: []Line{{}, {ShippedQty: row.shipped}}}
		o.Derive()
		requireFault(t, row.code, o.checkTransition(row.to), row)
	}
}

func TestFieldsThatAStatusLocks(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		statuses []string
		sent     []string
		code     string
		fields   []string
	}{
		{[]string{"new", "confirmed"}, []string{"items", "customerId", "note"}, "", nil},
		{[]string{"in_progress", "ready"}, []string{"items", "note"}, "ORDER_ITEMS_LOCKED", nil},
		{[]string{"in_progress", "ready"}, []string{"customerId", "warehouseId", "discountPercent"}, "", nil},
		{[]string{"completed", "cancelled"}, []string{"note", "assignedToId", "prepaidAmount"}, "", nil},
		{[]string{"completed", "cancelled"}, nil, "", nil},
		{[]string{"completed", "cancelled"}, []string{"items"}, "ORDER_FINALIZED", []string{"items"}},
		{[]string{"completed", "cancelled"}, []string{"warehouseId", "note", "deliveryCost", "items"}, "ORDER_FINALIZED", []string{"warehouseId", "deliveryCost", "items"}},
	} {
		for _, status := range row.statuses {
			in := record.PatchOf(Fields{}, row.sent...)
			meta := requireFault(t, row.code, (&Header{Status: status}).checkChange(&in), status, row.sent)
			if row.code != "" {
				require.Equal(t, status, meta["status"])
			}
			if row.fields != nil {
				require.Equal(t, row.fields, meta["fields"])
			}
		}
	}
}

// Every field that clients can set is locked in a final order unless finalFields has it.
func TestFinalFieldsAreFields(t *testing.T) {
	t.Parallel()
	for _, name := range finalFields {
		require.NotPanics(t, func() { record.PatchOf(Fields{}, name) }, name)
	}
}

func TestPaymentStatus(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		prepaid, payable money.Amount
		wasPaid          bool
		want             string
	}{
		{0, 100, false, unpaid},
		{1, 100, true, partial},
		{99, 100, true, partial},
		{100, 100, true, paid},
		{100, 90, true, paid}, // stored before a change that is refused now
		{0, 100, true, refunded},
		{0, 0, false, paid},
		{0, 0, true, refunded},
	} {
		require.Equal(t, row.want, paymentStatus(row.prepaid, row.payable, row.wasPaid), "%+v", row)
	}
}

func TestDeliveryFollowsItsMethod(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		before, method, status, want string // "" = none
		code                         string
	}{
		{"", "courier", "", "pending", ""},
		{"", "courier", "shipped", "shipped", ""},
		{"courier", "post", "pending", "pending", ""},
		{"courier", "post", "packing", "packing", ""},
		{"courier", "post", "shipped", "shipped", ""},
		{"", "", "", "", ""},
		{"", "", "pending", "", ""},
		{"", "", "shipped", "shipped", ""}, // there is nothing to clear
		{"post", "", "pending", "", ""},
		{"post", "", "packing", "", ""},
		{"post", "", "shipped", "shipped", "ORDER_DELIVERY_TRANSITION_INVALID"},
		{"post", "", "delivered", "delivered", "ORDER_DELIVERY_TRANSITION_INVALID"},
		{"post", "", "returned", "returned", "ORDER_DELIVERY_TRANSITION_INVALID"},
	} {
		var h Header
		var before *string
		if row.before != "" {
			before = &row.before
		}
		if row.method != "" {
			h.DeliveryMethod = &row.method
		}
		if row.status != "" {
			h.DeliveryStatus = &row.status
		}
		meta := requireFault(t, row.code, h.settleDelivery(before), row)
		require.Equal(t, row.want, record.OrZero(h.DeliveryStatus), "%+v", row)
		require.Equal(t, row.want == "", h.DeliveryStatus == nil)
		if row.code != "" {
			require.Equal(t, &row.status, meta["from"])
		}
	}
}
