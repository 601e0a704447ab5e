package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

const (
	repriceStep       = 500 // products per step, and at most so many in an event
	repriceCountLimit = 10 * time.Second

	// maxRepriceItems is the size of the items of one event in bytes, so that none is beyond [event.MaxBody] and loses its data.
	maxRepriceItems = event.MaxBody - 4<<10
)

var errRepriceTooLong = apierr.TooExpensive(list.TooExpensive, 30, "counting the products takes too long; narrow the filter, or retry after the time in Retry-After")

// What a price rule does.
const (
	rulePercent = "percent"
	ruleAmount  = "amount"
	ruleSet     = "set"
)

var repriceJob = job.Type{Name: "product.bulk_price", Resources: []string{group.Scope}}

// RepriceInput says which products get new prices, and how these are calculated; see docs/reference/rules.md#bulk-prices.
type RepriceInput struct {
	Filter RepriceFilter `json:"filter" required:"true" doc:"which active products; all conditions must match, {} is the whole catalog"`
	Rule   RepriceRule   `json:"rule" required:"true"`
}

// RepriceFilter selects active products.
type RepriceFilter struct {
	CategoryID jsontype.IDOrNull `json:"categoryId,omitempty" doc:"id of a category, including those below it, or the text null for products without one"`
	Brand      string            `json:"brand,omitempty" minLength:"1" maxLength:"255" doc:"exact"`
	IDs        []uuid.UUID       `json:"ids,omitempty" format:"uuid" minItems:"1" maxItems:"1000" doc:"ids of products; those that match nothing are left out"`
}

// RepriceRule calculates a price from the one before.
type RepriceRule struct {
	Type    string       `json:"type" required:"true" enum:"percent,amount,set" doc:"percent: changes the price by value percent; amount: by value minor units; set: to value minor units"`
	Value   money.Qty    `json:"value" required:"true" doc:"percent: -100 to 1000, at most 2 decimals; amount: a whole number, negative for lower prices; set: a whole number from 0"`
	RoundTo money.Amount `json:"roundTo,omitempty" minimum:"1" maximum:"1000000000" default:"1" doc:"the new price is rounded to a multiple of this, half up"`
}

// check reports values that the type of the rule does not allow.
func (r RepriceRule) check() error {
	const decimal, whole, percent = 10, 1000, 1000 // in thousandths
	var faults apierr.Fields
	switch {
	case r.Type == rulePercent && r.Value%decimal != 0:
		faults.Add("rule.value", apierr.Step, "must have at most 2 decimals")
	case r.Type == rulePercent && r.Value < -100*percent:
		faults.Add("rule.value", apierr.Min, "must be at least -100, which makes products free")
	case r.Type == rulePercent && r.Value > 1000*percent:
		faults.Add("rule.value", apierr.Max, "must be at most 1000")
	case r.Type != rulePercent && r.Value%whole != 0:
		faults.Add("rule.value", apierr.Step, "must be a whole number of minor units")
	case r.Type == ruleSet && r.Value < 0:
		faults.Add("rule.value", apierr.Min, "must be at least 0")
	}
	return faults.Err()
}

// price is the new price of a product. ok is false if it would be below 0 or above [money.MaxAmount].
func (r RepriceRule) price(before money.Amount) (after money.Amount, ok bool) {
	const whole, percent = 1000, 100 * 1000 // of a value, which is in thousandths
	num, den := int64(1), int64(r.RoundTo)
	switch r.Type {
	case rulePercent:
		num, den = percent+int64(r.Value), percent*den // one exact fraction, rounded once
	case ruleAmount:
		before += money.Amount(r.Value / whole)
	case ruleSet:
		before = money.Amount(r.Value / whole)
	}
	steps, err := money.MulDiv(before, num, den)
	if before < 0 || err != nil || steps > money.MaxAmount/r.RoundTo {
		return 0, false
	}
	return steps * r.RoundTo, true
}

