package till

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/lines"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Without a connection, the script of the page keeps sales in the browser, and sends each with its key and its time when the line is back.

// told is what the script is told of a sale that it has sent: it is stored, or refused.
type told struct {
	Sale  string `json:"sale,omitempty"`
	Fault string `json:"fault,omitempty"`
}

// sent stores a sale that was made without a connection. What may be told later, such as an outage, is an error, so that it is sent again.
func (pages *Pages) sent(ctx context.Context, q *web.Request) (web.Answer, error) {
	c := &counter{q: q, form: q.Form, lines: lines.In(q.Form)}
	if uuid.Validate(c.form.Get(keyField)) != nil || uuid.Validate(c.form.Get(shiftField)) != nil {
		return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
	}
	id, err := c.store(ctx)
	if known, ok := apierr.As(err); ok && known.Status < http.StatusInternalServerError && known.Status != http.StatusTooManyRequests && known.Code != inFlight {
		return answered(told{Fault: q.T("till.unsent.refused", ended(q.Fault(err)))})
	}
	if err != nil {
		return web.Answer{}, err
	}
	return answered(told{Sale: id})
}

// inFlight is the code of a sale that another request is about to store.
const inFlight = "IDEMPOTENCY_IN_FLIGHT"

// ended is a sentence with its full stop.
func ended(text string) string { return strings.TrimRight(text, ". ") + "." }

func answered(v any) (web.Answer, error) {
	raw, err := json.Marshal(v)
	return web.Data(raw), err
}

// good is what the script knows of something that can be scanned.
type good struct {
	Codes string `json:"codes"`
	Do    string `json:"do"` // value of a button that adds it
	Unit  string `json:"unit"`
}

// mostKnown is how many goods the script gets, in pages of a list.
const mostKnown = 5

// known are the goods that can be scanned without a connection: the first 1 000 products.
func (pages *Pages) known(ctx context.Context, q *web.Request) (web.Answer, error) {
	c := &counter{q: q}
	all := []good{}
	for page := 1; page <= mostKnown && q.MayCall("listProducts"); page++ {
		found, err := lines.Records(ctx, q, "listProducts", url.Values{
			"page": {strconv.Itoa(page)}, "pageSize": {strconv.Itoa(mostOfPage)}, "include": {"variants"}, "sort": {"createdAt"}, "withTotal": {"false"},
		})
		if err != nil {
			return web.Answer{}, err
		}
		for _, r := range found {
			for _, thing := range lines.Things(lines.Product, r) {
				t := c.tileOf(thing, r)
				all = append(all, good{Codes: t.Codes, Do: t.Do, Unit: t.Unit})
			}
		}
		if len(found) < mostOfPage {
			break
		}
	}
	return answered(all)
}
