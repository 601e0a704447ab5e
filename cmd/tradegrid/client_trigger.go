package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// testEvent is the event of test messages.
const testEvent = "webhook.test"

// TriggerCmd makes an event happen.
type TriggerCmd struct {
	ClientFlags
	Event string        `arg:"" optional:"" help:"Name of the event, such as order.shipped; without one, those that can be triggered are listed." placeholder:"EVENT"`
	Wait  time.Duration `help:"How long to wait until the event is in the log." default:"30s"`
}

// Run makes the event happen in a test company, and whatever it needs first.
func (c *TriggerCmd) Run(ctx context.Context, out io.Writer) error {
	if c.Event == "" {
		return listTriggers(out)
	}
	requests, ok := triggers[c.Event]
	switch {
	case !ok && notTriggered[c.Event] != "":
		return fmt.Errorf("%s cannot be triggered: %s", c.Event, notTriggered[c.Event])
	case !ok:
		return fmt.Errorf("%s: there is no such event; `tradegrid trigger` lists those that can be triggered", c.Event)
	}
	api, err := c.client()
	if err != nil {
		return err
	}
	var me struct {
		CompanyName string
		IsTest      bool
	}
	if err := api.call(ctx, http.MethodGet, "/token", nil, &me); err != nil {
		return err
	}
	if !me.IsTest {
		return fmt.Errorf("%s is not a test company: trigger makes records, and would mix them with those of the business; use a token of a test company", me.CompanyName)
	}
	day := time.Now().UTC().AddDate(1, 0, 0).Format(time.DateOnly)
	t := &trigger{api: api, out: out, run: uuid.NewString()[:8]}
	t.names = map[string]string{"run": t.run, "start": day + "T10:00:00Z", "later": day + "T11:00:00Z"}
	after, err := t.cursor(ctx)
	if err != nil {
		return err
	}
	for _, r := range requests {
		if _, err := t.request(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", r, err)
		}
	}
	return t.await(ctx, c.Event, after, c.Wait)
}

func listTriggers(out io.Writer) error {
	rows := [][]any{}
	for _, name := range slices.Sorted(maps.Keys(triggers)) {
		rows = append(rows, []any{name, strings.Join(methodsAndPaths(triggers[name]), ", ")})
	}
	for _, name := range slices.Sorted(maps.Keys(notTriggered)) {
		rows = append(rows, []any{name, "not: " + notTriggered[name]})
	}
	return table(out, "EVENT REQUESTS", rows)
}

func methodsAndPaths(requests []string) (all []string) {
	for _, r := range requests {
		method, rest, _ := strings.Cut(r, " ")
		path, _, _ := strings.Cut(rest, " ")
		all = append(all, method+" "+path)
	}
	return all
}

// trigger is a run of the command.
type trigger struct {
	api   *apiClient
	out   io.Writer
	run   string
	names map[string]string // what stands for each
	made  []string          // ids of what was made
}

var placeholder = regexp.MustCompile(`\$[a-zA-Z]+`)

// request sends a request that is written as method, path and body; a name alone is only made. What its names stand for is made
// first.
func (t *trigger) request(ctx context.Context, text string) (answer json.RawMessage, err error) {
	for _, name := range placeholder.FindAllString(text, -1) {
		if err := t.make(ctx, name[1:]); err != nil {
			return nil, err
		}
	}
	method, rest, ok := strings.Cut(placeholder.ReplaceAllStringFunc(text, func(name string) string { return t.names[name[1:]] }), " ")
	if !ok {
		return nil, nil
	}
	path, body, _ := strings.Cut(rest, " ")
	err = t.api.send(ctx, method, path, []byte(body), &answer)
	if err != nil || method == http.MethodGet {
		return answer, err
	}
	var made struct{ ID string }
	_ = json.Unmarshal(answer, &made) // some answers have no id
	if made.ID != "" {
		t.made = append(t.made, made.ID)
	}
	fmt.Fprintf(t.out, "%s %s → %s\n", method, path, show(made.ID))
	return answer, nil
}

