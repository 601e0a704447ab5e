package clients

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/document"
)

// Owner names the client that a record belongs to.
type Owner struct {
	ClientID uuid.UUID `json:"clientId" format:"uuid" db:",insert"`
}

func (o *Owner) owner() uuid.UUID { return o.ClientID }

// owned is a record that belongs to a client.
type owned[T any] interface {
	*T
	record.Record
	owner() uuid.UUID
}

// part holds the records of one kind that belong to clients; P is *T.
type part[T any, P owned[T]] struct {
	*resource.Table[T]
	entity string
}

func partOf[T any, P owned[T]](name db.Table, entity string) part[T, P] {
	return part[T, P]{resource.Of[T, P](name, entity), entity}
}

// check returns a 404 if the record belongs to another client.
func (p part[T, P]) check(client uuid.UUID, v *T) error {
	if P(v).owner() == client {
		return nil
	}
	return apierr.NotFound(p.entity, P(v).RecordKey().ID.String())
}

// get reads a record of the client.
func (p part[T, P]) get(ctx context.Context, q db.Querier, company tenant.ID, client, id uuid.UUID) (v T, err error) {
	if err := exists(ctx, q, company, client); err != nil {
		return v, err
	}
	if v, err = p.Get(ctx, q, company, id); err != nil {
		return v, err
	}
	return v, p.check(client, &v)
}

// change changes a record of the client; mutate is called with both locked.
func (p part[T, P]) change(
	ctx context.Context, tx *db.Tx, by access.Caller, client, id uuid.UUID, mutate func(before T, v *T) error,
) (v T, err error) {
	if _, err := hold(ctx, tx, by.Company, client); err != nil {
		return v, err
	}
	return p.Change(ctx, tx, by, id, func(before T, v *T) error {
		if err := p.check(client, v); err != nil {
			return err
		}
		return mutate(before, v)
	})
}

// remove deletes a record of the client.
func (p part[T, P]) remove(ctx context.Context, tx *db.Tx, by access.Caller, client, id uuid.UUID) error {
	if _, err := hold(ctx, tx, by.Company, client); err != nil {
		return err
	}
	return p.Delete(ctx, tx, by, id, func(v T) error { return p.check(client, &v) })
}

// pageOf reads a page of the records of the client.
func pageOf[T, F any](ctx context.Context, d db.Querier, view *list.View[T, F], company tenant.ID, client uuid.UUID, f F) (*list.Page[T], error) {
	q, err := view.Query(company, f)
	if err != nil {
		return nil, err
	}
	if err := exists(ctx, d, company, client); err != nil {
		return nil, err
	}
	q.Where("client_id = ?", client)
	return view.Fetch(ctx, d, q)
}

// exists returns a 404 if the company has no such client.
func exists(ctx context.Context, q db.Querier, company tenant.ID, client uuid.UUID) error {
	known, err := table.Known(ctx, q, company, []uuid.UUID{client})
	if err != nil {
		return err
	}
	if len(known) == 0 {
		return apierr.NotFound("CLIENT", client.String())
	}
	return nil
}

// sqlHold writes the client as well as locking it, so that concurrent SERIALIZABLE transactions see the conflict.
var sqlHold = clients.Update(`SET ev_pos = ev_pos WHERE company_id = $1 AND id = $2 RETURNING display_name, anonymized_at IS NOT NULL, merged_into_id`)

// hold locks a client whose addresses, assets or interactions change, and returns its name. It is the first statement of the
// transaction. An anonymized client is a 409, and so is one that was merged.
func hold(ctx context.Context, tx *db.Tx, company tenant.ID, client uuid.UUID) (name string, err error) {
	var anonymized bool
	var merged *uuid.UUID
	err = tx.LockBy(ctx, sqlHold, company, client).Scan(&name, &anonymized, &merged)
	switch {
	case db.IsNoRows(err):
		return "", apierr.NotFound("CLIENT", client.String())
	case err != nil:
		return "", fmt.Errorf("lock client: %w", err)
	case merged != nil:
		return "", document.Merged(*merged)
	case anonymized:
		return "", errAnonymized
	}
	return name, nil
}

var errAnonymized = apierr.StateConflict("CLIENT_ANONYMIZED", "the client is anonymized, which is final; create another client")
