package company

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

func issue(t *testing.T, s office, company tenant.ID, in NewToken) Issued {
	t.Helper()
	in.Name = cmp.Or(in.Name, "web shop")
	if in.Scopes == nil {
		in.Scopes = []string{"orders:write"}
	}
	issued, err := issueAgain(t.Context(), s, company, in)
	require.NoError(t, err)
	return issued
}

// issueAgain does what the answer 503 asks for: with faults injected into transactions, some use up their tries.
func issueAgain(ctx context.Context, s office, company tenant.ID, in NewToken) (issued Issued, err error) {
	for range 5 {
		if issued, err = s.IssueToken(ctx, company, in); !errors.Is(err, db.ErrBusy) {
			break
		}
	}
	return issued, err
}

func TestIssueToken(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	live, test := create(t, s, NewCompany{}), create(t, s, NewCompany{IsTest: true})
	issued := issue(t, s, live.ID, NewToken{IPAllowlist: []string{"203.0.113.77/24", "2001:db8::1", "198.51.100.7"}})
	require.Regexp(t, regexp.MustCompile(`^svc_live_c1[0-9A-Za-z]{6}_[0-9A-Za-z]{40}$`), issued.Text)
	require.Equal(t, issued.Text[:17], issued.Prefix)
	require.Equal(t, []string{"203.0.113.0/24", "2001:db8::1/128", "198.51.100.7/32"}, issued.IPAllowlist)
	require.Equal(t, clock.at.Add(365*24*time.Hour), issued.ExpiresAt.Std())
	require.True(t, strings.HasPrefix(issue(t, s, test.ID, NewToken{}).Text, "svc_test_c1"))
	require.Nil(t, issue(t, s, live.ID, NewToken{NeverExpires: true}).ExpiresAt)
	short := issue(t, s, live.ID, NewToken{Lifetime: time.Millisecond})
	require.Equal(t, clock.at.Add(time.Millisecond), short.ExpiresAt.Std(), "any lifetime above zero")

	read, err := s.Token(t.Context(), live.ID, issued.ID)
	require.NoError(t, err)
	require.Equal(t, issued.Token, read)
	_, err = s.Token(t.Context(), test.ID, issued.ID)
	requireFault(t, err, 404, "TOKEN_NOT_FOUND")

	people, err := s.Users(t.Context(), live.ID, false)
	require.NoError(t, err)
	require.Empty(t, people)
	all, err := s.Users(t.Context(), live.ID, true)
	require.NoError(t, err)
	require.Len(t, all, 3)
	_, err = s.BlockUser(t.Context(), live.ID, issued.ActorID, uuid.Nil)
	requireFault(t, err, 409, "USER_IS_TECHNICAL")
}

func TestIssueTokenRefuses(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{})
	ok := []string{"orders:read"}
	rows := []struct {
		field string
		in    NewToken
	}{
		{"name", NewToken{Name: " ", Scopes: ok}},
		{"scopes", NewToken{Name: "x"}},
		{"scopes", NewToken{Name: "x", Scopes: []string{"orders:delete"}}},
		{"scopes", NewToken{Name: "x", Scopes: []string{"events:write"}}},
		{"lifetime", NewToken{Name: "x", Scopes: ok, Lifetime: -time.Second}},
		{"lifetime", NewToken{Name: "x", Scopes: ok, Lifetime: 3*365*24*time.Hour + 1}},
		{"ipAllowlist[1]", NewToken{Name: "x", Scopes: ok, IPAllowlist: []string{"10.0.0.0/8", "10.0.0.0/40"}}},
		{"rateTier", NewToken{Name: "x", Scopes: ok, RateTier: "gold"}},
		{"customRate", NewToken{Name: "x", Scopes: ok, CustomRate: CustomRate{Burst: 1, RefillMilli: 1}}},
		{"customRate", NewToken{Name: "x", Scopes: ok, RateTier: TierCustom, CustomRate: CustomRate{InFlight: -1}}},
		{"customRate", NewToken{Name: "x", Scopes: ok, RateTier: TierCustom, CustomRate: CustomRate{Burst: 5}}},
	}
	for _, row := range rows {
		_, err := s.IssueToken(t.Context(), c.ID, row.in)
		require.Equal(t, row.field, requireFault(t, err, 400, "VALIDATION_ERROR").Fields[0].Field)
	}
	_, err := s.IssueToken(t.Context(), tenant.NewID(), NewToken{Name: "x", Scopes: ok})
	requireFault(t, err, 404, "COMPANY_NOT_FOUND")
}

