package web

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// newPeople are the limits of people, with a clock that stands still.
func newPeople() *people {
	now := time.Now()
	return &people{rate: ratelimit.New(ratelimit.Config{Now: func() time.Time { return now }})}
}

func colleague(of tenant.ID) accounts.Session {
	return accounts.Session{Owner: accounts.Owner{Company: of, User: uuid.New()}, ID: uuid.New()}
}

// begun begins requests until one is refused.
func begun(t *testing.T, p *people, s accounts.Session) (ends []func(), wait time.Duration) {
	t.Helper()
	for {
		end, err := p.begin(s, false)
		if err != nil {
			var many tooMany
			require.ErrorAs(t, err, &many)
			return ends, many.wait
		}
		ends = append(ends, end)
	}
}

func TestRequestsAtATime(t *testing.T) {
	t.Parallel()
	p, company := newPeople(), tenant.NewID()
	one := colleague(company)
	ends, wait := begun(t, p, one)
	require.Len(t, ends, personRunning)
	require.Equal(t, time.Second, wait)
	again := one
	again.ID = uuid.New()
	more, _ := begun(t, p, again)
	require.Empty(t, more, "another session is the same person")
	all := len(ends)
	for all < companyRunning {
		more, _ := begun(t, p, colleague(company))
		require.NotEmpty(t, more)
		all += len(more)
	}
	require.Equal(t, companyRunning, all)
	others, _ := begun(t, p, colleague(tenant.NewID()))
	require.Len(t, others, personRunning, "another company has its own")
	ends[0]()
	ends[0]() // ends once
	more, _ = begun(t, p, one)
	require.Len(t, more, 1)
	operator, _ := begun(t, p, accounts.Session{Operator: "token"})
	require.Len(t, operator, personRunning, "operators have no company")
}

func TestRequestsPerSecond(t *testing.T) {
	t.Parallel()
	p, company := newPeople(), tenant.NewID()
	spend := func(s accounts.Session) (n int, wait time.Duration) {
		for {
			end, err := p.begin(s, false)
			if err != nil {
				var many tooMany
				require.ErrorAs(t, err, &many)
				return n, many.wait
			}
			end()
			n++
		}
	}
	n, wait := spend(colleague(company))
	require.Equal(t, personRate.Limit, n)
	require.Positive(t, wait)
	all := n
	for all < companyRate.Limit {
		n, _ := spend(colleague(company))
		require.Positive(t, n)
		all += n
	}
	require.Equal(t, companyRate.Limit, all)
	late := colleague(company)
	n, _ = spend(late)
	require.Zero(t, n)
	require.Empty(t, p.running.of, "what is refused is not under way")
	n, _ = spend(colleague(tenant.NewID()))
	require.Equal(t, personRate.Limit, n)
}
