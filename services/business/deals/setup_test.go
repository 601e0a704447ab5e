package deals_test

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/calendar"
	"github.com/tradegrid/tradegrid/services/business/codes"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/business/trade"
	"github.com/tradegrid/tradegrid/services/business/trade/tradetest"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

// neighbours are the other domains as a test sets them up.
type neighbours struct {
	*tradetest.Shop
	clients   map[uuid.UUID]trade.Client
	addresses map[uuid.UUID]string
	assets    []uuid.UUID
	venues    map[uuid.UUID]*int32 // capacity
}

func (n *neighbours) DocumentClient(_ context.Context, _ db.Querier, _ tenant.ID, id uuid.UUID, _ bool) (trade.Client, bool, error) {
	c, ok := n.clients[id]
	return c, ok, nil
}

func (n *neighbours) AddressLabel(_ context.Context, _ db.Querier, _ tenant.ID, id uuid.UUID) (string, bool, error) {
	label, ok := n.addresses[id]
	return label, ok, nil
}

func (n *neighbours) KnownAssets(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool { return !slices.Contains(n.assets, id) }), nil
}

var makeUses sync.Once //nolint:gochecknoglobals // the tests of a process share a database

const (
	sqlCreateUses = `CREATE TABLE IF NOT EXISTS test_venue_uses (
    company_id  UUID NOT NULL,
    resource_id UUID NOT NULL,
    id          UUID NOT NULL,
    start_at    TIMESTAMPTZ NOT NULL,
    end_at      TIMESTAMPTZ NOT NULL,
    CONSTRAINT test_venue_uses_pkey PRIMARY KEY (company_id, resource_id, id)
)`
	sqlTakenUse = `SELECT EXISTS (SELECT 1 FROM test_venue_uses WHERE company_id = $1 AND resource_id = $2 AND id <> $3 AND start_at < $5 AND end_at > $4)`
)

var (
	sqlDeleteUse = db.Table("test_venue_uses").Delete(`WHERE company_id = $1 AND id = $2`)
	sqlInsertUse = db.Table("test_venue_uses").Insert(`(company_id, resource_id, id, start_at, end_at) VALUES ($1, $2, $3, $4, $5)`)
)

// UseVenue keeps the uses of venues in a table, because they are part of the transactions.
func (n *neighbours) UseVenue(ctx context.Context, tx *db.Tx, by access.Caller, before, now *trade.VenueUse) error {
	if before != nil {
		tx.Queue(sqlDeleteUse, by.Company, before.DealID)
	}
	if now == nil {
		return nil
	}
	capacity, ok := n.venues[now.ResourceID]
	if !ok {
		return apierr.ReferenceNotFound("RESOURCE", "venueResourceId", now.ResourceID.String())
	}
	if capacity != nil && now.Headcount != nil && *now.Headcount > *capacity {
		return apierr.StateConflict("VENUE_CAPACITY_EXCEEDED", "too many guests")
	}
	if now.StartAt == nil || now.EndAt == nil {
		return nil
	}
	var taken bool
	if err := tx.QueryRow(ctx, sqlTakenUse, by.Company, now.ResourceID, now.DealID, *now.StartAt, *now.EndAt).Scan(&taken); err != nil {
		return err
	}
	if taken {
		return apierr.StateConflict("BOOKING_SLOT_TAKEN", "the venue is taken")
	}
	tx.Queue(sqlInsertUse, by.Company, now.ResourceID, now.DealID, *now.StartAt, *now.EndAt)
	return nil
}

type kit struct {
	*apitest.Client
	*neighbours

	t       *testing.T
	db      *db.DB
	service *deals.Service
	server  *apitest.Server
}

// shop has what most tests need of the other domains.
type shop struct {
	client, archived, anna, unnamed, address, asset, hall, anywhere uuid.UUID
	tea, guide, hidden                                              uuid.UUID
}

