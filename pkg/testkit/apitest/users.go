package apitest

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Users are the users of every company of a test, with their names. A test changes them only while no request runs.
type Users map[uuid.UUID]string

// UserNames returns the names of those of the users that are there.
func (u Users) UserNames(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	return known(u, ids), nil
}

// KnownUsers returns those of the users that are there.
func (u Users) KnownUsers(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) (found []uuid.UUID, err error) {
	for id := range known(u, ids) {
		found = append(found, id)
	}
	return found, nil
}

// ActiveUsers says that those of the users that are there are active.
func (u Users) ActiveUsers(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) (map[uuid.UUID]bool, error) {
	active := map[uuid.UUID]bool{}
	for id := range known(u, ids) {
		active[id] = true
	}
	return active, nil
}

func known[K comparable, V any](all map[K]V, keys []K) map[K]V {
	found := map[K]V{}
	for _, k := range keys {
		if v, ok := all[k]; ok {
			found[k] = v
		}
	}
	return found
}

// Owners is a ownermail.Owners: every company has one owner, and no name.
func Owners(context.Context, db.Querier, tenant.ID, int) (name string, addresses []string, err error) {
	return "", []string{"anna@example.com"}, nil
}