// make makes what a name stands for, once.
func (t *trigger) make(ctx context.Context, name string) error {
	if t.names[name] != "" {
		return nil
	}
	thing, ok := things[name]
	if !ok {
		return fmt.Errorf("nothing is known of $%s", name)
	}
	answer, err := t.request(ctx, thing.request)
	if none, ok := errors.AsType[*apiError](err); ok && none.Status == http.StatusNotFound && thing.otherwise != "" {
		answer, err = t.request(ctx, thing.otherwise)
	}
	if err != nil {
		return err
	}
	if thing.pick == nil {
		thing.pick = func(answer any) any { return valueAt(answer, "id") }
	}
	var v any
	if err := json.Unmarshal(answer, &v); err != nil {
		return fmt.Errorf("read the answer of the API: %w", err)
	}
	if t.names[name], ok = thing.pick(v).(string); !ok {
		return fmt.Errorf("the company has no %s, which the event needs", thing.what)
	}
	return nil
}

// cursor is the place in the event log from which the event will be found; "" when the token may not read the log.
func (t *trigger) cursor(ctx context.Context) (string, error) {
	var page struct{ NextCursor string }
	err := t.api.call(ctx, http.MethodGet, "/events", url.Values{"start": {"now"}}, &page)
	if refused, ok := errors.AsType[*apiError](err); ok && refused.Status == http.StatusForbidden {
		return "", nil
	}
	return page.NextCursor, err
}

