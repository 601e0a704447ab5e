package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/tenant"
)

// ListItem is a client as lists show it (ClientListItemResponse).
type ListItem struct {
	ID             uuid.UUID    `json:"id" format:"uuid"`
	CompanyID      tenant.ID    `json:"companyId" format:"uuid"`
	Kind           string       `json:"kind" enum:"individual,legal"`
	DisplayName    string       `json:"displayName"`
	FirstName      *string      `json:"firstName"`
	LastName       *string      `json:"lastName"`
	MiddleName     *string      `json:"middleName"`
	CompanyName    *string      `json:"companyName"`
	Position       *string      `json:"position"`
	Phone          *string      `json:"phone"`
	Email          *string      `json:"email"`
	INN            *string      `json:"inn"`
	Tags           []string     `json:"tags"`
	Status         string       `json:"status" enum:"active,archived"`
	Balance        money.Amount `json:"balance"`
	Points         int64        `json:"points"`
	GroupID        *uuid.UUID   `json:"groupId" format:"uuid" nullable:"true"`
	PriceListID    *uuid.UUID   `json:"priceListId" format:"uuid" nullable:"true"`
	CreditLimit    money.Amount `json:"creditLimit"`
	AssignedToID   *uuid.UUID   `json:"assignedToId" format:"uuid" nullable:"true"`
	AssignedToName *string      `json:"assignedToName" doc:"null when nobody is assigned or the user was removed"`
	record.Meta
}

const listedColumns = `id, company_id, kind, display_name, first_name, last_name, middle_name, company_name, "position", phone, email, inn,
tags, status, balance, points, group_id, price_list_id, credit_limit, assigned_to_id, version, ev_pos, created_at, updated_at`

func (l *ListItem) targets() []any {
	return append([]any{
		&l.ID, &l.CompanyID, &l.Kind, &l.DisplayName, &l.FirstName, &l.LastName, &l.MiddleName, &l.CompanyName, &l.Position, &l.Phone, &l.Email,
		&l.INN, &l.Tags, &l.Status, &l.Balance, &l.Points, &l.GroupID, &l.PriceListID, &l.CreditLimit, &l.AssignedToID,
	}, l.Targets()...)
}

var clientList = list.Spec{
	From:    "clients",
	Columns: listedColumns,
	Sorts: map[string]list.Sort{
		"displayName": {Column: "display_name", Type: "TEXT"},
		"createdAt":   {Column: "created_at", Type: "TIMESTAMPTZ"},
		"updatedAt":   {Column: "updated_at", Type: "TIMESTAMPTZ"},
	},
}

// Filter selects and orders clients.
type Filter struct {
	list.Params
	Sort         string     `query:"sort" enum:"displayName,createdAt,updatedAt"`
	Kind         []string   `query:"kind" enum:"individual,legal" doc:"one or several, with commas"`
	Status       []string   `query:"status" enum:"active,archived" doc:"one or several, with commas; default both"`
	AssignedToID *uuid.UUID `query:"assignedToId" format:"uuid"`
	Tag          string     `query:"tag" maxLength:"64" doc:"clients that have this tag"`
}

// Clients lists clients. The search also finds a phone by its digits, however it is written.
func (s *Service) Clients(ctx context.Context, company tenant.ID, f Filter) (*list.Page[ListItem], error) {
	q, err := list.New(clientList, company, f.Params, f.Sort)
	if err != nil {
		return nil, err
	}
	q.Search("search_text")
	q.In("kind", f.Kind)
	q.In("status", f.Status)
	q.Equal("assigned_to_id", f.AssignedToID)
	if f.Tag != "" {
		q.Where("tags @> ?::TEXT[]", []string{f.Tag})
	}
	page, err := list.Fetch(ctx, s.db, q, (*ListItem).targets)
	if err != nil {
		return nil, err
	}
	return page, s.nameAssigned(ctx, company, page.Items)
}

// nameAssigned fills in the names of the users that the clients are assigned to.
func (s *Service) nameAssigned(ctx context.Context, company tenant.ID, items []ListItem) error {
	var ids []uuid.UUID
	seen := map[uuid.UUID]bool{}
	for _, l := range items {
		if l.AssignedToID != nil && !seen[*l.AssignedToID] {
			seen[*l.AssignedToID] = true
			ids = append(ids, *l.AssignedToID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names, err := s.users.Names(ctx, s.db, company, ids)
	if err != nil {
		return err
	}
	for i, l := range items {
		if l.AssignedToID == nil {
			continue
		}
		if name, ok := names[*l.AssignedToID]; ok && name != "" {
			items[i].AssignedToName = &name
		}
	}
	return nil
}