// repriceOrder is what the job is given.
type repriceOrder struct {
	Categories []uuid.UUID `json:"categories"` // nil = any
	Loose      bool        `json:"loose"`      // only products without a category
	Brand      *string     `json:"brand"`
	IDs        []uuid.UUID `json:"ids"` // nil = any
	Until      time.Time   `json:"until"`
	Rule       RepriceRule `json:"rule"`
}

// repriceState is where the job goes on: behind the last product by id.
type repriceState struct {
	After uuid.UUID `json:"after"`
	Parts int64     `json:"parts"` // events raised so far
	Pos   int64     `json:"pos"`   // of the last of them
}

// Repricing is the data of product.bulk_repriced, which tells one part of the prices that a job changed.
type Repricing struct {
	JobID     uuid.UUID       `json:"jobId" format:"uuid"`
	Part      int64           `json:"part" minimum:"1" doc:"which part of the changes of the job this is, counted from 1"`
	Parts     *int64          `json:"parts" minimum:"1" doc:"how many parts there are, in the last one; null = more follow"`
	Count     int64           `json:"count" doc:"products whose price changed, as many as items has"`
	Rule      RepricedBy      `json:"rule"`
	Items     []RepricedPrice `json:"items" doc:"at most 500; the last of several parts may have none"`
	Truncated bool            `json:"truncated" doc:"false: nothing is left out, what is not in items is in another part"`
}

// RepricedBy is the rule of a [Repricing].
type RepricedBy struct {
	Type  string    `json:"type" enum:"percent,amount,set"`
	Value money.Qty `json:"value"`
}

// RepricedPrice is one product of a [Repricing].
type RepricedPrice struct {
	ID         uuid.UUID    `json:"id" format:"uuid"`
	Source     *string      `json:"source"`
	ExternalID *string      `json:"externalId"`
	SKU        string       `json:"sku"`
	OldPrice   money.Amount `json:"oldPrice"`
	NewPrice   money.Amount `json:"newPrice"`
}

// RepriceProducts starts a job that changes the prices of products; see docs/reference/rules.md#bulk-prices.
//
// Errors: 404 for the category, 400 if a price would leave its bounds.
func (s *Service) RepriceProducts(ctx context.Context, tx *db.Tx, by access.Caller, in RepriceInput) (job.Record, error) {
	o, err := newRepriceOrder(in, tx.Now())
	if err != nil {
		return job.Record{}, err
	}
	admission, err := job.Admit(ctx, tx, s.cfg.DB, by.Company)
	if err != nil {
		return job.Record{}, err
	}
	// Outside of the transaction: reading many products in it would make it conflict with changes of any of them.
	if err := s.selectCategories(ctx, by.Company, in.Filter.CategoryID, &o); err != nil {
		return job.Record{}, err
	}
	total, err := s.countToReprice(ctx, by.Company, o)
	if err != nil {
		return job.Record{}, err
	}
	return job.Start(ctx, tx, by, admission, repriceJob, job.Options{Input: o, Total: total})
}

// newRepriceOrder is an order without its categories.
func newRepriceOrder(in RepriceInput, until time.Time) (repriceOrder, error) {
	o := repriceOrder{IDs: in.Filter.IDs, Until: until, Rule: in.Rule}
	if in.Filter.Brand != "" {
		o.Brand = &in.Filter.Brand
	}
	return o, in.Rule.check()
}

// selectCategories sets the categories that the order is about, as the tree has them now.
func (s *Service) selectCategories(ctx context.Context, company tenant.ID, filter jsontype.IDOrNull, o *repriceOrder) error {
	if !filter.Sent() {
		return nil
	}
	id := filter.ID()
	if id == nil {
		o.Loose = true
		return nil
	}
	var t tree
	var refs reference.Set
	refs.Add("CATEGORY", "filter.categoryId", nil, id, categories.Known)
	err := batchloader.Load(ctx, s.cfg.DB, append(refs.Reads(company), func(ctx context.Context, q db.Querier) (err error) {
		t, err = readTree(ctx, q, company)
		return err
	})...)
	if err != nil {
		return err
	}
	for other := range t {
		if path, ok := t.path(other); ok && slices.Contains(path, *id) {
			o.Categories = append(o.Categories, other)
		}
	}
	return nil
}