// await shows the event once it is in the log: the one that names what was made here.
func (t *trigger) await(ctx context.Context, event, after string, wait time.Duration) error {
	switch {
	case event == testEvent:
		fmt.Fprintf(t.out, "%s goes to that subscription alone, and is not in the event log\n", event)
		return nil
	case after == "":
		fmt.Fprintf(t.out, "%s was caused; the token lacks events:read, so it is not shown\n", event)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	f := &feed{feedFlags: feedFlags{Events: []string{event}, Every: 200 * time.Millisecond}, api: t.api, out: t.out, cursor: after}
	found := false
	err := f.follow(ctx, func(_ context.Context, e *logged) error {
		if !found && t.concerns(e) {
			found = true
			fmt.Fprintln(t.out, e.line())
			cancel()
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%s was caused, but is not in the log after %s; look later with `tradegrid events tail --events %s --from %s`", event, wait, event, f.cursor)
	}
	return err
}

// concerns reports whether an event names something that was made here.
func (t *trigger) concerns(e *logged) bool {
	return slices.ContainsFunc(append(t.made, t.run), func(id string) bool { return strings.Contains(string(e.raw), id) })
}

// valueAt is the value at a path of keys in decoded JSON; nil where there is none.
func valueAt(v any, keys ...string) any {
	for _, key := range keys {
		object, _ := v.(map[string]any)
		v = object[key]
	}
	return v
}

// firstWhere is the value at the path in the first element of a list for which ok holds.
func firstWhere(list any, ok func(any) bool, keys ...string) any {
	all, _ := list.([]any)
	for _, v := range all {
		if ok(v) {
			return valueAt(v, keys...)
		}
	}
	return nil
}

func anyValue(any) bool { return true }

// firstID is the id of the first record of a list without pages, firstItemID that of one with pages.
func firstID(list any) any { return firstWhere(list, anyValue, "id") }

func firstItemID(page any) any { return firstID(valueAt(page, "items")) }

// thing is what a request stands for that makes or finds it.
type thing struct {
	request   string
	otherwise string        // when that is answered 404
	pick      func(any) any // from the answer; nil = its id
	what      string        // of what the company may lack
}

// stageWith finds a stage of the first type of deals, of those with an outcome or of those without one that are not the first.
func stageWith(outcome any) func(any) any {
	return func(types any) any {
		return firstWhere(firstWhere(types, anyValue, "stages"), func(s any) bool { return valueAt(s, "outcome") == outcome && valueAt(s, "isInitial") == false }, "id")
	}
}

// things are what the requests below need; $run is a text of this run alone, $start and $later are times in a year.
var things = map[string]thing{
	"category":     {request: `POST /catalog/categories {"name":"Trigger $run"}`},
	"product":      {request: `POST /catalog/products {"name":"Trigger $run","price":1200,"hasStock":true,"categoryId":"$category"}`},
	"service":      {request: `POST /catalog/services {"name":"Trigger $run","priceModel":"fixed","price":3000,"durationMinutes":30}`},
	"client":       {request: `POST /clients {"kind":"individual","displayName":"Trigger $run"}`},
	"lead":         {request: `POST /leads {"name":"Trigger $run"}`},
	"user":         {request: `GET /users`, pick: firstID, what: "user"},
	"dealType":     {request: `GET /deals/types`, pick: firstID, what: "type of deals"},
	"nextStage":    {request: `GET /deals/types`, pick: stageWith(nil), what: "second stage of its deals"},
	"wonStage":     {request: `GET /deals/types`, pick: stageWith("won"), what: "stage that wins a deal"},
	"lostStage":    {request: `GET /deals/types`, pick: stageWith("lost"), what: "stage that loses a deal"},
	"lostReason":   {request: `GET /deals/lost-reasons`, pick: firstID, what: "reason for lost deals"},
	"deal":         {request: `POST /deals {"typeId":"$dealType","note":"Trigger $run"}`},
	"order":        {request: `POST /orders {"items":[{"refId":"$product","qty":2}],"customerName":"Trigger $run"}`},
	"payment":      {request: `POST /orders/$order/payments {"amount":100,"method":"card"}`},
	"shift":        {request: `GET /shifts/current`, otherwise: `POST /shifts/open {"openingCash":0}`},
	"sale":         {request: `POST /sales {"shiftId":"$shift","items":[{"refId":"$product","qty":1}],"paymentMethod":"cash","customerName":"Trigger $run"}`},
	"warehouse":    {request: `GET /warehouse/warehouses`, pick: firstItemID, what: "warehouse"},
	"receipt":      {request: `POST /warehouse/receipts {"warehouseId":"$warehouse","items":[{"productId":"$product","qty":10,"unitCost":500}]}`},
	"resource":     {request: `POST /scheduling/resources {"type":"staff","name":"Trigger $run","serviceIds":["$service"],"timeZone":"UTC"}`},
	"booking":      {request: `POST /scheduling/bookings {"resourceId":"$resource","serviceId":"$service","startAt":"$start","customerName":"Trigger $run","customerPhone":"+15550100"}`},
	"subscription": {request: `GET /webhooks/subscriptions`, pick: firstItemID, what: "subscription"},
}

// triggers are the requests that make an event happen, each written as method, path and body.
var triggers = map[string][]string{
	"category.created": {`$category`},
	"category.updated": {`PATCH /catalog/categories/$category {"color":"#112233"}`},
	"category.deleted": {`DELETE /catalog/categories/$category`},

	"product.created":       {`$product`},
	"product.updated":       {`PATCH /catalog/products/$product {"price":1300}`},
	"product.deleted":       {`DELETE /catalog/products/$product`},
	"product.bulk_repriced": {`$product`, `POST /catalog/products/bulk-price {"filter":{"categoryId":"$category"},"rule":{"type":"percent","value":5}}`},
	"service.created":       {`$service`},
	"service.updated":       {`PATCH /catalog/services/$service {"price":3200}`},
	"service.deleted":       {`DELETE /catalog/services/$service`},

	"client.created":             {`$client`},
	"client.updated":             {`PATCH /clients/$client {"note":"triggered"}`},
	"client.archived":            {`POST /clients/$client/archive`},
	"client.restored":            {`POST /clients/$client/archive`, `POST /clients/$client/restore`},
	"client.interaction.created": {`POST /clients/$client/interactions {"type":"call","direction":"in","subject":"Trigger $run"}`},

	"lead.created":        {`$lead`},
	"lead.updated":        {`PATCH /leads/$lead {"message":"triggered"}`},
	"lead.status_changed": {`PATCH /leads/$lead/status {"status":"in_progress"}`},
	"lead.assigned":       {`POST /leads/$lead/assign {"assigneeId":"$user"}`},
	"lead.converted":      {`POST /leads/$lead/convert`},
	"deal.created":        {`$deal`},
	"deal.updated":        {`PATCH /deals/$deal {"note":"Trigger $run, changed"}`},
	"deal.stage_changed":  {`PATCH /deals/$deal/stage {"stageId":"$nextStage"}`},
	"deal.won":            {`PATCH /deals/$deal/stage {"stageId":"$wonStage"}`},
	"deal.lost":           {`PATCH /deals/$deal/stage {"stageId":"$lostStage","lostReasonId":"$lostReason"}`},

	"order.created":          {`$order`},
	"order.updated":          {`PATCH /orders/$order {"note":"triggered"}`},
	"order.status_changed":   {`POST /orders/$order/status/confirmed`},
	"order.shipped":          {`POST /orders/$order/shipments {"carrier":"Trigger $run"}`},
	"order.cancelled":        {`POST /orders/$order/status/cancelled`},
	"order.payment.created":  {`POST /orders/$order/payments {"amount":100,"method":"card","reference":"Trigger $run"}`},
	"order.payment.refunded": {`POST /orders/$order/payments/$payment/refund {"amount":50,"reason":"Trigger $run"}`},
	"sale.completed":         {`$sale`},
	"sale.updated":           {`PATCH /sales/$sale {"metadata":{"trigger":"$run"}}`},
	"sale.refunded":          {`POST /sales/$sale/refund`},
	"shift.opened":           {`POST /shifts/$shift/close {"closingCash":0}`, `POST /shifts/open {"openingCash":0}`},
	"shift.cash_moved":       {`POST /shifts/$shift/cash-movements {"type":"in","amount":500,"reason":"Trigger $run"}`},
	"shift.closed":           {`POST /shifts/$shift/close {"closingCash":0}`},

	"stock.movement.created":      {`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count"}`},
	"stock.adjusted":              {`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count"}`},
	"stock.low":                   {`POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":5,"reason":"count","reorderPoint":2}`, `POST /warehouse/stocks/adjust {"warehouseId":"$warehouse","productId":"$product","targetQty":1,"reason":"count"}`},
	"warehouse.receipt.created":   {`$receipt`},
	"warehouse.receipt.updated":   {`PATCH /warehouse/receipts/$receipt {"metadata":{"trigger":"$run"}}`},
	"warehouse.receipt.cancelled": {`POST /warehouse/receipts/$receipt/cancel`},

	"booking.created":        {`$booking`},
	"booking.rescheduled":    {`PATCH /scheduling/bookings/$booking {"startAt":"$later"}`},
	"booking.confirmed":      {`POST /scheduling/bookings/$booking/confirm`},
	"booking.status_changed": {`POST /scheduling/bookings/$booking/confirm`},
	"booking.completed":      {`POST /scheduling/bookings/$booking/confirm`, `POST /scheduling/bookings/$booking/complete`},
	"booking.no_show":        {`POST /scheduling/bookings/$booking/confirm`, `POST /scheduling/bookings/$booking/no-show`},
	"booking.cancelled":      {`POST /scheduling/bookings/$booking/cancel {"reason":"triggered"}`},
	"calendar.event.created": {`$booking`},
	"calendar.event.updated": {`PATCH /scheduling/bookings/$booking {"startAt":"$later"}`},
	"calendar.event.deleted": {`POST /scheduling/bookings/$booking/cancel {"reason":"triggered"}`},

	testEvent: {`POST /webhooks/subscriptions/$subscription/test`},
}

// notTriggered are the events that no request of an integration causes, with what does.
var notTriggered = map[string]string{
	"token.expiring":   "the platform raises it 30, 7 and 1 days before a token expires",
	"webhook.disabled": "the platform raises it when it disables a subscription whose receiver has failed for days",
	"user.invited":     "operators invite users, over the admin API or with `tradegrid admin user invite`",
	"user.activated":   "operators activate users, over the admin API or with `tradegrid admin user activate`",
	"user.blocked":     "operators block users, over the admin API or with `tradegrid admin user block`",
}
