package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/apierr"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/event"
	"github.com/tradegrid/tradegrid/pkg/lineitem"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
	"github.com/tradegrid/tradegrid/pkg/trade"
)

const (
	counterKind = "order"
	aggregate   = "order"
)

// Create stores a new order with the next number. It runs its own transaction, shared with other orders that the company
// creates at the same time; keep, which may be nil, can add writes to it and may run several times. The order is encoded
// once, for keep and for the event.
//
// Timestamps are those of the order's draft, not of the transaction, so that retries and sharing do not change them.
func (s *Service) Create(ctx context.Context, by access.Caller, in Input, keep func(tx *db.Tx, o Order, raw json.RawMessage) error, opts ...db.Option) (Order, error) {
	made, err := s.draft(ctx, by, in)
	if err != nil {
		return Order{}, err
	}
	opts = append([]db.Option{db.WithCommitCheck(stored(by.Company, made.ID))}, opts...)
	err = s.cfg.Numbers.Do(ctx, by.Company, counterKind, func(ctx context.Context, tx *db.Tx, number int64) error {
		made.Number = number
		raw, err := s.insert(ctx, tx, by, made)
		if err != nil || keep == nil {
			return err
		}
		return keep(tx, made, raw)
	}, opts)
	if apierr.Is(err, errExternalTaken.Code) {
		err = s.nameDuplicate(ctx, by.Company, made.Details, err)
	}
	return made, err
}

// nameDuplicate adds to the error the order that has the external id, if it was stored after the check.
func (s *Service) nameDuplicate(ctx context.Context, company tenant.ID, d Details, taken error) error {
	duplicate, err := selectExternal(ctx, s.db, company, d.Source, *d.ExternalID)
	if err != nil || duplicate == nil {
		return taken
	}
	return externalTaken(*duplicate)
}

// Preview holds the amounts of an order that is not stored.
type Preview struct {
	lineitem.Totals
	DiscountPercent money.Percent `json:"discountPercent"`
	DeliveryCost    money.Amount  `json:"deliveryCost"`
	AmountDue       money.Amount  `json:"amountDue"`
	Lines           []Line        `json:"lines"`
}

// Preview computes an order without storing it. The ids of its lines are not stable.
func (s *Service) Preview(ctx context.Context, by access.Caller, in Input) (Preview, error) {
	o, err := s.draft(ctx, by, in)
	if err != nil {
		return Preview{}, err
	}
	return Preview{
		Totals: o.Totals, DiscountPercent: o.DiscountPercent, DeliveryCost: o.DeliveryCost, AmountDue: o.AmountDue, Lines: o.Lines,
	}, nil
}

// draft computes a new order without its number.
func (s *Service) draft(ctx context.Context, by access.Caller, in Input) (Order, error) {
	if err := lineitem.Check(in.Items); err != nil {
		return Order{}, err
	}
	o := s.newOrder(by, in)
	found, err := s.resolve(ctx, s.db, by.Company, references{
		known: s.refer(&Header{}, &o.Header), items: lineitem.Refs(in.Items), customer: o.CustomerID, address: o.AddressID,
		warehouse: in.WarehouseID, defaultWarehouse: true, source: o.Source, external: o.ExternalID,
	})
	if err != nil {
		return Order{}, err
	}
	if o.Lines, err = found.lines(in.Items, nil); err != nil {
		return Order{}, err
	}
	if err := found.check(o.CustomerID); err != nil {
		return Order{}, err
	}
	o.WarehouseID, o.AddressLabel = found.warehouse, found.address
	if o.needsWarehouse() {
		return Order{}, errNoWarehouse
	}
	o.copyClient(found.client, in.CustomerName == nil, in.CustomerPhone == nil, in.CustomerEmail == nil)
	if o.PayDueAt == nil && found.client != nil && found.client.PaymentTermsDays != nil {
		o.PayDueAt = dueAfter(o.CreatedAt.Std(), *found.client.PaymentTermsDays)
	}
	if err := o.settleDelivery(nil); err != nil {
		return Order{}, err
	}
	return o, o.settle()
}

// newOrder returns an order with the fields copied from the body.
func (s *Service) newOrder(by access.Caller, in Input) Order {
	o := Order{Header: Header{
		Key: record.Key{ID: record.NewID(), CompanyID: by.Company}, Status: statusNew, Details: in.Details, DealID: in.DealID,
		CreatedByID: actor(by), Meta: record.New(s.db.Now()),
	}}
	headers.Normalise(&o.Header)
	if o.Channel == nil {
		o.Channel = new("manual")
	}
	return o
}

// actor returns the user who makes a change; nil = the platform.
func actor(by access.Caller) *uuid.UUID {
	if by.Actor == uuid.Nil {
		return nil
	}
	return &by.Actor
}

// copyClient copies the selected contact data from the customer.
func (o *Order) copyClient(c *trade.Client, name, phone, email bool) {
	if c == nil {
		return
	}
	if name {
		o.CustomerName = &c.DisplayName
	}
	if phone {
		o.CustomerPhone = c.Phone
	}
	if email {
		o.CustomerEmail = c.Email
	}
}

// settle computes the fields that depend on the lines, details and warehouse of the order.
func (o *Order) settle() error {
	if err := o.price(); err != nil {
		return err
	}
	o.reserve()
	o.derive()
	return nil
}

// insert queues all writes of a new order. It may run several times, with a new number each time.
func (s *Service) insert(ctx context.Context, tx *db.Tx, by access.Caller, o Order) (json.RawMessage, error) {
	insertOrder(tx, &o)
	insertLines(tx, &o)
	if o.PrepaidAmount > 0 {
		insertPayment(tx, &o, by, o.PrepaidAmount, o.CreatedAt)
		s.addBalance(tx, &o, o.PrepaidAmount)
	}
	s.cfg.Stock.Reserve(tx, by, o.reserved(1))
	raw, err := marshal(o)
	if err != nil {
		return nil, err
	}
	return raw, s.raise(ctx, tx, by, created, announcement{order: &o, raw: raw})
}

// announcement is the content of an event: raw is the encoded order, changed lists the changed fields.
type announcement struct {
	before, order *Order
	raw           json.RawMessage
	changed       []string
	extra         any   // fields that the event adds to the order, unless it takes them from the order itself
	offset        int64 // of the event among the events of one change
}

func (s *Service) raise(ctx context.Context, tx *db.Tx, by access.Caller, e event.Event[Order], a announcement) error {
	if a.extra == nil {
		a.extra = e.Extra(a.before, a.order, a.changed)
	}
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: e.Name, Actor: by.Actor, Type: aggregate, ID: a.order.ID, Meta: a.order.Meta, Offset: a.offset, Data: a.raw, Extra: a.extra,
	})
}

// marshal encodes JSON without HTML escaping.
func marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode order: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
