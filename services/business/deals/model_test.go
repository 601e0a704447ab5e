package deals_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
)

// modelLine is a line of a deal whose quantity is whole.
type modelLine struct {
	qty, price, cost int64
	perGuest         bool
}

// modelDeal is what a deal must look like.
type modelDeal struct {
	id         string
	stage      string
	lostReason any
	lines      []modelLine
	guests     int64 // 0 = no headcount
	budget     int64 // -1 = none
	discount   int64 // basis points
	venue      string
	from, to   int // hours; 0 = not scheduled
	task       bool
	exceeded   any // budgetExceededAt
	version    float64
	events     map[string]int
}

// model are the deals of a company and what their venues hold.
type model struct {
	kit
	shop
	full   dealType
	reason string
	deals  []*modelDeal
}

func (d *modelDeal) ended() bool {
	return outcomes[d.stage] == "lost" || outcomes[d.stage] == "cancelled"
}

func (d *modelDeal) effective(l modelLine) int64 {
	if l.perGuest && d.guests > 0 {
		return l.qty * d.guests
	}
	return l.qty
}

func (d *modelDeal) sums() (subtotal, total, cost int64) {
	for _, l := range d.lines {
		subtotal += d.effective(l) * l.price
		cost += d.effective(l) * l.cost
	}
	return subtotal, subtotal - (subtotal*d.discount+5000)/10_000, cost
}

// refusal is how the platform must answer a change that leads to d, or "" if it must accept it. used says that the change
// makes the deal take its venue anew.
func (m *model) refusal(d *modelDeal, used bool) string {
	if d.venue == "" || d.ended() || !used {
		return ""
	}
	if d.venue == "hall" && d.guests > 50 {
		return "VENUE_CAPACITY_EXCEEDED"
	}
	taken := func(o *modelDeal) bool {
		return o.id != d.id && !o.ended() && o.venue == d.venue && o.from > 0 && o.to > 0 && o.from < d.to && d.from < o.to
	}
	if d.from > 0 && d.to > 0 && slices.ContainsFunc(m.deals, taken) {
		return "BOOKING_SLOT_TAKEN"
	}
	return ""
}

// backwards reports whether the deal would leave its venue before it comes.
func (d *modelDeal) backwards() bool {
	return d.venue != "" && d.from > 0 && d.to > 0 && d.to <= d.from
}

func (d *modelDeal) uses() any {
	if d.venue == "" || d.ended() {
		return nil
	}
	from, to := d.from, d.to
	if from == 0 || to == 0 {
		from, to = 0, 0
	}
	return [4]any{d.venue, d.guests, from, to}
}

func hour(h int) any {
	if h == 0 {
		return nil
	}
	return fmt.Sprintf("2031-01-01T%02d:00:00.000Z", h)
}

func orNull(n, none int64) any {
	if n == none {
		return nil
	}
	return n
}

// drawFields draws some fields of a deal into d, and the body that sets them.
func (m *model) drawFields(rt *rapid.T, d *modelDeal) object {
	body := object{}
	use := func(name string) bool { return d.id == "" || rapid.IntRange(0, 2).Draw(rt, name+"?") == 0 } // a new deal has all of them
	if use("items") {
		d.lines = rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) modelLine {
			return modelLine{
				rapid.Int64Range(1, 5).Draw(rt, "qty"), rapid.Int64Range(0, 999).Draw(rt, "price"), rapid.Int64Range(0, 500).Draw(rt, "cost"), rapid.Bool().Draw(rt, "perGuest"),
			}
		}), 0, 3).Draw(rt, "lines")
		items := []any{}
		for _, l := range d.lines {
			items = append(items, object{"kind": "custom", "name": "x", "qty": l.qty, "unitPrice": l.price, "unitCost": l.cost, "perGuest": l.perGuest})
		}
		body["items"] = items
	}
	if use("headcount") {
		d.guests = rapid.SampledFrom([]int64{0, 1, 7, 50, 51, 90}).Draw(rt, "headcount")
		body["headcount"] = orNull(d.guests, 0)
	}
	if use("budget") {
		d.budget = rapid.SampledFrom([]int64{-1, 0, 100, 500, 2000, 20_000}).Draw(rt, "budget")
		body["budget"] = orNull(d.budget, -1)
	}
	if use("discountPercent") {
		d.discount = rapid.SampledFrom([]int64{0, 1, 1000, 3333, 10_000}).Draw(rt, "discount")
		body["discountPercent"] = float64(d.discount) / 100
	}
	if use("venue") {
		d.venue = rapid.SampledFrom([]string{"hall", "anywhere", ""}).Draw(rt, "venue")
		body["venueResourceId"] = map[string]any{"": nil, "hall": m.hall, "anywhere": m.anywhere}[d.venue]
	}
	if use("from") {
		d.from = rapid.SampledFrom([]int{1, 2, 3, 0}).Draw(rt, "from")
		body["scheduledAt"] = hour(d.from)
	}
	if use("to") {
		d.to = rapid.SampledFrom([]int{4, 3, 2, 1, 0}).Draw(rt, "to")
		body["dueAt"] = hour(d.to)
	}
	return body
}

