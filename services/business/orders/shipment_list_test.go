package orders_test

import (
	"net/url"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A carrier tells its number after the goods have left, and a sync reads what has changed since.
func TestParcelsOfShipments(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	order := func() any {
		return s.create("items", []any{map[string]any{"kind": "custom", "name": "Lamp", "unitPrice": 100, "qty": 2}})["id"]
	}
	one, other := order(), order()
	first := s.ship(one, map[string]any{"carrier": "Green Street", "trackingNumber": "GS-1"}).OK(201)
	second := s.ship(other, map[string]any{}).OK(201)
	found := func(query string) (ids []any) {
		for _, item := range s.Do(s.t, "GET", "/shipments?"+query, nil).OK(200)["items"].([]any) {
			ids = append(ids, item.(map[string]any)["id"])
		}
		return ids
	}
	for query, want := range map[string][]any{
		"": {second["id"], first["id"]}, "sort=number": {first["id"], second["id"]}, "trackingNumber=GS-1": {first["id"]}, "trackingNumber=gs": nil,
		"search=green": {first["id"]}, "search=gs-": {first["id"]}, "orderId=" + other.(string): {second["id"]}, "status=cancelled": nil, "number=2": {second["id"]},
		"updatedSince=2020-01-01T00:00:00Z": {first["id"], second["id"]}, "shippedTo=2020-01-01": nil,
	} {
		require.Equal(t, want, found(query), query)
	}
	item := s.Do(t, "GET", "/shipments?orderId="+one.(string), nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.EqualValues(t, s.read(one)["number"], item["orderNumber"])

	at := "/orders/" + other.(string) + "/shipments/" + second["id"].(string)
	before := len(s.events())
	watermark := s.Do(t, "GET", at, nil).OK(200)["updatedAt"].(string)
	changed := s.Do(t, "PATCH", at, map[string]any{"carrier": "Parcel Pigeon", "trackingNumber": "PP-77"}).OK(200)
	require.Equal(t, []any{"Parcel Pigeon", "PP-77", nil, 2.0, second["lines"]}, []any{changed["carrier"], changed["trackingNumber"], changed["note"], changed["version"], changed["lines"]})
	require.Equal(t, changed["version"], s.Do(t, "PATCH", at, map[string]any{"trackingNumber": "PP-77"}).OK(200)["version"], "the same again changes nothing")
	names, data := s.lastEvents(before)
	require.Equal(t, []string{"order.shipment.updated"}, names)
	require.Equal(t, []any{"PP-77", other}, []any{data[0]["trackingNumber"], data[0]["order"].(map[string]any)["id"]})
	require.Equal(t, []any{second["id"]}, found("search=pigeon"))
	require.Contains(t, found("updatedSince="+url.QueryEscape(watermark)), second["id"])

	s.cancel(other, second["id"]).OK(200)
	require.Equal(t, "PP-78", s.Do(t, "PATCH", at, map[string]any{"trackingNumber": "PP-78"}).OK(200)["trackingNumber"], "in any state")
	require.Equal(t, []any{second["id"]}, found("status=cancelled"))
	s.Do(t, "PATCH", "/orders/"+one.(string)+"/shipments/"+second["id"].(string), map[string]any{"note": "x"}).Fault(404, "SHIPMENT_NOT_FOUND")
	s.Do(t, "PATCH", "/orders/"+uuid.NewString()+"/shipments/"+second["id"].(string), map[string]any{"note": "x"}).Fault(404, "ORDER_NOT_FOUND")
}
