package console_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// A list says which orders are late: those that somebody still waits for, with a date in the past.
func TestLateOrdersAreMarked(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	made := func(body string) string {
		return p.call(own, p.external, http.MethodPost, "/orders", body)["id"].(string)
	}
	const late = `<span class="late"><span class="hidden">late: </span><time`
	line := `"items":[{"kind":"custom","name":"Bell","qty":1,"unitPrice":900}]`
	made(`{"dueAt":"2037-01-01T10:00:00Z",` + line + `}`)
	overdue := made(`{"customerName":"Ada Moss","dueAt":"2020-01-01T10:00:00Z",` + line + `}`)
	list := root + "/orders?search=Ada+Moss"
	owner := p.signedIn(own.people[company.RoleOwner])
	require.Contains(t, owner.get(list), late)
	require.Contains(t, owner.get(list), `<span aria-hidden="true">AM</span>`)
	require.NotContains(t, owner.get(root+"/orders?dueFrom=2037-01-01"), late)
	p.call(own, p.external, http.MethodPost, "/orders/"+overdue+"/status/cancelled", `{"reason":"test"}`)
	require.NotContains(t, owner.get(list), late)
}
