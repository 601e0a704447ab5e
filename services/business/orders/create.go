package orders

import (
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
)

const counterKind = "order"

// Create stores a new order with the next number. It runs its own transaction, shared with other orders that the company
// creates at the same time; storeAnswer, which may be nil, can add writes to it and may run several times. The order is encoded
// once, for storeAnswer and for the event.
//
// Its times are taken with its number, so that both have the same order.
func (s *Service) Create(ctx context.Context, by access.Caller, in Input, storeAnswer func(tx *db.Tx, o Order, raw json.RawMessage) error, opts ...db.Option) (Order, error) {
	made, err := s.draft(ctx, by, in)
	if err != nil {
		return Order{}, err
	}
	opts = append([]db.Option{db.WithCommitCheck(table.Stored(by.Company, made.ID))}, opts...)
	err = s.cfg.Numbers.Do(ctx, by.Company, counterKind, func(ctx context.Context, tx *db.Tx, number int64) error {
		made.Number, made.Meta = number, record.New(tx.Now())
		raw, err := s.insert(ctx, tx, by, made)
		if err != nil || storeAnswer == nil {
			return err
		}
		return storeAnswer(tx, made, raw)
	}, opts)
	return made, err
}

// Preview holds the amounts of an order that is not stored.
type Preview struct {
	lineitem.Totals
	lineitem.Discounts
	DeliveryCost money.Amount `json:"deliveryCost"`
	AmountDue    money.Amount `json:"amountDue"`
	Lines        []Line       `json:"lines"`
}

// Preview computes an order without storing it. The ids of its lines are not stable.
func (s *Service) Preview(ctx context.Context, by access.Caller, in Input) (Preview, error) {
	o, err := s.draft(ctx, by, in)
	if err != nil {
		return Preview{}, err
	}
	return Preview{
		Totals: o.Totals, Discounts: o.Discounts, DeliveryCost: o.DeliveryCost, AmountDue: o.AmountDue, Lines: o.Lines,
	}, nil
}

// draft computes a new order without its number.
func (s *Service) draft(ctx context.Context, by access.Caller, in Input) (_ Order, err error) {
	if err := lineitem.Check(in.Items); err != nil {
		return Order{}, err
	}
	if in.Items, err = lineitem.Identify(ctx, s.cfg.DB, s.cfg.Catalog, by.Company, in.Items); err != nil {
		return Order{}, err
	}
	o := s.newOrder(by, in)
	if o.CustomerID, err = document.Match(ctx, s.cfg.DB, s.cfg.Clients, by, in.MatchCustomer, o.CustomerID, o.CustomerPhone, o.CustomerEmail); err != nil {
		return Order{}, err
	}
	found, err := s.resolve(ctx, s.cfg.DB, &Order{}, &o, in.Items)
	if err != nil {
		return Order{}, err
	}
	if o.Lines, err = found.lines(in.Items, nil, false); err != nil {
		return Order{}, err
	}
	if err := found.CheckClient(); err != nil {
		return Order{}, err
	}
	o.WarehouseID, o.AddressLabel = found.warehouse, found.AddressLabel
	if o.needsWarehouse() {
		return Order{}, errNoWarehouse
	}
	found.CopyContact(document.Unless(in.CustomerName != nil, &o.CustomerName), document.Unless(in.CustomerPhone != nil, &o.CustomerPhone),
		document.Unless(in.CustomerEmail != nil, &o.CustomerEmail))
	if o.PayDueAt == nil && found.Client != nil && found.Client.PaymentTermsDays != nil {
		o.PayDueAt = dueAfter(o.CreatedAt.Std(), *found.Client.PaymentTermsDays)
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
		WarehouseID: in.WarehouseID, Totals: lineitem.Totals{Taxation: lineitem.TaxationOf(by.Settings)}, CreatedByID: actor(by), Meta: record.New(s.cfg.DB.Now()),
	}, Attached: in.Attached}
	plan.Normalise(&o)
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

// settle computes the fields that depend on the lines, details and warehouse of the order.
func (o *Order) settle() error {
	if err := o.price(); err != nil {
		return err
	}
	o.reserve()
	o.Derive()
	return nil
}

// usedByOrder is the entity of references to files.
const usedByOrder = "order"

// insert queues all writes of a new order. It may run several times, with a new number each time.
func (s *Service) insert(ctx context.Context, tx *db.Tx, by access.Caller, o Order) (json.RawMessage, error) {
	raw, err := table.CreateDraft(ctx, tx, by, o, created)
	if err != nil {
		return nil, err
	}
	o.Keep(tx, by.Company, usedByOrder, o.ID, fileuse.Attached{})
	prepaid := newPayment(tx, &o, by, o.PrepaidAmount)
	if err := insertPrepaid(ctx, tx, by, &o, prepaid); err != nil {
		return nil, err
	}
	s.enterPayment(tx, &o, prepaid)
	s.cfg.Stock.Reserve(tx, by, o.reserved(1))
	return raw, nil
}
