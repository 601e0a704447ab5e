package company

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

// facts are the outbox rows of a company.
type fact struct {
	Topic, Event, AggType string
	AggID                 uuid.UUID
	Version, Pos          int64
	Payload               []byte
}

func facts(t *testing.T, d *db.DB, company tenant.ID) []fact {
	t.Helper()
	rows, err := d.Query(t.Context(),
		`SELECT topic, event, agg_type, agg_id, agg_version, pos, payload FROM outbox WHERE company_id = $1 ORDER BY pos, id`, company)
	require.NoError(t, err)
	list, err := pgx.CollectRows(rows, pgx.RowToStructByPos[fact])
	require.NoError(t, err)
	return list
}

func requireFault(t *testing.T, err error, status int, code string) *apierr.Error {
	t.Helper()
	f, ok := apierr.As(err)
	require.Truef(t, ok, "want fault %s, got %v", code, err)
	require.Equal(t, code, f.Code)
	require.Equal(t, status, f.Status)
	return f
}

func TestCreateCompany(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	c := create(t, s, NewCompany{Name: "  Harbour Café ", Components: []string{"orders", "cashier"}})
	got, err := s.Get(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, c, got)
	require.Equal(t, "Harbour Café", got.Name)
	require.Equal(t, "standard", got.Plan)
	require.Equal(t, "c1", got.Cell)
	require.Equal(t, access.StockAllowNegative, got.StockPolicy)
	require.Equal(t, []string{"calendar", "cashier", "catalog", "core", "messenger", "orders"}, got.Components)
	require.Equal(t, clock.at, got.CreatedAt.Std())

	branches, err := s.Branches(t.Context(), c.ID)
	require.NoError(t, err)
	require.Len(t, branches, 1)
	require.True(t, branches[0].IsDefault)
	require.Equal(t, "Main", branches[0].Name)
	_, err = s.CreateBranch(t.Context(), c.ID, "Annex")
	require.NoError(t, err)
	first, err := s.DefaultBranch(t.Context(), s.cfg.DB, c.ID)
	require.NoError(t, err)
	require.Equal(t, &branches[0].ID, first)
	none, err := s.DefaultBranch(t.Context(), s.cfg.DB, tenant.NewID())
	require.NoError(t, err)
	require.Nil(t, none)
	require.Equal(t, []string{"Main in Main"}, warehouses(t, s, c.ID))

	_, err = s.Create(t.Context(), NewCompany{ID: c.ID, Name: "Again"})
	requireFault(t, err, 409, "COMPANY_EXISTS")
	require.Len(t, warehouses(t, s, c.ID), 1)
}

const sqlDefaultWarehouses = `SELECT w.name || ' in ' || b.name FROM warehouses w JOIN branches b ON b.company_id = w.company_id AND b.id = w.branch_id
WHERE w.company_id = $1 AND w.is_default AND b.is_default`