// The products of an order. Those created after its start are left out, so that the job ends.
const (
	sqlToReprice = ` FROM products WHERE company_id = $1 AND status = 'active' AND created_at <= $2
AND ($3::UUID[] IS NULL OR category_id = ANY($3::UUID[])) AND (NOT $4::BOOLEAN OR category_id IS NULL)
AND ($5::TEXT IS NULL OR brand = $5::TEXT) AND ($6::UUID[] IS NULL OR id = ANY($6::UUID[]))`
	sqlCountToReprice  = `SELECT count(*), COALESCE(min(price), 0), COALESCE(max(price), 0)` + sqlToReprice
	sqlSelectToReprice = `SELECT id` + sqlToReprice + ` AND id > $7 ORDER BY company_id, id LIMIT $8`
	sqlLockToReprice   = `SELECT id, source, external_id, sku, price` + sqlToReprice + ` AND id = ANY($7::UUID[]) ORDER BY company_id, id FOR UPDATE`
)

var sqlReprice = productsTable.Update(`SET price = n.price, version = version + 1, ev_pos = GREATEST(ev_pos + 1, $4::BIGINT), updated_at = $5
FROM unnest($2::UUID[], $3::BIGINT[]) AS n(id, price) WHERE products.company_id = $1 AND products.id = n.id`)

func (o repriceOrder) args(company tenant.ID, more ...any) []any {
	return append([]any{company, o.Until, o.Categories, o.Loose, o.Brand, o.IDs}, more...)
}

// countToReprice counts the products, and checks that no new price leaves its bounds. The rule never puts a lower price above
// a higher one, so the lowest and the highest price tell.
func (s *Service) countToReprice(ctx context.Context, company tenant.ID, o repriceOrder) (n int64, err error) {
	var low, high money.Amount
	b := &pgx.Batch{}
	b.Queue(sqlCountToReprice, o.args(company)...).QueryRow(func(row pgx.Row) error { return row.Scan(&n, &low, &high) })
	if err := s.cfg.DB.ReadWithTimeout(ctx, repriceCountLimit, db.PlanForValues, b); errors.Is(err, db.ErrTooLong) {
		return 0, errRepriceTooLong
	} else if err != nil {
		return 0, fmt.Errorf("count products to reprice: %w", err)
	}
	var faults apierr.Fields
	if _, ok := o.Rule.price(low); !ok && n > 0 && o.Rule.Value < 0 {
		faults.Add("rule.value", apierr.Min, "would make the lowest price, which is %d, negative; use a smaller change, or leave the cheap products out by the filter", low)
	} else if _, ok := o.Rule.price(high); !ok && n > 0 {
		faults.Add("rule.value", apierr.Max, "would raise the highest price, which is %d, above %d; use a smaller change", high, money.MaxAmount)
	}
	return n, faults.Err()
}

// Jobs returns the handlers of the jobs of this domain.
func (s *Service) Jobs() []job.Handler {
	// Each product is locked before its price is read, so no common snapshot is needed.
	return []job.Handler{{Type: repriceJob, Step: s.repriceStep, Tx: []db.Option{db.ReadCommitted()}}}
}

