package roles_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

const privateAddress = "ann.private@example.net"

// tablesWithExpiry keep what was raised, answered or refused for a time, as docs/reference/rules.md#anonymization says.
var tablesWithExpiry = []string{"outbox", "outbox_dead", "events", "event_log_heads", "idempotency_keys", "api_requests", "deliveries", "delivery_attempts"}

// textsOf are all tables, with how many rows of each have a text, whatever the column.
func textsOf(t *testing.T, d *db.DB, text string) map[string]int {
	t.Helper()
	tables, err := db.Collect(t.Context(), d, "select tables", pgx.RowTo[string],
		`SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`)
	require.NoError(t, err)
	require.Greater(t, len(tables), 80)
	found := map[string]int{}
	for _, table := range tables {
		var n int
		require.NoError(t, d.QueryRow(t.Context(), `SELECT count(*) FROM `+pgx.Identifier{table}.Sanitize()+` AS r WHERE CAST(r AS TEXT) LIKE '%' || $1 || '%'`, text).Scan(&n), table)
		if n > 0 {
			found[table] = n
		}
	}
	return found
}

// The address that documents were mailed to is nowhere any more after the client was anonymized, but where it expires.
func TestAnonymizedAddressIsNowhere(t *testing.T) {
	t.Parallel()
	c := newCustomers(t)
	call := func(method, path, body string) string { // as the console does, with a record of the change
		t.Helper()
		var sent any
		if body != "" {
			sent = json.RawMessage(body)
		}
		by := httpapi.InternalCaller{Principal: c.principal(t), Record: c.node.Console.Record}
		raw, err := apitest.Inside(t.Context(), c.node.API, by, method, path, sent)
		require.NoError(t, err, "%s %s", method, path)
		return string(raw)
	}
	const line = `"items":[{"kind":"custom","name":"Work","unitPrice":1000}]`
	order := c.OK(t, "POST", "/orders", `{"customerId":"`+c.ann+`",`+line+`}`).ID(t)
	invoice := c.OK(t, "POST", "/orders/"+order+"/invoices", "").ID(t) // before the client has an address, which it would keep
	sale := c.OK(t, "POST", "/sales", `{"shiftId":"`+c.shift+`","paymentMethod":"cash","customerId":"`+c.ann+`",`+line+`}`).ID(t)
	call("PATCH", "/clients/"+c.ann, `{"email":"`+privateAddress+`"}`)
	call("POST", "/orders/"+order+"/mails", `{"document":"confirmation","email":"`+privateAddress+`"}`)
	call("POST", "/sales/"+sale+"/mails", `{"email":"`+privateAddress+`"}`)
	call("POST", "/invoices/"+invoice+"/mails", `{"email":"`+privateAddress+`"}`)
	before := textsOf(t, c.node.DB, privateAddress)
	for _, table := range []string{"clients", "order_history", "notices", "admin_changes"} {
		require.NotZero(t, before[table], "%s of %v", table, before)
	}
	require.Equal(t, 3, before["notices"])

	call("POST", "/clients/"+c.ann+"/anonymize", "")
	after := textsOf(t, c.node.DB, privateAddress)
	for _, table := range tablesWithExpiry {
		delete(after, table)
	}
	require.Empty(t, after)
	history := c.OK(t, "GET", "/orders/"+order+"/history", "").Raw
	require.Contains(t, history, `"to":"confirmation"`)
	var waiting int
	require.NoError(t, c.node.DB.QueryRow(t.Context(), `SELECT count(*) FROM notices WHERE status = 'pending' AND record_id = ANY($1::UUID[])`, []string{order, sale, invoice}).Scan(&waiting))
	require.Zero(t, waiting)
	call("POST", "/clients/"+c.ann+"/anonymize", "")
}

// What is mailed to customers leaves no address in the record of changes, of which anonymizing knows nothing.
func TestMailsAreDiscreet(t *testing.T) {
	t.Parallel()
	mails := 0
	for _, op := range rolestest.BothAPIs()[httpapi.BasePath].Ops() {
		if strings.HasSuffix(op.Path, "/mails") && op.Method != http.MethodGet {
			mails++
			require.True(t, op.Discreet, op.ID)
		}
	}
	require.GreaterOrEqual(t, mails, 3)
}

// principal is that of a token of the company with all scopes.
func (c customers) principal(t *testing.T) *access.Principal {
	t.Helper()
	reached, err := c.node.Company.Access(t.Context(), c.company)
	require.NoError(t, err)
	return reached.Principal(uuid.New(), "test", access.Scopes{"*:write"})
}