func (m *model) create(rt *rapid.T) {
	d := &modelDeal{stage: "start", budget: -1, events: map[string]int{"deal.created": 1}}
	body := m.drawFields(rt, d)
	maps.DeleteFunc(body, func(_ string, v any) bool { return v == nil })
	body["typeId"] = m.full.ID
	got := m.Do(m.t, "POST", "/deals", body)
	if !m.accepted(rt, got, d, m.refusal(d, true), http.StatusCreated) {
		return
	}
	answer := got.OK(http.StatusCreated)
	d.id = answer["id"].(string)
	m.deals = append(m.deals, d)
	require.EqualValues(rt, len(m.deals), answer["number"], "numbers have no gaps")
	m.settled(rt, d, answer)
}

// accepted checks that the answer is a refusal if there is to be one.
func (m *model) accepted(rt *rapid.T, got *apitest.Response, d *modelDeal, code string, status int) bool {
	if d.backwards() {
		require.Equal(rt, map[string]string{"dueAt": "CONFLICT"}, got.Fields())
		return false
	}
	if code != "" {
		require.Equal(rt, http.StatusConflict, got.Status, "%s: %s", code, got.Body)
		require.Contains(rt, string(got.Body), code)
		return false
	}
	require.Equal(rt, status, got.Status, "%s", got.Body)
	return true
}

func (m *model) patch(rt *rapid.T, i int) {
	before := m.deals[i]
	d := *before
	d.events = maps.Clone(before.events)
	body := m.drawFields(rt, &d)
	if rapid.Bool().Draw(rt, "task?") {
		d.task = rapid.Bool().Draw(rt, "task")
		body["nextActionAt"] = map[bool]any{true: "2031-02-01T00:00:00.000Z"}[d.task]
	}
	got := m.Do(m.t, "PATCH", "/deals/"+d.id, body)
	if !m.accepted(rt, got, &d, m.refusal(&d, before.uses() != d.uses()), http.StatusOK) {
		m.same(rt, before, m.read(before.id))
		return
	}
	answer := got.OK(http.StatusOK)
	if answer["version"] != before.version {
		require.Equal(rt, before.version+1, answer["version"])
		d.events["deal.updated"]++
	}
	m.deals[i] = &d
	m.settled(rt, &d, answer)
}

func (m *model) move(rt *rapid.T, i int) {
	before := m.deals[i]
	d := *before
	d.events = maps.Clone(before.events)
	d.stage = rapid.SampledFrom(slices.Sorted(maps.Keys(outcomes))).Draw(rt, "stage")
	withReason := rapid.IntRange(0, 3).Draw(rt, "reason?") > 0
	body := object{"stageId": m.full.stages[d.stage]}
	if withReason {
		body["lostReasonId"] = m.reason
	}
	// Both paths lead to the same rules.
	got := m.Do(m.t, rapid.SampledFrom([]string{"PATCH", "POST"}).Draw(rt, "method"), "/deals/"+d.id+"/stage", body)
	if d.stage == before.stage {
		m.same(rt, before, got.OK(http.StatusOK))
		return
	}
	outcome := outcomes[d.stage]
	if d.lostReason = nil; outcome == "lost" {
		d.lostReason = m.reason
		if !withReason {
			require.Equal(rt, map[string]string{"lostReasonId": "REQUIRED"}, got.Fields())
			m.same(rt, before, m.read(before.id))
			return
		}
	}
	if code := m.refusal(&d, before.uses() != d.uses()); code != "" {
		require.Equal(rt, http.StatusConflict, got.Status, "%s: %s", code, got.Body)
		require.Contains(rt, string(got.Body), code)
		m.same(rt, before, m.read(before.id))
		return
	}
	answer := got.OK(http.StatusOK)
	require.Equal(rt, before.version+1, answer["version"])
	require.Equal(rt, answer["updatedAt"], answer["stageEnteredAt"])
	d.task = d.task && outcome == nil
	d.events["deal.stage_changed"]++
	if (outcome == "won" || outcome == "lost") && outcome != outcomes[before.stage] {
		d.events["deal."+outcome.(string)]++
	}
	m.deals[i] = &d
	d.version = answer["version"].(float64)
	m.same(rt, &d, answer)
}