func TestTokenLimitHoldsInParallel(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{})
	for range maxTokens - 2 {
		issue(t, s, c.ID, NewToken{})
	}
	results := make([]error, 4)
	var g errgroup.Group
	for i := range results {
		g.Go(func() error {
			_, results[i] = issueAgain(t.Context(), s, c.ID, NewToken{Name: "late", Scopes: []string{"*:read"}})
			return nil
		})
	}
	require.NoError(t, g.Wait())
	refused := 0
	for _, err := range results {
		if err != nil {
			requireFault(t, err, 409, "TOKEN_LIMIT_REACHED")
			refused++
		}
	}
	require.Equal(t, 2, refused)
	list, err := s.Tokens(t.Context(), c.ID, false)
	require.NoError(t, err)
	require.Len(t, list, maxTokens)
	_, err = s.RevokeToken(t.Context(), c.ID, list[0].ID)
	require.NoError(t, err)
	issue(t, s, c.ID, NewToken{})
	all, err := s.Tokens(t.Context(), c.ID, true)
	require.NoError(t, err)
	require.Len(t, all, maxTokens+1)
}

func TestRotateKeepsTheOldSecretForTheOverlap(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	c := create(t, s, NewCompany{})
	first := issue(t, s, c.ID, NewToken{NeverExpires: true})
	second, err := s.RotateToken(t.Context(), c.ID, first.ID, 24*time.Hour)
	require.NoError(t, err)
	require.Equal(t, first.ID, second.ID)
	require.Equal(t, first.Prefix, second.Prefix)
	require.NotEqual(t, first.Text, second.Text)
	require.NoError(t, enter(t, s, first.Text))
	require.NoError(t, enter(t, s, second.Text))

	clock.at = clock.at.Add(24*time.Hour - time.Second)
	require.NoError(t, enter(t, s, first.Text))
	clock.at = clock.at.Add(time.Second)
	requireFault(t, enter(t, s, first.Text), 401, "AUTH_API_TOKEN_INVALID")
	require.NoError(t, enter(t, s, second.Text))

	third, err := s.RotateToken(t.Context(), c.ID, first.ID, 0)
	require.NoError(t, err)
	requireFault(t, enter(t, s, second.Text), 401, "AUTH_API_TOKEN_INVALID")
	require.NoError(t, enter(t, s, third.Text))
	_, err = s.RotateToken(t.Context(), c.ID, first.ID, 8*24*time.Hour)
	requireFault(t, err, 400, "VALIDATION_ERROR")

	_, err = s.RevokeToken(t.Context(), c.ID, first.ID)
	require.NoError(t, err)
	requireFault(t, enter(t, s, third.Text), 401, "AUTH_API_TOKEN_INVALID")
	_, err = s.RotateToken(t.Context(), c.ID, first.ID, 0)
	requireFault(t, err, 409, "TOKEN_REVOKED")
	var left int
	require.NoError(t, s.cfg.DB.QueryRow(t.Context(), `SELECT count(*) FROM token_secrets WHERE company_id = $1`, c.ID).Scan(&left))
	require.Zero(t, left)
}

func enter(t *testing.T, s office, text string) error {
	t.Helper()
	_, err := s.Authenticate(t.Context(), text, netip.MustParseAddr("192.0.2.1"))
	return err
}

func TestRandomTextIsEven(t *testing.T) {
	t.Parallel()
	counts := map[rune]int{}
	const n = 62 * 2000
	for _, r := range randomText(n) {
		counts[r]++
	}
	require.Len(t, counts, 62)
	for r, c := range counts {
		require.InDeltaf(t, 2000, c, 400, "character %c", r) // nine standard deviations
	}
}

func FuzzHashOf(f *testing.F) {
	f.Add("svc_live_c1AbCdEf_" + strings.Repeat("x", 40))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		_, ok := hashOf(text)
		require.Equal(t, ok, len(text) == 58 && (strings.HasPrefix(text, "svc_live_") || strings.HasPrefix(text, "svc_test_")) && text[17] == '_')
	})
}
