package orders

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/outbox"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

const (
	counterKind = "order"
	aggregate   = "order"
)

// Create stores a new order with the next number. It runs its own transaction, in which the orders that the company
// creates at the same time are stored together; keep, which may be nil, adds to it and may run several times.
// The JSON form of the order goes to keep and to the event, so that it is made once.
func (s *Service) Create(ctx context.Context, by access.Caller, in Input, keep func(tx *db.Tx, o Order, raw json.RawMessage) error, opts ...db.Option) (Order, error) {
	made, err := s.draft(ctx, by, in)
	if err != nil {
		return Order{}, err
	}
	opts = append([]db.Option{db.WithFact(stored(by.Company, made.ID))}, opts...)
	err = s.cfg.Numbers.Do(ctx, by.Company, counterKind, func(ctx context.Context, tx *db.Tx, number int64) error {
		made.Number = number
		raw, err := s.insert(ctx, tx, by, made)
		if err != nil || keep == nil {
			return err
		}
		return keep(tx, made, raw)
	}, opts)
	if fault.Is(err, errExternalTaken.Code) {
		err = s.nameTwin(ctx, by.Company, in, err)
	}
	return made, err
}

// nameTwin adds the order that took the external id after it was looked for.
func (s *Service) nameTwin(ctx context.Context, company tenant.ID, in Input, taken error) error {
	twin, err := selectExternal(ctx, s.db, company, in.Source, *in.ExternalID)
	if err != nil || twin == nil {
		return taken
	}
	return externalTaken(*twin)
}

// Preview is what an order would come to.
type Preview struct {
	Subtotal        money.Amount  `json:"subtotal"`
	DiscountPercent money.Percent `json:"discountPercent"`
	DiscountAmount  money.Amount  `json:"discountAmount"`
	Total           money.Amount  `json:"total"`
	DeliveryCost    money.Amount  `json:"deliveryCost"`
	AmountDue       money.Amount  `json:"amountDue"`
	Lines           []Line        `json:"lines"`
}

// Preview computes an order without storing it. The ids of its lines mean nothing.
func (s *Service) Preview(ctx context.Context, by access.Caller, in Input) (Preview, error) {
	o, err := s.draft(ctx, by, in)
	if err != nil {
		return Preview{}, err
	}
	return Preview{
		Subtotal: o.Subtotal, DiscountPercent: o.DiscountPercent, DiscountAmount: o.DiscountAmount, Total: o.Total,
		DeliveryCost: o.DeliveryCost, AmountDue: o.AmountDue, Lines: o.Lines,
	}, nil
}

// draft reads and computes everything of a new order but its number.
func (s *Service) draft(ctx context.Context, by access.Caller, in Input) (Order, error) {
	if err := checkItems(in.Items); err != nil {
		return Order{}, err
	}
	f, err := s.look(ctx, s.db, by.Company, references{
		items: itemRefs(in.Items), customer: in.CustomerID, asset: in.AssetID, address: in.AddressID, deal: in.DealID,
		assigned: in.AssignedToID, warehouse: in.WarehouseID, standard: true, source: in.Source, external: in.ExternalID,
	})
	if err != nil {
		return Order{}, err
	}
	lines, err := goods{items: f.items, prices: f.prices}.lines(in.Items)
	if err != nil {
		return Order{}, err
	}
	if err := f.check(in.CustomerID); err != nil {
		return Order{}, err
	}
	o := Order{Header: s.header(by, in), Lines: lines}
	o.WarehouseID, o.AddressLabel = f.warehouse, f.address
	if o.needsWarehouse() {
		return Order{}, errNoWarehouse
	}
	o.snapshot(f.client, in.CustomerName == nil, in.CustomerPhone == nil, in.CustomerEmail == nil)
	if o.PayDueAt == nil && f.client != nil && f.client.PaymentTermsDays != nil {
		o.PayDueAt = dueAfter(o.CreatedAt.Std(), *f.client.PaymentTermsDays)
	}
	if err := o.setDelivery(in.DeliveryMethod); err != nil {
		return Order{}, err
	}
	if err := o.price(); err != nil {
		return Order{}, err
	}
	o.reserve()
	o.derive()
	return o, nil
}

// header is what the new order takes from the body as it is.
func (s *Service) header(by access.Caller, in Input) Header {
	h := Header{
		ID: record.NewID(), CompanyID: by.Company, Status: statusNew, CustomerID: in.CustomerID, AssetID: in.AssetID, AddressID: in.AddressID,
		CustomerName: in.CustomerName, CustomerPhone: in.CustomerPhone, CustomerEmail: in.CustomerEmail, CustomerNote: in.CustomerNote,
		Channel: in.Channel, Source: in.Source, ExternalID: in.ExternalID, DealID: in.DealID,
		DeliveryCost: in.DeliveryCost, DeliveryAddressText: in.DeliveryAddressText, DueAt: in.DueAt, ReadyBy: in.ReadyBy, PayDueAt: in.PayDueAt,
		Note: in.Note, DiscountPercent: in.DiscountPercent, PrepaidAmount: in.PrepaidAmount, wasPaid: in.PrepaidAmount > 0,
		CreatedByID: actor(by), AssignedToID: in.AssignedToID, Meta: record.New(s.now()),
	}
	if h.Channel == nil {
		h.Channel = new("manual")
	}
	return h
}

// actor is who creates or pays; nil = the platform itself.
func actor(by access.Caller) *uuid.UUID {
	if by.Actor == uuid.Nil {
		return nil
	}
	return &by.Actor
}

// snapshot copies what is wanted of the customer.
func (o *Order) snapshot(c *Client, name, phone, email bool) {
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

// insert queues all writes of a new order. It may run several times, each time with another number.
func (s *Service) insert(ctx context.Context, tx *db.Tx, by access.Caller, o Order) (json.RawMessage, error) {
	insertOrder(tx, &o)
	insertLines(tx, &o)
	if o.PrepaidAmount > 0 {
		insertPayment(tx, &o, by, o.PrepaidAmount, o.CreatedAt)
		if err := s.addBalance(ctx, tx, &o, o.PrepaidAmount); err != nil {
			return nil, err
		}
	}
	s.cfg.Stock.Reserve(tx, by, o.reserved(1))
	raw, err := marshal(o)
	if err != nil {
		return nil, err
	}
	return raw, s.raise(ctx, tx, by, eventCreated, 0, &o, raw, nil)
}

func (s *Service) raise(ctx context.Context, tx *db.Tx, by access.Caller, name string, offset int64, o *Order, raw json.RawMessage, extra any) error {
	return outbox.Raise(ctx, tx, by.Company, outbox.Event{
		Name: name, Actor: by.Actor, Type: aggregate, ID: o.ID, Meta: o.Meta, Offset: offset, Data: raw, Extra: extra,
	})
}

// marshal writes JSON as clients and receivers read it.
func marshal(v any) (json.RawMessage, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write order as JSON: %w", err)
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}
