package roles_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// startNode makes a node that talks with the others, as `tradegrid api` does.
func startNode(t *testing.T, d *db.DB, brokers []string) *rolestest.Node {
	t.Helper()
	n := rolestest.NewNode(d, ratelimit.New(ratelimit.Config{Node: uuid.NewString(), Leases: ratelimit.NewDBLeases(d)}))
	apitest.Background(t, n.Limiter.Run)
	apitest.Background(t, n.Company.Run)
	apitest.Background(t, func(ctx context.Context) error {
		return n.Company.ConsumeInvalidations(ctx, kafka.Config{Brokers: brokers, ClientID: "api"})
	})
	return n
}

// What changes about a company or a token is seen by every node soon, long before it would forget by itself.
func TestNodesSeeChangesSoon(t *testing.T) {
	t.Parallel()
	d, brokers := dbtest.OpenNew(t), dbtest.Broker(t)
	rolestest.StartRelay(t, d, brokers)
	nodes := []*rolestest.Node{startNode(t, d, brokers), startNode(t, d, brokers)}
	third := rolestest.NewNode(d, rolestest.Alone()) // hears of nothing
	office := company.New(company.Config{DB: d, Warehouses: third.Warehouse, Access: third.Access})
	id := third.NewCompany(t)
	kept, lost := third.Issue(t, id, []string{"*:write"}), third.Issue(t, id, []string{"*:write"})
	soon := func(token string, path string, status int, code string) {
		t.Helper()
		start := time.Now()
		for _, n := range nodes {
			require.Eventually(t, func() bool {
				got := n.Client(token).Do(t, "GET", path, "")
				return got.Status == status && got.Code() == code
			}, time.Minute, 5*time.Millisecond)
		}
		require.Less(t, time.Since(start), 10*time.Second)
	}
	soon(kept.Text, "/orders", 200, "")
	soon(lost.Text, "/orders", 200, "")
	third.Client(lost.Text).OK(t, "GET", "/orders", "")

	_, err := roles.ChangeWith(t.Context(), d, "test", id, office.RevokeToken, lost.ID)
	require.NoError(t, err)
	soon(lost.Text, "/orders", 401, "AUTH_API_TOKEN_INVALID")
	require.Equal(t, 200, third.Client(lost.Text).Do(t, "GET", "/orders", "").Status, "without the message the token would still be remembered")
	soon(kept.Text, "/orders", 200, "")

	_, err = roles.ChangeWith(t.Context(), d, "test", id, office.SetComponent, company.Switch{Component: "orders", On: false})
	require.NoError(t, err)
	soon(kept.Text, "/orders", 403, "MODULE_ACCESS_INACTIVE")
	_, err = roles.ChangeWith(t.Context(), d, "test", id, office.SetComponent, company.Switch{Component: "orders", On: true})
	require.NoError(t, err)
	soon(kept.Text, "/orders", 200, "")
	_, err = roles.ChangeWith(t.Context(), d, "test", id, office.SetPlan, "free")
	require.NoError(t, err)
	soon(kept.Text, "/orders", 403, "PLAN_API_DISABLED")
	_, err = roles.Change(t.Context(), d, "test", id, office.Archive)
	require.NoError(t, err)
	soon(kept.Text, "/orders", 401, "COMPANY_ARCHIVED")
}

// A token's budget is one, however many nodes are asked.
func TestNodesShareTheBudgetOfAToken(t *testing.T) {
	t.Parallel()
	const burst, perSecond = 40, 10
	d := dbtest.OpenNew(t)
	nodes := make([]*rolestest.Node, 2)
	for i := range nodes {
		nodes[i] = rolestest.NewNode(d, ratelimit.New(ratelimit.Config{Node: uuid.NewString(), Leases: ratelimit.NewDBLeases(d)}))
	}
	id := nodes[0].NewCompany(t)
	token := nodes[0].Issue(t, id, []string{"*:read"}, company.CustomRate{RefillMilli: perSecond * 1000, Burst: burst})
	for _, n := range nodes { // each has heard of the other
		n.Limiter.Exchange(t.Context())
	}
	for _, n := range nodes {
		n.Limiter.Exchange(t.Context())
	}
	const lasting = 4 * time.Second
	start := time.Now()
	var passed, refused [2]int
	var wg sync.WaitGroup
	// The nodes exchange as often as in production. What a busy machine makes of that is measured, since a node spends its
	// share of the demand before until it hears of the other's.
	exchanging, stop := context.WithTimeout(t.Context(), lasting)
	defer stop()
	var slowest time.Duration
	wg.Go(func() {
		for last := start; exchanging.Err() == nil; last = time.Now() {
			for _, n := range nodes {
				n.Limiter.Exchange(t.Context())
			}
			select {
			case <-exchanging.Done():
			case <-time.After(time.Second):
			}
			slowest = max(slowest, time.Since(last))
		}
	})
	for i, n := range nodes {
		wg.Go(func() {
			for time.Since(start) < lasting {
				switch got := n.Client(token.Text).Do(t, "GET", "/token", ""); got.Status {
				case 200:
					passed[i]++
				case 429:
					refused[i]++
				default:
					t.Errorf("unexpected answer: %s", got.Raw)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start).Seconds()
	// The burst, the part of it that the other node held at first, and the refill of two exchanges of shifting demand.
	most := burst + burst/2 + perSecond*(took+2*slowest.Seconds())
	both := float64(passed[0] + passed[1])
	require.LessOrEqual(t, both, most, "%v passed", passed)
	require.Greater(t, both, perSecond*took, "%v passed: what was bought is given", passed)
	require.Positive(t, passed[0])
	require.Positive(t, passed[1])
	require.Greater(t, refused[0]+refused[1], passed[0]+passed[1], "both nodes were asked for more than there was")
}