// settled checks the answer to a change of the fields; whether the budget is exceeded is decided by each.
func (m *model) settled(rt *rapid.T, d *modelDeal, answer object) {
	_, _, cost := d.sums()
	switch {
	case d.budget < 0 || cost <= d.budget:
		d.exceeded = nil
	case d.exceeded == nil:
		d.exceeded = answer["updatedAt"]
	}
	d.version = answer["version"].(float64)
	m.same(rt, d, answer)
}

// same compares a deal with an answer.
func (m *model) same(rt *rapid.T, d *modelDeal, got object) {
	subtotal, total, cost := d.sums()
	require.EqualValues(rt, []any{float64(subtotal), float64(total), float64(cost)}, []any{got["subtotal"], got["total"], got["cost"]})
	require.Equal(rt, d.exceeded, got["budgetExceededAt"], "cost %d, budget %d", cost, d.budget)
	require.Equal(rt, []any{m.full.stages[d.stage], outcomes[d.stage], d.lostReason}, []any{got["stageId"], got["outcome"], got["lostReasonId"]})
	require.Equal(rt, []any{hour(d.from), hour(d.to), d.version}, []any{got["scheduledAt"], got["dueAt"], got["version"]})
	require.Equal(rt, d.task, got["nextActionAt"] != nil)
	lines := got["lines"].([]any)
	require.Len(rt, lines, len(d.lines))
	shares := 0.0
	for i, l := range d.lines {
		line := lines[i].(object)
		require.EqualValues(rt, d.effective(l), line["effectiveQty"])
		require.EqualValues(rt, d.effective(l)*l.price, line["amount"])
		shares += line["discountAmount"].(float64)
	}
	require.EqualValues(rt, subtotal-total, shares, "the lines share the discount")
}

// check compares all deals, their events and what is kept of the venues with the model.
func (m *model) check(rt *rapid.T) {
	got := map[any]map[string]int{}
	for _, e := range m.raised() {
		if !strings.HasPrefix(e.Name, "deal.") {
			continue // of the calendar
		}
		id := e.Data["id"]
		if got[id] == nil {
			got[id] = map[string]int{}
		}
		got[id][e.Name]++
	}
	for _, d := range m.deals {
		m.same(rt, d, m.read(d.id))
		require.Equal(rt, d.events, got[d.id])
		var moves []object
		m.Do(m.t, "GET", "/deals/"+d.id+"/history", nil).Decode(&moves)
		require.Len(rt, moves, d.events["deal.stage_changed"])
	}
	require.Len(rt, got, len(m.deals), "nothing else was announced")
}

// Deals that are created, changed and moved in any order, some of them at the same venue, follow the rules.
func TestDealsFollowTheModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		k, shop := setup(t)
		m := &model{kit: k, shop: shop, full: k.fullType(), reason: k.reason("price")}
		m.create(rt)
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			step := rapid.IntRange(0, 4).Draw(rt, "step")
			if step == 0 || len(m.deals) == 0 {
				m.create(rt)
				continue
			}
			i := rapid.IntRange(0, len(m.deals)-1).Draw(rt, "deal")
			if step < 3 {
				m.patch(rt, i)
			} else {
				m.move(rt, i)
			}
		}
		m.check(rt)
	})
}
