package records

import (
	"cmp"
	"context"
	"net/url"

	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// addressID is the field that takes the id of an address, which belongs to a client and has no name beyond it.
const addressID = "addressId"

// mostAddresses is how many addresses of a client are offered.
const mostAddresses = "100"

// addresses are the choices of an address: those of the client. Without a client, or if it has none, there are none.
func addresses(ctx context.Context, q *web.Request, client, current string) (options []web.Option, err error) {
	if client == "" || !q.MayCall("listClientAddresses") {
		return nil, nil
	}
	all, err := addressesOf(ctx, q, client, url.Values{"pageSize": {mostAddresses}})
	for _, r := range all {
		options = append(options, web.Option{Value: r.Text("id"), Text: addressText(r), Selected: r.Text("id") == current})
	}
	return options, err
}

// addressName is what people call an address of a client; its id if there is no such address.
func addressName(ctx context.Context, q *web.Request, client, id string) (string, error) {
	if client == "" || !q.MayCall("listClientAddresses") {
		return id, nil
	}
	found, err := addressesOf(ctx, q, client, url.Values{"ids": {id}})
	if err != nil || len(found) == 0 {
		return id, err
	}
	return addressText(found[0]), nil
}

// addressesOf reads addresses of a client. A client that the person may not see has none.
func addressesOf(ctx context.Context, q *web.Request, client string, query url.Values) (all []resources.Record, err error) {
	raw, err := web.Call[web.JSON](ctx, q, "listClientAddresses", web.Input{Path: map[string]string{"id": client}, Query: query})
	if web.Refused(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var page struct {
		Items []resources.Record `json:"items"`
	}
	err = decode(raw, &page)
	return page.Items, err
}

func addressText(r resources.Record) string {
	text := r.Text("text")
	if label := r.Text("label"); label != "" && text != "" {
		return label + ", " + text
	}
	return cmp.Or(text, r.Text("label"))
}

// clientOf is the client that a form has chosen, or else that of the record.
func clientOf(s shown, typed url.Values) string {
	if typed != nil && typed.Has(clientID) {
		return idOr(typed.Get(clientID))
	}
	return s.record.Text(cmp.Or(s.res.Client, "clientId"))
}

// client is the client that the list is filtered by; "" = none.
func (in listQuery) client() string {
	return idOr(cmp.Or(in.query.Get("clientId"), in.query.Get("customerId")))
}
