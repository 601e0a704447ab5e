package leads

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/event"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/document"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Conversion is the result of a conversion to a client.
type Conversion struct {
	ClientID uuid.UUID `json:"clientId" format:"uuid"`
	Created  bool      `json:"created" doc:"this request created the client; false if the lead matched an existing one or was converted before"`
}

// RecordID is the last segment of the client's address.
func (c Conversion) RecordID() string { return c.ClientID.String() }

// DealConversion is the result of a conversion to a deal.
type DealConversion struct {
	DealID   uuid.UUID `json:"dealId" format:"uuid"`
	ClientID uuid.UUID `json:"clientId" format:"uuid"`
}

// RecordID is the last segment of the deal's address.
func (c DealConversion) RecordID() string { return c.DealID.String() }

// DealInput is the body of a conversion to a deal.
type DealInput struct {
	TypeID *uuid.UUID `json:"typeId" format:"uuid" doc:"default: the type for leads"`
}

// Convert makes a client of the lead, or links the client that it matches; see docs/reference/rules.md#client-matching. A lead
// with a client stays as it is.
func (s *Service) Convert(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Conversion, error) {
	tx.ReadsMore()
	l, err := table.Lock(ctx, tx, by, id)
	if err != nil {
		return Conversion{}, err
	}
	if l.ClientID != nil {
		return Conversion{ClientID: *l.ClientID}, nil
	}
	snapshot := table.Snapshot(l)
	made, err := s.linkClient(ctx, tx, by, &l)
	if err != nil {
		return Conversion{}, err
	}
	return Conversion{ClientID: *l.ClientID, Created: made}, s.storeConverted(ctx, tx, by, snapshot, &l)
}

// ConvertToDeal makes a deal of the lead, and a client as [Service.Convert] does unless it has one. A lead with a deal stays as
// it is.
func (s *Service) ConvertToDeal(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in DealInput) (DealConversion, error) {
	tx.ReadsMore()
	// Conversions of different leads compete for the number of the deal, so the company is locked rather than the lead.
	if err := s.cfg.Deals.LockNumbers(ctx, tx, by.Company); err != nil {
		return DealConversion{}, err
	}
	l, err := table.Lock(ctx, tx, by, id)
	if err != nil {
		return DealConversion{}, err
	}
	if l.DealID != nil && l.ClientID != nil {
		return DealConversion{DealID: *l.DealID, ClientID: *l.ClientID}, nil
	}
	snapshot := table.Snapshot(l)
	if _, err := s.linkClient(ctx, tx, by, &l); err != nil {
		return DealConversion{}, err
	}
	deal, err := s.cfg.Deals.CreateFromLead(ctx, tx, by, trade.DealFromLead{
		TypeID: in.TypeID, ClientID: *l.ClientID, Name: l.Name, Phone: l.Phone, Email: l.Email,
		Source: l.Source, Note: l.Message, AssignedToID: l.AssignedToID,
	})
	if err != nil {
		return DealConversion{}, err
	}
	l.DealID = &deal
	return DealConversion{DealID: deal, ClientID: *l.ClientID}, s.storeConverted(ctx, tx, by, snapshot, &l)
}

// linkClient sets the client of a lead that has none, and the name of its user for the events; made reports whether the client
// had to be created.
func (s *Service) linkClient(ctx context.Context, tx *db.Tx, by access.Caller, l *Lead) (made bool, err error) {
	if err := s.fillNames(ctx, tx, by.Company, l); err != nil {
		return false, err
	}
	if l.ClientID != nil {
		return false, nil
	}
	id, found, err := s.cfg.Clients.MatchClient(ctx, tx, by.Company, by.CountryPrefix, l.Phone, l.Email)
	if err != nil {
		return false, err
	}
	if !found {
		id, err = s.cfg.Clients.CreateFromLead(ctx, tx, by, trade.Contact{
			DisplayName: l.displayName(), Phone: l.Phone, Email: l.Email, Note: l.Message, AssignedToID: l.AssignedToID,
		})
	}
	l.ClientID = &id
	return !found, err
}

// storeConverted stores a lead with its new client or deal.
func (s *Service) storeConverted(ctx context.Context, tx *db.Tx, by access.Caller, snapshot resource.Snapshot[Lead], l *Lead) error {
	l.Status = StatusConverted
	events := []event.Event[Lead]{converted}
	if snapshot.Before.Status != StatusConverted {
		events = []event.Event[Lead]{statusChanged, converted}
	}
	return table.Store(ctx, tx, by, snapshot, l, events...)
}

// OfClient gives the leads of a client to the one that it is merged into.
func OfClient() document.Follow { return document.FollowIn("leads", "client_id") }