// Documents about a client do not outlive it; what is attached to an order too is part of that.
func TestAttachments(t *testing.T) {
	t.Parallel()
	c := newCustomers(t)
	upload := func(text string) string {
		t.Helper()
		return c.OK(t, "POST", "/files?name=a.txt", text, "Content-Type", "text/plain").ID(t)
	}
	list := func(ids ...string) string { return `"attachmentFileIds":["` + strings.Join(ids, `","`) + `"]` }
	contract, passport, signed := upload("the contract"), upload("the passport"), upload("signed on delivery")
	const line = `"items":[{"kind":"custom","name":"Work","unitPrice":1000}]`
	ids := func(r *rolestest.Reply) []any { return r.Body["attachmentFileIds"].([]any) }

	order := c.OK(t, "POST", "/orders", `{"customerId":"`+c.ann+`",`+list(contract)+`,`+line+`}`)
	at := "/orders/" + order.ID(t)
	require.Equal(t, []any{contract}, ids(order))
	require.Equal(t, []any{}, ids(c.OK(t, "POST", "/orders", `{`+line+`}`)))
	c.Do(t, "POST", "/orders", `{`+list(c.ann)+`,`+line+`}`).Refused(t, 404, "FILE_NOT_FOUND", "an unknown file")
	stranger, _ := c.node.Owner(t)
	foreign := stranger.OK(t, "POST", "/files", rolestest.APicture(), "Content-Type", "image/png").ID(t)
	c.Do(t, "PATCH", at, `{`+list(foreign)+`}`).Refused(t, 404, "FILE_NOT_FOUND", "a file of another company")
	c.Do(t, "PATCH", at, `{`+list(contract, contract)+`}`).Refused(t, 400, "VALIDATION_ERROR", "a file twice")
	many := make([]string, 21)
	for i := range many {
		many[i] = contract
	}
	c.Do(t, "PATCH", at, `{`+list(many...)+`}`).Refused(t, 400, "VALIDATION_ERROR", "too many")
	c.OK(t, "POST", at+"/status/cancelled", "")
	require.Equal(t, []any{signed, contract}, ids(c.OK(t, "PATCH", at, `{`+list(signed, contract)+`}`)), "also of one that is over")
	require.Equal(t, []any{signed, contract}, ids(c.OK(t, "GET", at, "")))
	require.NotContains(t, c.OK(t, "GET", "/orders", "").Body["items"].([]any)[0], "attachmentFileIds")
	c.Do(t, "DELETE", "/files/"+signed, "").Refused(t, 409, "FILE_IN_USE", "a file of an order")

	// The files of a client that is merged go to the other one, where they can be removed.
	c.OK(t, "PATCH", "/clients/"+c.ann, `{`+list(passport, contract)+`}`)
	c.OK(t, "PATCH", "/clients/"+c.bo, `{`+list(contract)+`}`)
	c.OK(t, "POST", "/clients/"+c.ann+"/merge", `{"intoId":"`+c.bo+`"}`)
	require.Equal(t, []any{contract, passport}, ids(c.OK(t, "GET", "/clients/"+c.bo, "")))
	require.Equal(t, []any{}, ids(c.OK(t, "GET", "/clients/"+c.ann, "")))
	full := c.OK(t, "POST", "/clients", `{"kind":"individual","displayName":"Full"}`).ID(t)
	var some []string
	for i := range 19 {
		some = append(some, upload("page "+strings.Repeat("i", i+1)))
	}
	c.OK(t, "PATCH", "/clients/"+full, `{`+list(some...)+`}`)
	c.Do(t, "POST", "/clients/"+full+"/merge", `{"intoId":"`+c.bo+`"}`).Refused(t, 409, "CLIENT_MERGE_LIMIT_REACHED", "21 files together")

	c.OK(t, "POST", "/clients/"+c.bo+"/anonymize", "")
	require.Equal(t, []any{}, ids(c.OK(t, "GET", "/clients/"+c.bo, "")))
	for more := true; more; {
		var err error
		more, err = c.node.Files.Sweep(t.Context())
		require.NoError(t, err)
	}
	c.Do(t, "GET", "/files/"+passport, "").Refused(t, 404, "FILE_NOT_FOUND", "a document about a client that is no more")
	c.OK(t, "GET", "/files/"+contract, "")
	require.Equal(t, []any{signed, contract}, ids(c.OK(t, "GET", at, "")))

	// Fields of images refuse documents.
	refused := c.Do(t, "POST", "/catalog/products", `{"name":"Bell","price":1,"photoFileIds":["`+contract+`"]}`)
	refused.Refused(t, 400, "VALIDATION_ERROR", "a document as an image")
	require.Contains(t, refused.Raw, `"field":"photoFileIds[0]","code":"FORMAT"`)
}
