package scheduling_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/calendar"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/business/servicecatalog"
)

func TestMain(m *testing.M) { os.Exit(dbtest.Main(m)) }

type object = map[string]any

const noID = "0190f0a0-0000-7000-8000-000000000000"

// people are users and branches whose ids begin with a zero.
func people(_ context.Context, _ db.Querier, _ tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id uuid.UUID) bool { return id[1] != 0 }), nil
}

// users are the [people], without names.
type users struct{}

func (users) UserNames(context.Context, db.Querier, tenant.ID, []uuid.UUID) (map[uuid.UUID]string, error) {
	return nil, nil //nolint:nilnil // nobody has a name
}

func (users) KnownUsers(ctx context.Context, q db.Querier, company tenant.ID, ids []uuid.UUID) ([]uuid.UUID, error) {
	return people(ctx, q, company, ids)
}

const someone = "00000000-0000-7000-8000-000000000001"

func newService(d *db.DB) *scheduling.Service {
	return scheduling.New(scheduling.Config{
		DB: d, Calendar: calendar.New(), Clients: clients.New(clients.Config{DB: d, Users: users{}}),
		Service: servicecatalog.Booked, Services: servicecatalog.Known, Users: people, Branches: people,
	})
}

func newServer(t *testing.T, d *db.DB) *apitest.Server {
	t.Helper()
	services := servicecatalog.New(servicecatalog.Config{
		DB: d, FilterCategory: catalog.FilterCategory, CategoryPrefixes: catalog.CategoryPrefixes, Products: catalog.KnownProducts, Units: catalog.KnownUnits,
	})
	return apitest.New(t, d, services.Register, clients.New(clients.Config{DB: d, Users: users{}}).Register, newService(d).Register)
}

// kit is a caller of a fresh company.
type kit struct {
	*apitest.Client

	t testing.TB
}

func setup(t *testing.T) kit {
	t.Helper()
	return kit{newServer(t, dbtest.Open(t)).Company(), t}
}

// with returns the object with more fields, given as names and values.
func with(o object, fields ...any) object {
	out := object{}
	for name, v := range o {
		out[name] = v
	}
	for i := 0; i < len(fields); i += 2 {
		out[fields[i].(string)] = fields[i+1]
	}
	return out
}

func (k kit) post(path string, body object) object {
	k.t.Helper()
	return k.Do(k.t, "POST", path, body).OK(201)
}

// resource creates a resource that is always open.
func (k kit) resource(fields ...any) string {
	k.t.Helper()
	return k.post("/scheduling/resources", with(object{"type": "staff", "name": "Ann", "workingHours": always()}, fields...))["id"].(string)
}

func (k kit) service(fields ...any) string {
	k.t.Helper()
	return k.post("/catalog/services", with(object{"name": "Haircut", "price": 1000}, fields...))["id"].(string)
}

func (k kit) customer(fields ...any) string {
	k.t.Helper()
	return k.post("/clients", with(object{"kind": "individual", "displayName": "Bo"}, fields...))["id"].(string)
}

func always() (hours []object) {
	for day := range 7 {
		hours = append(hours, object{"weekday": day + 1, "from": "00:00", "to": "24:00"})
	}
	return hours
}

// day is a Tuesday that is far away.
var day = time.Date(2040, 1, 3, 0, 0, 0, 0, time.UTC)

// at is a time on that day.
func at(clock string) string {
	t, err := time.Parse("15:04", clock)
	if err != nil {
		panic(err) // a mistake of the test
	}
	return day.Add(time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute).Format("2006-01-02T15:04:05.000Z")
}

// book posts a booking.
func (k kit) book(resource, start string, fields ...any) *apitest.Response {
	k.t.Helper()
	return k.Do(k.t, "POST", "/scheduling/bookings", with(object{"resourceId": resource, "startAt": start, "customerName": "Bo", "customerPhone": "+49 30 1"}, fields...))
}

func path(record object) string { return "/scheduling/bookings/" + record["id"].(string) }

// move calls a command of a booking.
func (k kit) move(b object, to string) *apitest.Response {
	k.t.Helper()
	return k.Do(k.t, "PATCH", path(b)+"/status", object{"status": to})
}

// events are the events of bookings and the calendar.
func (k kit) events() apitest.Raised {
	k.t.Helper()
	all := apitest.RaisedBy(k.t, dbtest.Open(k.t), k.Principal.Company).Of("booking.", "calendar.")
	for _, e := range all {
		require.Equal(k.t, k.Principal.Actor.String(), e.By)
	}
	return all
}

// since returns the names of the events after the first n, in alphabetical order, and their data by name.
func (k kit) since(n int) (names []string, data map[string]object) {
	k.t.Helper()
	data = map[string]object{}
	names = []string{}
	for _, e := range k.events()[n:] {
		names = append(names, e.Name)
		data[e.Name] = e.Data
	}
	slices.Sort(names)
	return names, data
}

// together runs n calls at once.
func together(n int, call func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			call(i)
		})
	}
	close(start)
	wg.Wait()
}

func statuses(all []*apitest.Response) map[string]int {
	counts := map[string]int{}
	for _, r := range all {
		var body struct{ Code string }
		_ = json.Unmarshal(r.Body, &body) // a success has no code
		counts[strings.TrimSpace(fmt.Sprint(r.Status, " ", body.Code))]++
	}
	return counts
}