// repriceStep changes the prices of the next products by id, and tells them in the same transaction: an event of one of the products
// that is raised later is told later.
func (s *Service) repriceStep(ctx context.Context, t job.Task) (job.Store, error) {
	var o repriceOrder
	var at repriceState
	if err := errors.Join(t.Input(&o), t.State(&at)); err != nil {
		return nil, err
	}
	ids, err := db.Collect(ctx, s.cfg.DB, "select products to reprice", pgx.RowTo[uuid.UUID], sqlSelectToReprice, o.args(t.Company, at.After, repriceStep+1)...)
	if err != nil {
		return nil, err
	}
	end := len(ids) <= repriceStep // the last step knows that it is
	ids = ids[:min(len(ids), repriceStep)]
	return func(ctx context.Context, tx *db.Tx) (job.Progress, error) {
		changed, err := o.reprice(ctx, tx, t.Company, ids)
		if err != nil {
			return job.Progress{}, err
		}
		next := at
		if len(ids) > 0 {
			next.After = ids[len(ids)-1]
		}
		if err := next.tell(ctx, tx, t, o.Rule, changed, end); err != nil {
			return job.Progress{}, err
		}
		return job.Progress{Done: t.Done + int64(len(ids)), Total: t.Total, End: end, State: next}, nil
	}, nil
}

// reprice locks those of the products that the order still selects, and stores the prices that differ. A price that would leave
// its bounds, because it was changed after the order was checked, stays as it is.
func (o repriceOrder) reprice(ctx context.Context, tx *db.Tx, company tenant.ID, ids []uuid.UUID) ([]RepricedPrice, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := tx.Query(ctx, sqlLockToReprice, o.args(company, ids)...)
	if err != nil {
		return nil, fmt.Errorf("lock products to reprice: %w", err)
	}
	var changed []RepricedPrice
	var changedIDs []uuid.UUID
	var prices []money.Amount
	var p RepricedPrice
	_, err = pgx.ForEachRow(rows, []any{&p.ID, &p.Source, &p.ExternalID, &p.SKU, &p.OldPrice}, func() error {
		var ok bool
		if p.NewPrice, ok = o.Rule.price(p.OldPrice); ok && p.NewPrice != p.OldPrice {
			changed, changedIDs, prices = append(changed, p), append(changedIDs, p.ID), append(prices, p.NewPrice)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("lock products to reprice: %w", err)
	}
	if len(changed) > 0 {
		now := tx.Now()
		tx.Queue(sqlReprice, company, changedIDs, prices, now.UnixMicro(), jsontype.At(now)).Expect(int64(len(changed)), db.ErrStale)
	}
	return changed, nil
}

// tell raises the events of a step of the job. The last step says how many there are, if need be in one without products.
func (at *repriceState) tell(ctx context.Context, tx *db.Tx, t job.Task, rule RepriceRule, changed []RepricedPrice, end bool) error {
	parts, err := partsOf(changed)
	if err != nil {
		return err
	}
	if end && len(parts) == 0 && at.Parts > 0 {
		parts = [][]RepricedPrice{{}}
	}
	for i, items := range parts {
		at.Parts++
		at.Pos = max(at.Pos+1, tx.Now().UnixMicro()) // the clocks of nodes may disagree
		data := Repricing{JobID: t.ID, Part: at.Parts, Count: int64(len(items)), Rule: RepricedBy{Type: rule.Type, Value: rule.Value}, Items: items}
		if end && i == len(parts)-1 {
			data.Parts = &at.Parts
		}
		meta := record.New(tx.Now())
		meta.Version, meta.EvPos = at.Parts, at.Pos
		err := outbox.Raise(ctx, tx, t.Company, outbox.Event{Name: productsRepriced.Name, Actor: t.By.ActorID(), Type: "product", ID: t.ID, Meta: meta, Data: data})
		if err != nil {
			return err
		}
	}
	return nil
}

// partsOf splits what a step changed into lists that fit one event each.
func partsOf(changed []RepricedPrice) (parts [][]RepricedPrice, err error) {
	size, from := 0, 0
	for i, p := range changed {
		raw, err := jsontype.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("measure a price: %w", err)
		}
		if size += len(raw) + len(","); size > maxRepriceItems {
			parts, from, size = append(parts, changed[from:i]), i, len(raw)
		}
	}
	if from < len(changed) {
		parts = append(parts, changed[from:])
	}
	return parts, nil
}
