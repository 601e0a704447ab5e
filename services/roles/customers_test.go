package roles_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// customers is a company with two clients and an open shift.
type customers struct {
	rolestest.Client
	node           *rolestest.Node
	company        tenant.ID
	ann, bo, shift string
}

func newCustomers(t *testing.T) customers {
	t.Helper()
	n := rolestest.NewNode(dbtest.Open(t), rolestest.Alone())
	owner, err := n.CreateCompany(t.Context(), company.NewCompany{Name: t.Name(), Plan: "business", Currency: "EUR", CountryPrefix: "+49"})
	require.NoError(t, err)
	c := customers{node: n, company: owner.ID, Client: n.Client(n.Issue(t, owner.ID, []string{"*:write"}).Text)}
	c.ann = c.OK(t, "POST", "/clients", `{"kind":"individual","displayName":"Ann","phone":"+49 30 1234567","email":"ann@example.com"}`).ID(t)
	c.bo = c.OK(t, "POST", "/clients", `{"kind":"individual","displayName":"Bo","phone":"+49 30 7654321","email":"bo@example.com"}`).ID(t)
	c.shift = c.OK(t, "POST", "/shifts/open", `{"openingCash":0}`).ID(t)
	return c
}

// ids are those of the records of a list.
func (c customers) ids(t *testing.T, path string) (all []any) {
	t.Helper()
	for _, item := range c.OK(t, "GET", path, "").Body["items"].([]any) {
		all = append(all, item.(map[string]any)["id"])
	}
	return all
}

func TestDocumentsFindTheirCustomers(t *testing.T) {
	t.Parallel()
	c := newCustomers(t)
	const line = `"items":[{"kind":"custom","name":"Work","unitPrice":1000}]`
	order := func(customer string) map[string]any {
		return c.OK(t, "POST", "/orders", `{`+customer+`,`+line+`}`).Body
	}
	require.Nil(t, order(`"customerPhone":"030 1234567"`)["customerId"], "only who asks for it")
	got := order(`"customerPhone":"030 1234567","matchCustomer":true`)
	require.Equal(t, []any{c.ann, "Ann", "030 1234567", "ann@example.com"}, []any{got["customerId"], got["customerName"], got["customerPhone"], got["customerEmail"]})
	require.Equal(t, c.bo, order(`"customerEmail":"BO@example.com","matchCustomer":true`)["customerId"])
	require.Equal(t, c.ann, order(`"customerPhone":"00493 01234567","customerEmail":"bo@example.com","matchCustomer":true`)["customerId"], "the phone goes before")
	require.Equal(t, c.bo, order(`"customerId":"` + c.bo + `","customerPhone":"030 1234567","matchCustomer":true`)["customerId"], "an id decides")
	require.Nil(t, order(`"customerPhone":"030 5555555","matchCustomer":true`)["customerId"], "no client is made")
	require.Nil(t, order(`"customerName":"Ann","matchCustomer":true`)["customerId"])

	// A sync that sends the same again finds nothing to change, and one that knows more links the order.
	const at = "/orders/by-external-id/shop/1"
	one := c.OK(t, "PUT", at, `{"customerPhone":"030 1234567",`+line+`}`)
	linked := c.OK(t, "PUT", at, `{"customerPhone":"030 1234567","matchCustomer":true,`+line+`}`)
	require.Equal(t, []any{one.Body["id"], c.ann, 2.0}, []any{linked.Body["id"], linked.Body["customerId"], linked.Body["version"]})
	again := c.OK(t, "PUT", at, `{"customerPhone":"030 1234567","matchCustomer":true,`+line+`}`)
	require.Equal(t, linked.Body["version"], again.Body["version"])
	c.OK(t, "POST", "/orders/"+one.ID(t)+"/status/cancelled", "")
	c.OK(t, "PUT", at, `{"matchCustomer":true,`+line+`}`)

	// A sale of a till, which knows the phone only.
	sale := func(more string) map[string]any {
		return c.OK(t, "POST", "/sales", `{"shiftId":"`+c.shift+`","paymentMethod":"cash",`+more+line+`}`).Body
	}
	require.Equal(t, c.ann, sale(`"customerPhone":"030 1234567","matchCustomer":true,`)["customerId"])
	require.Nil(t, sale(`"customerPhone":"030 1234567",`)["customerId"])
	refused := c.Do(t, "POST", "/sales", `{"shiftId":"`+c.shift+`","paymentMethod":"cash","customerPhone":"030 5555555","matchCustomer":true,"redeemPoints":5,`+line+`}`)
	refused.Refused(t, 400, "VALIDATION_ERROR", "points of nobody")
	preview := c.OK(t, "POST", "/sales/preview", `{"shiftId":"`+c.shift+`","paymentMethod":"cash","customerPhone":"030 1234567","matchCustomer":true,`+line+`}`)
	require.Equal(t, "Ann", preview.Body["customerName"])
}

func TestDocumentsByPhone(t *testing.T) {
	t.Parallel()
	c := newCustomers(t)
	const line = `"items":[{"kind":"custom","name":"Work","unitPrice":1000}]`
	kind := c.OK(t, "GET", "/deals/types", "").Raw[len(`[{"id":"`):][:36]
	resource := c.OK(t, "POST", "/scheduling/resources", `{"type":"unit","name":"Room","parallelBookings":9,"workingHours":[{"weekday":2,"from":"00:00","to":"24:00"}]}`).ID(t)
	made := map[string]string{}
	for path, body := range map[string]string{
		"/orders":              `{"customerPhone":%q,` + line + `}`,
		"/sales":               `{"shiftId":"` + c.shift + `","paymentMethod":"cash","customerPhone":%q,` + line + `}`,
		"/deals":               `{"typeId":"` + kind + `","customerPhone":%q,` + line + `}`,
		"/leads":               `{"source":"site","phone":%q}`,
		"/scheduling/bookings": `{"resourceId":"` + resource + `","startAt":"2040-01-03T10:00:00Z","durationMinutes":60,"customerName":"Ann","customerPhone":%q}`,
	} {
		made[path] = c.OK(t, "POST", path, fmt.Sprintf(body, "+49 (0)30-123 45 67")).ID(t)
		c.OK(t, "POST", path, fmt.Sprintf(body, "+43 30 1234567"))
		c.OK(t, "POST", path, fmt.Sprintf(body, "030 7654321"))
	}
	for path, id := range made {
		filter := "customerPhone"
		if path == "/leads" {
			filter = "phone"
		}
		for _, spelling := range []string{"030 1234567", "+49301234567", "0049 30 1234567"} {
			require.Equal(t, []any{id}, c.ids(t, path+"?"+filter+"="+url.QueryEscape(spelling)), "%s %s", path, spelling)
		}
		require.Empty(t, c.ids(t, path+"?"+filter+"="+url.QueryEscape("030 12345")), path)
		require.Empty(t, c.ids(t, path+"?"+filter+"=x"), path)
	}
}
