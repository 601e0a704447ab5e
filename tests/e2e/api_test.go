package e2e

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/tests/role"
)

// code is the error code of an answer.
func (a answer) code() string {
	var e struct{ Code string }
	_ = json.Unmarshal(a.body, &e) // an answer without a code has none
	return e.Code
}

func (a answer) order(t *testing.T) (o order) {
	t.Helper()
	require.Equal(t, http.StatusCreated, a.status, "%s", a.body)
	require.NoError(t, json.Unmarshal(a.body, &o))
	return o
}

// numbers are those of all stored orders.
func (c *client) numbers() (all []int64) {
	c.r.t.Helper()
	var page struct{ Items []order }
	c.call(http.MethodGet, "/orders?pageSize=200", nil, &page)
	for _, o := range page.Items {
		all = append(all, o.Number)
	}
	slices.Sort(all)
	return all
}

// gapless are the numbers 1 to n.
func gapless(n int) (all []int64) {
	for i := range n {
		all = append(all, int64(i+1))
	}
	return all
}

// Requests with one key at two nodes at the same time: one has its effect, the other one hears of it.
func TestSameKeyAtTwoNodes(t *testing.T) {
	t.Parallel()
	const n = 12
	r := newKit(t)
	nodes := []*client{r.client(r.role(nil, "api")), r.client(r.role(nil, "api"))}
	r.role(nil, "relay")
	product := nodes[0].product()
	ids := make([]string, n)
	for i := range ids {
		key := uuid.NewString()
		answers, start := make([]answer, 2), make(chan struct{})
		errs := make(chan error, 2)
		for j, node := range nodes {
			go func() {
				<-start
				var err error
				answers[j], err = node.do(http.MethodPost, "/orders", key, orderOf(product))
				errs <- err
			}()
		}
		close(start)
		require.NoError(t, <-errs)
		require.NoError(t, <-errs)
		slices.SortFunc(answers, func(a, b answer) int { return a.status - b.status })
		made := answers[0].order(t)
		ids[i] = made.ID
		if answers[1].status == http.StatusCreated {
			require.Equal(t, string(answers[0].body), string(answers[1].body), "the stored answer")
		} else {
			require.Equal(t, "IDEMPOTENCY_IN_FLIGHT", answers[1].code(), "%s", answers[1].body)
			require.Equal(t, http.StatusConflict, answers[1].status)
			require.NotEmpty(t, answers[1].header.Get("Retry-After"))
		}
	}
	require.Equal(t, gapless(n), nodes[1].numbers())
	role.Eventually(t, func() bool { return len(nodes[0].logged()) >= n }, "all orders are in the event log")
	require.Equal(t, ids, nodes[0].logged(), "one event for each order")
}

// A node that dies in the middle of an order leaves nothing or all of it, and the request may be repeated.
func TestAPIDies(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		point  string
		stored bool
	}{
		"before the commit": {"tx.before_commit.numbering.order", false},
		"after the commit":  {"tx.after_commit.numbering.order", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newKit(t)
			good := r.client(r.role(nil, "api"))
			product := good.product()
			ids := good.place(product, 2)

			dying := r.role(failpoint(c.point), "api")
			key := uuid.NewString()
			_, err := r.client(dying).do(http.MethodPost, "/orders", key, orderOf(product))
			require.Error(t, err, "the node died before it answered")
			dying.AwaitSIGKILL()
			stored := len(ids)
			if c.stored {
				stored++
			}
			require.Equal(t, gapless(stored), good.numbers())

			var a answer
			role.Eventually(t, func() bool { // until the lease of the dead node's key is over
				a, err = good.do(http.MethodPost, "/orders", key, orderOf(product))
				require.NoError(t, err)
				return a.code() != "IDEMPOTENCY_IN_FLIGHT"
			}, "the repeated request gets its answer")
			made := a.order(t)
			require.EqualValues(t, 3, made.Number)
			again, err := good.do(http.MethodPost, "/orders", key, orderOf(product))
			require.NoError(t, err)
			require.Equal(t, string(a.body), string(again.body))

			ids = append(ids, made.ID)
			ids = append(ids, good.place(product, 1)...)
			require.Equal(t, gapless(4), good.numbers())
			r.role(nil, "relay")
			role.Eventually(t, func() bool { return len(good.logged()) >= 4 }, "all orders are in the event log")
			require.Equal(t, ids, good.logged(), "one event for each order")
			require.Equal(t, 4*2, r.count(`SELECT CAST(sum(reserved) AS BIGINT) FROM stocks WHERE company_id = $1`, r.company))
		})
	}
}