func setup(t *testing.T) (kit, shop) {
	t.Helper()
	d := dbtest.Open(t)
	makeUses.Do(func() {
		_, err := d.Exec(t.Context(), sqlCreateUses)
		require.NoError(t, err)
	})
	ids := shop{
		uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New(),
		uuid.New(), uuid.New(), uuid.New(),
	}
	n := &neighbours{
		Shop: &tradetest.Shop{
			Users:     apitest.Users{ids.anna: "Anna", ids.unnamed: ""},
			PriceList: map[trade.ItemRef]money.Amount{tradetest.Product(ids.tea): 450},
			Items: map[trade.ItemRef]trade.Item{
				tradetest.Product(ids.tea):       {SKU: "TEA", Name: "Tea", Unit: "pcs", Price: 500, Cost: 200},
				{Kind: "service", ID: ids.guide}: {SKU: "GUIDE", Name: "Guide", Unit: "h", Price: 9000, Cost: 4000},
				tradetest.Product(ids.hidden):    {SKU: "OLD", Name: "Old", Unit: "pcs", Price: 100, Cost: 50, Hidden: true},
			},
		},
		clients: map[uuid.UUID]trade.Client{
			ids.client:   {ID: ids.client, DisplayName: "Acme", Phone: new("+49 30 1"), Email: new("office@example.com"), PriceListID: new(uuid.New())},
			ids.archived: {ID: ids.archived, DisplayName: "Gone", Archived: true},
		},
		addresses: map[uuid.UUID]string{ids.address: "Office"}, assets: []uuid.UUID{ids.asset},
		venues: map[uuid.UUID]*int32{ids.hall: new(int32(50)), ids.anywhere: nil},
	}
	s := deals.New(deals.Config{
		DB: d, Access: apitest.Registry(), Catalog: n, Clients: n, Users: n, Calendar: calendar.New(), PriceLists: n, Taxes: n.TaxRates, Addresses: n, Assets: n.KnownAssets, Venues: n, Channels: codes.Channel,
	})
	server := apitest.New(t, d, s.Register)
	k := kit{server.Company(), n, t, d, s, server}
	k.seed(k.Principal.Company)
	return k, ids
}

func (k kit) seed(company tenant.ID) {
	k.t.Helper()
	require.NoError(k.t, k.db.RunTx(k.t.Context(), "test", func(_ context.Context, tx *db.Tx) error {
		deals.CreateDefault(tx, company)
		return nil
	}))
}

func (k kit) by() access.Caller { return access.Caller{Principal: k.Principal} }

// run runs a change of the service.
func run[T any](k kit, change func(ctx context.Context, tx *db.Tx) (T, error)) (v T, err error) {
	err = k.db.RunTx(k.t.Context(), "test", func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = change(ctx, tx)
		return err
	})
	return v, err
}

// dealType is a type with its stages by name.
type dealType struct {
	ID     string
	stages map[string]string
}

// typeOf reads a type by its alias.
func (k kit) typeOf(alias string) dealType {
	k.t.Helper()
	var all []struct {
		ID, Alias string
		Stages    []struct{ ID, Name string }
	}
	k.Do(k.t, "GET", "/deals/types?includeInactive=true", nil).Decode(&all)
	for _, t := range all {
		if t.Alias == alias {
			found := dealType{t.ID, map[string]string{}}
			for _, s := range t.Stages {
				found.stages[s.Name] = s.ID
			}
			return found
		}
	}
	require.Fail(k.t, "no type "+alias)
	return dealType{}
}

// reason reads a lost reason by its alias.
func (k kit) reason(alias string) string {
	k.t.Helper()
	var all []struct{ ID, Alias string }
	k.Do(k.t, "GET", "/deals/lost-reasons?includeInactive=true", nil).Decode(&all)
	for _, r := range all {
		if r.Alias == alias {
			return r.ID
		}
	}
	require.Fail(k.t, "no reason "+alias)
	return ""
}

func (k kit) post(body object) object {
	k.t.Helper()
	if _, ok := body["typeId"]; !ok {
		body["typeId"] = k.typeOf("sales").ID
	}
	return k.Do(k.t, "POST", "/deals", body).OK(201)
}

func (k kit) patch(id any, body any) object {
	k.t.Helper()
	return k.Do(k.t, "PATCH", "/deals/"+id.(string), body).OK(200)
}

func (k kit) read(id any) object {
	k.t.Helper()
	return k.Do(k.t, "GET", "/deals/"+id.(string), nil).OK(200)
}

// move moves a deal to a stage; it alternates the methods, which do the same.
func (k kit) move(id any, body object) *apitest.Response {
	k.t.Helper()
	method := []string{"PATCH", "POST"}[len(id.(string)+body["stageId"].(string))%2]
	return k.Do(k.t, method, "/deals/"+id.(string)+"/stage", body)
}

func (k kit) raised() apitest.Raised {
	k.t.Helper()
	return apitest.RaisedBy(k.t, k.db, k.Principal.Company)
}

func tea(s shop) trade.ItemRef { return tradetest.Product(s.tea) }