// warehouses are the default warehouses of a company with their default branches.
func warehouses(t *testing.T, s office, id tenant.ID) []string {
	t.Helper()
	rows, err := s.cfg.DB.Query(t.Context(), sqlDefaultWarehouses, id)
	require.NoError(t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	return names
}

func TestCreateCompanyNamesAllFaults(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	_, err := s.Create(t.Context(), NewCompany{
		Plan: "gold", Currency: "usd", CountryPrefix: "49", TimeZone: "Mars/Base", StockPolicy: "maybe", Components: []string{"payroll"},
	})
	f := requireFault(t, err, 400, "VALIDATION_ERROR")
	var fields []string
	for _, field := range f.Fields {
		fields = append(fields, field.Field)
	}
	require.Equal(t, []string{"components", "name", "plan", "currency", "countryPrefix", "timeZone", "stockPolicy"}, fields)
}

func TestArchiveTwiceChangesOnce(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	c := create(t, s, NewCompany{})
	clock.at = clock.at.Add(time.Second)
	first, err := s.Archive(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, Archived, first.Status)
	require.EqualValues(t, 2, first.Version)
	again, err := s.Archive(t.Context(), c.ID)
	require.NoError(t, err)
	require.EqualValues(t, 2, again.Version)
	back, err := s.Unarchive(t.Context(), c.ID)
	require.NoError(t, err)
	require.Nil(t, back.ArchivedAt)
	require.EqualValues(t, 3, back.Version)

	list := facts(t, s.cfg.DB, c.ID)
	require.Len(t, list, 2)
	for i, f := range list {
		require.Equal(t, topics.AuthInvalidations, f.Topic)
		require.EqualValues(t, i+2, f.Version)
		require.JSONEq(t, `{"companyId":"`+c.ID.String()+`"}`, string(f.Payload))
	}
	require.Greater(t, list[1].Pos, list[0].Pos, "positions grow although the clock stands still")
}

func TestPlansAndSettings(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{})
	got, err := s.SetPlan(t.Context(), c.ID, "free")
	require.NoError(t, err)
	require.Equal(t, "free", got.Plan)
	_, err = s.SetPlan(t.Context(), c.ID, "gold")
	requireFault(t, err, 400, "VALIDATION_ERROR")

	block, percent, capped := access.StockBlock, money.Percent(250), new(int32)
	*capped = 7
	got, err = s.Configure(t.Context(), c.ID, Settings{StockPolicy: block, AccrualPercent: percent, MaxInFlight: capped}, "stockPolicy", "accrualPercent", "maxInFlight")
	require.NoError(t, err)
	require.EqualValues(t, 3, got.Version)
	read, err := s.Get(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, got, read)

	same, err := s.Configure(t.Context(), c.ID, Settings{StockPolicy: block, MaxInFlight: capped}, "stockPolicy", "maxInFlight")
	require.NoError(t, err)
	require.EqualValues(t, 3, same.Version, "nothing differs")

	got, err = s.Configure(t.Context(), c.ID, Settings{}, "maxInFlight")
	require.NoError(t, err)
	require.Nil(t, got.MaxInFlight)

	_, err = s.Configure(t.Context(), c.ID, Settings{AccrualPercent: 10_001}, "accrualPercent")
	requireFault(t, err, 400, "VALIDATION_ERROR")
	_, err = s.Configure(t.Context(), tenant.NewID(), Settings{AccrualPercent: percent}, "accrualPercent")
	requireFault(t, err, 404, "COMPANY_NOT_FOUND")
}

func TestComponents(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{Components: []string{}})
	for _, alias := range []string{"core", "catalog", "calendar", "messenger"} {
		_, err := s.SetComponent(t.Context(), c.ID, alias, false)
		requireFault(t, err, 400, "VALIDATION_ERROR")
	}
	on, err := s.SetComponent(t.Context(), c.ID, "deals", true)
	require.NoError(t, err)
	require.Contains(t, on.Components, "deals")
	require.EqualValues(t, 2, on.Version)
	on, err = s.SetComponent(t.Context(), c.ID, "deals", true)
	require.NoError(t, err)
	require.EqualValues(t, 2, on.Version)
	off, err := s.SetComponent(t.Context(), c.ID, "deals", false)
	require.NoError(t, err)
	require.NotContains(t, off.Components, "deals")
	read, err := s.Get(t.Context(), c.ID)
	require.NoError(t, err)
	require.Equal(t, off, read)
	require.Len(t, facts(t, s.cfg.DB, c.ID), 2)
}

func TestComponentsOfSeveralCompanies(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	none := create(t, s, NewCompany{Components: []string{}})
	deals := create(t, s, NewCompany{Components: []string{"deals"}})
	found, err := s.ComponentsOf(t.Context(), []tenant.ID{none.ID, deals.ID, tenant.NewID()})
	require.NoError(t, err)
	require.Len(t, found, 2, "the third does not exist")
	require.Equal(t, none.Components, found[none.ID].List(), "what is always on")
	require.Equal(t, deals.Components, found[deals.ID].List())
	require.True(t, found[deals.ID].Has("deals"))
}

func TestListCompanies(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	tag := uuid.NewString()
	var ids []string
	for _, name := range []string{"Alpha 100% ", "Beta_1 ", "Gamma "} {
		ids = append(ids, create(t, s, NewCompany{Name: name + tag}).ID.String())
	}
	find := func(search string, size int, cursor string) *list.Page[Company] {
		page, err := s.Companies(t.Context(), access.System(tenant.ID{}), Filter{Params: list.Params{Search: search, PageSize: size, Cursor: cursor, Order: "asc"}, Sort: "name"})
		require.NoError(t, err)
		return page
	}
	found := find(tag, 2, "")
	require.Len(t, found.Items, 2)
	rest := find(tag, 2, *found.NextCursor)
	require.Len(t, rest.Items, 1)
	require.Equal(t, apitest.Registry().Components().List(), rest.Items[0].Components)
	require.Equal(t, ids, []string{found.Items[0].ID.String(), found.Items[1].ID.String(), rest.Items[0].ID.String()})
	require.Len(t, find("100% "+tag, 50, "").Items, 1, "a percent sign is only a percent sign")
	require.Len(t, find("BETA_1 "+tag, 50, "").Items, 1)
}

