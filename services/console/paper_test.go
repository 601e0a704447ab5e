package console_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/platform/company"
)

// Documents are printed from the page of a record, one or several at once, and kept as PDFs. Of another company there are none.
func TestDocumentsArePrinted(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	other, _ := p.shopWithBusiness()
	owner := p.signedIn(own.people[company.RoleOwner])
	_, err := p.DB.Exec(t.Context(), `UPDATE companies SET document_name = 'Nordic & Sons', document_address = $2, document_paper = 'letter' WHERE id = $1`, own.id, "Kai 1\n20457 Hamburg")
	require.NoError(t, err)
	calls, foreign := p.calls(own), p.calls(other)
	logo := uuid.New()
	_, err = p.DB.Exec(t.Context(), `INSERT INTO files (company_id, id, name, media_type, size, width, height, sha256, thumbnails, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, 'wordmark.png', 'image/png', 1, 1, 1, '', '[]', '', 1, 1, now(), now())`, own.id, logo)
	require.NoError(t, err)
	settings := owner.filledIn(owner.ask(http.MethodGet, root+"/settings", nil))
	settings.Set("documentLogoId", logo.String())
	require.Equal(t, http.StatusSeeOther, owner.ask(http.MethodPost, root+"/settings", settings).status)
	require.Contains(t, p.signedIn(own.people[company.RoleDeveloper]).ask(http.MethodGet, root+"/settings", nil).body, "wordmark.png")
	for _, d := range []struct{ list, address, says string }{
		{"/invoices", "/paper/invoices/invoice", "Invoice 1"},
		{"/orders", "/paper/orders/confirmation", "Order confirmation "},
		{"/orders", "/paper/orders/delivery-note", "Delivery note for order "},
		{"/orders", "/paper/orders/pick-list", "Pick list for order "},
		{"/orders", "/paper/orders/receipt", "Order "},
		{"/sales", "/paper/sales/receipt", "Receipt "},
		{"/shifts", "/paper/shifts/report", "Interim report of shift "},
		{"/catalog/products", "/paper/products/labels", ""},
	} {
		id := calls.first(d.list)
		page := owner.ask(http.MethodGet, root+d.address+"?ids="+id, nil)
		require.Equal(t, http.StatusOK, page.status, page.body)
		if d.list != "/catalog/products" {
			require.Contains(t, page.body, d.says)
			issuedBefore := d.list == "/invoices" // it keeps the letterhead that it was issued with
			require.Equal(t, !issuedBefore, strings.Contains(page.body, "Nordic &amp; Sons"))
			require.Equal(t, !issuedBefore, strings.Contains(page.body, "20457 Hamburg"))
			require.Contains(t, page.body, root+"/paper/logo", "an image whose content is gone leaves a document without it")
		}
		file := owner.ask(http.MethodGet, root+d.address+"?format=pdf&ids="+id, nil)
		require.Equal(t, "application/pdf", file.header.Get("Content-Type"), "%s: %s", d.address, file.body)
		require.True(t, strings.HasPrefix(file.body, "%PDF-"))
		refused := owner.ask(http.MethodGet, root+d.address+"?ids="+id+","+foreign.first(d.list), nil)
		require.Equal(t, http.StatusNotFound, refused.status, "%s with a record of another company", d.address)
		none := owner.ask(http.MethodGet, root+d.address+"?ids=x&format=pdf", nil)
		require.Equal(t, http.StatusOK, none.status)
		require.Contains(t, none.body, "Nothing is chosen to print")
	}
	order := calls.first("/orders")
	page := owner.ask(http.MethodGet, root+"/orders/"+order, nil)
	for _, name := range []string{"confirmation", "delivery-note", "receipt", "pick-list"} {
		require.Contains(t, page.body, root+"/paper/orders/"+name+"?ids="+order+"#print")
	}
	require.Contains(t, owner.ask(http.MethodGet, root+"/shifts/"+calls.first("/shifts"), nil).body, root+"/paper/shifts/report?ids=")
	many := owner.ask(http.MethodGet, root+"/paper/orders/pick-list?ids="+strings.Repeat(order+",", 60), nil)
	require.Contains(t, many.body, "Only the first 50 are printed")
	long := owner.ask(http.MethodGet, root+"/paper/products/labels?copies=100&ids="+strings.Repeat(calls.first("/catalog/products")+",", 6), nil)
	require.Contains(t, long.body, "600 labels are too many")
	twice := owner.ask(http.MethodGet, root+"/paper/orders/confirmation?ids="+order+","+order, nil)
	require.Equal(t, 2, strings.Count(twice.body, `class="sheet letter"`))
}

// A document goes to the client as PDF; the history says what was sent to whom.
func TestDocumentsAreMailed(t *testing.T) {
	t.Parallel()
	p := newPages(t)
	own, root := p.shopWithBusiness()
	owner, calls := p.signedIn(own.people[company.RoleOwner]), p.calls(own)
	for _, d := range []struct{ list, page, document, kind string }{
		{"/invoices", "/invoices", "", "customer.document.invoice"},
		{"/orders", "/orders", "delivery-note", "customer.document.order.delivery-note"},
		{"/sales", "/sales", "", "customer.document.sale.receipt"},
	} {
		at := root + d.page + "/" + calls.first(d.list)
		form := owner.filledIn(owner.ask(http.MethodGet, at+"/do/mail", nil))
		form.Set("document", d.document)
		form.Set("email", "no address")
		require.Equal(t, http.StatusUnprocessableEntity, owner.ask(http.MethodPost, at+"/do/mail", form).status)
		form.Set("email", "ada@example.com")
		sent := owner.ask(http.MethodPost, at+"/do/mail", form)
		require.Equal(t, http.StatusSeeOther, sent.status, sent.body)
		require.Equal(t, sent.location, owner.ask(http.MethodPost, at+"/do/mail", form).location, "sent twice, it is the same mail")
		var recipient, subject, name, begins string
		err := p.DB.QueryRow(t.Context(), `SELECT recipient, subject, file_name, convert_from(substring(file_bytes FROM 1 FOR 5), 'UTF8') FROM notices WHERE company_id = $1 AND kind = $2`, own.id, d.kind).
			Scan(&recipient, &subject, &name, &begins)
		require.NoError(t, err, d.kind)
		require.Equal(t, []string{"ada@example.com", "%PDF-"}, []string{recipient, begins})
		require.Contains(t, name, ".pdf")
		require.Contains(t, subject, strings.TrimSuffix(name, ".pdf"))
	}
	history := owner.ask(http.MethodGet, root+"/orders/"+calls.first("/orders")+"?tab=history", nil)
	require.Contains(t, history.body, "delivery-note: ada@example.com")
}