// Whoever works through all companies sees each once.
func TestIDsOfCompanies(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	want := map[tenant.ID]bool{}
	for range 3 {
		want[create(t, s, NewCompany{}).ID] = true
	}
	var after tenant.ID
	seen := map[tenant.ID]int{}
	for {
		ids, err := s.IDs(t.Context(), after)
		require.NoError(t, err)
		if len(ids) == 0 {
			break
		}
		for _, id := range ids {
			seen[id]++
		}
		after = ids[len(ids)-1]
	}
	for id := range want {
		require.Equal(t, 1, seen[id])
	}
}

func TestBranches(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c, other := create(t, s, NewCompany{}), create(t, s, NewCompany{})
	b, err := s.CreateBranch(t.Context(), c.ID, "Airport")
	require.NoError(t, err)
	closed, err := s.SetBranchActive(t.Context(), c.ID, b.ID, false)
	require.NoError(t, err)
	require.False(t, closed.IsActive)
	require.EqualValues(t, 2, closed.Version)
	list, err := s.Branches(t.Context(), c.ID)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, closed, list[1])

	_, err = s.SetBranchActive(t.Context(), c.ID, list[0].ID, false)
	requireFault(t, err, 409, "BRANCH_IS_DEFAULT")
	_, err = s.SetBranchActive(t.Context(), other.ID, b.ID, true)
	requireFault(t, err, 404, "BRANCH_NOT_FOUND")
	_, err = s.CreateBranch(t.Context(), c.ID, " ")
	requireFault(t, err, 400, "VALIDATION_ERROR")
	_, err = s.CreateBranch(t.Context(), tenant.NewID(), "Nowhere")
	requireFault(t, err, 404, "COMPANY_NOT_FOUND")
}

func TestUsersRaiseEvents(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	c, other := create(t, s, NewCompany{}), create(t, s, NewCompany{})
	by := record.NewID()
	u, err := s.InviteUser(t.Context(), c.ID, by, Invitation{Email: " Anna@Example.com", Name: "Anna"})
	require.NoError(t, err)
	require.Equal(t, "anna@example.com", *u.Email)
	_, err = s.InviteUser(t.Context(), c.ID, uuid.Nil, Invitation{Email: "ANNA@example.com"})
	requireFault(t, err, 409, "USER_EMAIL_TAKEN")
	_, err = s.InviteUser(t.Context(), other.ID, uuid.Nil, Invitation{Email: "anna@example.com"})
	require.NoError(t, err, "another company may know the same person")
	_, err = s.InviteUser(t.Context(), c.ID, uuid.Nil, Invitation{Email: "anna"})
	requireFault(t, err, 400, "VALIDATION_ERROR")

	_, err = s.ActivateUser(t.Context(), other.ID, u.ID, uuid.Nil)
	requireFault(t, err, 404, "USER_NOT_FOUND")
	clock.at = clock.at.Add(-time.Hour) // a node whose clock is behind
	_, err = s.ActivateUser(t.Context(), c.ID, u.ID, uuid.Nil)
	require.NoError(t, err)
	_, err = s.ActivateUser(t.Context(), c.ID, u.ID, uuid.Nil)
	require.NoError(t, err)
	blocked, err := s.BlockUser(t.Context(), c.ID, u.ID, by)
	require.NoError(t, err)
	require.EqualValues(t, 3, blocked.Version)

	list := facts(t, s.cfg.DB, c.ID)
	require.Len(t, list, 3)
	for i, want := range []struct{ event, status, actor string }{
		{"user.invited", UserInvited, by.String()}, {"user.activated", UserActive, "system"}, {"user.blocked", UserBlocked, by.String()},
	} {
		require.Equal(t, want.event, list[i].Event)
		require.Equal(t, topics.Events, list[i].Topic)
		require.EqualValues(t, i+1, list[i].Version)
		var body struct {
			Event, ActorID string
			Data           UserData
		}
		require.NoError(t, json.Unmarshal(list[i].Payload, &body))
		require.Equal(t, want.event, body.Event)
		require.Equal(t, want.actor, body.ActorID)
		require.Equal(t, want.status, body.Data.Status)
		require.Equal(t, c.ID, body.Data.CompanyID)
		require.Equal(t, u.ID, body.Data.ID)
	}
}
