package company

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/topics"
)

var home = netip.MustParseAddr("192.0.2.1")

func TestAuthenticateKnowsTheCaller(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{Name: "Fjord", IsTest: true, Currency: "NOK", Components: []string{"orders"}, StockPolicy: access.StockBlock})
	issued := issue(t, s, c.ID, NewToken{Name: "shop", Scopes: []string{"orders:write", "clients:read"}, RateTier: TierHigh})
	p, err := s.Authenticate(t.Context(), issued.Text, home)
	require.NoError(t, err)
	require.Equal(t, c.ID, p.Company)
	require.Equal(t, "Fjord", p.CompanyName)
	require.True(t, p.IsTest)
	require.Equal(t, "NOK", p.Currency)
	require.Equal(t, issued.ID, p.TokenID)
	require.Equal(t, "shop", p.TokenName)
	require.Equal(t, issued.ActorID, p.Actor)
	require.True(t, p.Allows("orders", true))
	require.False(t, p.Allows("clients", true))
	require.True(t, p.Has("orders"))
	require.True(t, p.Has("core"))
	require.False(t, p.Has("deals"))
	require.True(t, p.PlanAPI)
	require.Equal(t, 20, p.Subscriptions)
	require.True(t, p.Settings.BlocksStock())
	require.Equal(t, access.Rate{Limit: 600, RefillPerSecond: 100, InFlight: 400}, p.Rate)
	require.Equal(t, issued.ExpiresAt.Std(), p.ExpiresAt.UTC())

	free, err := s.SetPlan(t.Context(), c.ID, "free")
	require.NoError(t, err)
	require.Equal(t, "free", free.Plan)
	p, err = s.Authenticate(t.Context(), issued.Text, home)
	require.NoError(t, err)
	require.False(t, p.PlanAPI)
	require.Equal(t, 40, p.Rate.InFlight)
}

func TestRates(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{})
	rows := []struct {
		tier   string
		custom CustomRate
		want   access.Rate
	}{
		{TierStandard, CustomRate{}, access.Rate{Limit: 120, RefillPerSecond: 20, InFlight: 40}},
		{TierHigh, CustomRate{}, access.Rate{Limit: 600, RefillPerSecond: 100, InFlight: 400}},
		{TierCustom, CustomRate{RefillMilli: 500, Burst: 3, InFlight: 2}, access.Rate{Limit: 3, RefillPerSecond: 0.5, InFlight: 2}},
		{TierCustom, CustomRate{}, access.Rate{Unlimited: true}},
	}
	for _, row := range rows {
		issued := issue(t, s, c.ID, NewToken{RateTier: row.tier, CustomRate: row.custom})
		p, err := s.Authenticate(t.Context(), issued.Text, home)
		require.NoError(t, err)
		require.Equal(t, row.want, p.Rate)
	}
}

// Invalid goes before expired, and expired before archived.
func TestAuthenticateRefuses(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	c := create(t, s, NewCompany{})
	issued := issue(t, s, c.ID, NewToken{Lifetime: 24 * time.Hour, IPAllowlist: []string{"192.0.2.0/24"}})
	revoked := issue(t, s, c.ID, NewToken{Lifetime: 24 * time.Hour})
	require.NoError(t, enter(t, s, issued.Text))
	require.NoError(t, enter(t, s, revoked.Text))
	_, err := s.Authenticate(t.Context(), issued.Text, netip.MustParseAddr("::ffff:192.0.2.9"))
	require.NoError(t, err, "an IPv4 address in IPv6 form is the same address")
	_, err = s.Authenticate(t.Context(), issued.Text, netip.MustParseAddr("198.51.100.1"))
	requireFault(t, err, 401, "AUTH_API_TOKEN_INVALID")
	_, err = s.Authenticate(t.Context(), issued.Text, netip.Addr{})
	requireFault(t, err, 401, "AUTH_API_TOKEN_INVALID")
	for _, text := range []string{"", "x", issued.Text[:57], issued.Text + "x", issued.Text[:57] + "-", strings.ToUpper(issued.Text)} {
		requireFault(t, enter(t, s, text), 401, "AUTH_API_TOKEN_INVALID")
	}
	_, err = s.RevokeToken(t.Context(), c.ID, revoked.ID)
	require.NoError(t, err)
	_, err = s.Archive(t.Context(), c.ID)
	require.NoError(t, err)
	requireFault(t, enter(t, s, issued.Text), 401, "COMPANY_ARCHIVED")
	clock.at = clock.at.Add(24 * time.Hour)
	requireFault(t, enter(t, s, issued.Text), 401, "AUTH_API_TOKEN_EXPIRED")
	requireFault(t, enter(t, s, revoked.Text), 401, "AUTH_API_TOKEN_INVALID")
	_, err = s.Authenticate(t.Context(), issued.Text, netip.MustParseAddr("198.51.100.1"))
	requireFault(t, err, 401, "AUTH_API_TOKEN_INVALID")
}

func TestRevocationElsewhereIsSeenWithin30Seconds(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	other := newService(s.cfg.DB)
	c := create(t, s, NewCompany{})
	issued := issue(t, s, c.ID, NewToken{})
	require.NoError(t, enter(t, other, issued.Text))
	_, err := s.RevokeToken(t.Context(), c.ID, issued.ID)
	require.NoError(t, err)
	requireFault(t, enter(t, s, issued.Text), 401, "AUTH_API_TOKEN_INVALID")
	clock.at = clock.at.Add(29 * time.Second)
	require.NoError(t, enter(t, other, issued.Text), "no message has come")
	clock.at = clock.at.Add(time.Second)
	requireFault(t, enter(t, other, issued.Text), 401, "AUTH_API_TOKEN_INVALID")
}

func TestInvalidationsArriveByKafka(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	clock.at = time.Now() // the broker stamps records with the real time
	node := newService(s.cfg.DB)
	c := create(t, s, NewCompany{})
	issued, archived := issue(t, s, c.ID, NewToken{}), create(t, s, NewCompany{})
	inArchived := issue(t, s, archived.ID, NewToken{})
	require.NoError(t, enter(t, node, issued.Text))
	require.NoError(t, enter(t, node, inArchived.Text))

	cfg := kafka.Config{Brokers: dbtest.Broker(t), ClientID: "test"}
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { return node.ConsumeInvalidations(ctx, cfg) })
	_, err := s.RevokeToken(t.Context(), c.ID, issued.ID)
	require.NoError(t, err)
	_, err = s.Archive(t.Context(), archived.ID)
	require.NoError(t, err)
	publish(t, cfg, append(facts(t, s.cfg.DB, c.ID), facts(t, s.cfg.DB, archived.ID)...))
	require.Eventually(t, func() bool { return enter(t, node, issued.Text) != nil }, time.Minute, 5*time.Millisecond)
	requireFault(t, enter(t, node, issued.Text), 401, "AUTH_API_TOKEN_INVALID")
	require.Eventually(t, func() bool { return enter(t, node, inArchived.Text) != nil }, time.Minute, 5*time.Millisecond)
	requireFault(t, enter(t, node, inArchived.Text), 401, "COMPANY_ARCHIVED")
	cancel()
	require.NoError(t, g.Wait())
}

// publish does what the relay does with the outbox rows of invalidations.
func publish(t *testing.T, cfg kafka.Config, list []fact) {
	t.Helper()
	client, err := kafka.NewClient(cfg)
	require.NoError(t, err)
	defer client.Close()
	for _, f := range list {
		require.Equal(t, topics.AuthInvalidations, f.Topic)
		require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: f.Topic, Value: f.Payload}).FirstErr())
	}
}

func TestBrokenInvalidationForgetsAll(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{})
	require.NoError(t, enter(t, s, issue(t, s, c.ID, NewToken{}).Text))
	require.Equal(t, 1, s.cache.known.Len())
	s.invalidate(t.Context(), []byte("{"))
	require.Zero(t, s.cache.known.Len())
	require.Empty(t, s.cache.byCompany)
}

func TestCacheForgetsOnlyWhatItIsTold(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c, d := create(t, s, NewCompany{}), create(t, s, NewCompany{})
	one, two, three := issue(t, s, c.ID, NewToken{}), issue(t, s, c.ID, NewToken{}), issue(t, s, d.ID, NewToken{})
	for _, i := range []Issued{one, two, three} {
		require.NoError(t, enter(t, s, i.Text))
	}
	value, err := json.Marshal(invalidation{c.ID, &one.ID})
	require.NoError(t, err)
	s.invalidate(t.Context(), value)
	require.Equal(t, 2, s.cache.known.Len())
	s.cache.dropCompany(c.ID)
	require.Equal(t, 1, s.cache.known.Len())
	require.Len(t, s.cache.byCompany, 1)
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	c := newCache(10)
	now := time.Now()
	for i := range 100 {
		var hash tokenHash
		hash[0] = byte(i)
		c.put(hash, &known{Principal: access.Principal{Company: [16]byte{byte(i % 7)}}, loadedAt: now}, 0, now)
	}
	require.Equal(t, 10, c.known.Len())
	n := 0
	for _, of := range c.byCompany {
		n += len(of)
	}
	require.Equal(t, 10, n)
}

func TestLookUpFromBeforeAChangeIsNotRemembered(t *testing.T) {
	t.Parallel()
	c := newCache(10)
	now := time.Now()
	mine, other := [16]byte{1}, [16]byte{2}
	stamp := c.version()
	c.dropCompany(mine)
	c.put(tokenHash{1}, &known{Principal: access.Principal{Company: mine}, loadedAt: now}, stamp, now)
	c.put(tokenHash{2}, &known{Principal: access.Principal{Company: other}, loadedAt: now}, stamp, now)
	_, found := c.get(tokenHash{1}, now)
	require.False(t, found)
	_, found = c.get(tokenHash{2}, now)
	require.True(t, found)
	for range recentDrops + 1 {
		c.dropCompany(mine)
	}
	c.put(tokenHash{3}, &known{Principal: access.Principal{Company: other}, loadedAt: now}, stamp, now)
	_, found = c.get(tokenHash{3}, now)
	require.False(t, found, "too many changes to know")

	stamp = c.version()
	c.dropToken(mine, uuid.New())
	c.put(tokenHash{4}, nil, stamp, now)
	_, found = c.get(tokenHash{4}, now)
	require.False(t, found, "it may have been issued meanwhile")
}

func TestUnknownTokensAreBounded(t *testing.T) {
	t.Parallel()
	c := newCache(10)
	now := time.Now()
	for i := range unknownSize + 100 {
		var hash tokenHash
		binary.BigEndian.PutUint64(hash[:], uint64(i))
		c.put(hash, nil, 0, now)
	}
	require.Equal(t, unknownSize, c.unknown.Len())
}

func TestUnknownTokensCostOneLookUp(t *testing.T) {
	t.Parallel()
	clock := &clock{at: time.Now()}
	d := dbtest.OpenNew(t).WithClock(clock.now)
	s := newService(d)
	text := "svc_live_c1Unknow_" + strings.Repeat("0", 40)
	requireFault(t, enter(t, s, text), 401, "AUTH_API_TOKEN_INVALID")
	d.Close()
	requireFault(t, enter(t, s, text), 401, "AUTH_API_TOKEN_INVALID")
	requireFault(t, enter(t, s, text[:57]+"1"), 503, "SERVICE_UNAVAILABLE")
	clock.at = clock.at.Add(29 * time.Second)
	requireFault(t, enter(t, s, text), 401, "AUTH_API_TOKEN_INVALID")
	clock.at = clock.at.Add(time.Second)
	requireFault(t, enter(t, s, text), 503, "SERVICE_UNAVAILABLE")
}

// A token that was asked for before it existed works as soon as it does: at once where it is issued, and with the
// message elsewhere.
func TestIssueEndsThatATokenIsUnknown(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	other := office{newService(s.cfg.DB).Service}
	c := create(t, s, NewCompany{})
	first := issue(t, s, c.ID, NewToken{})
	for name, make := range map[string]func(context.Context, *db.Tx) (Issued, error){
		"issue": func(ctx context.Context, tx *db.Tx) (Issued, error) {
			return s.Service.IssueToken(ctx, tx, access.System(c.ID), NewToken{Name: "early", Scopes: []string{"*:read"}})
		},
		"rotate": func(ctx context.Context, tx *db.Tx) (Issued, error) {
			return s.Service.RotateToken(ctx, tx, access.System(c.ID), Rotation{TokenID: first.ID})
		},
	} {
		issued, err := run(t.Context(), s, func(ctx context.Context, tx *db.Tx) (Issued, error) {
			i, err := make(ctx, tx)
			for _, node := range []office{s, other} {
				requireFault(t, enter(t, node, i.Text), 401, "AUTH_API_TOKEN_INVALID")
			}
			return i, err
		})
		require.NoError(t, err)
		require.NoError(t, enter(t, s, issued.Text), name)
		requireFault(t, enter(t, other, issued.Text), 401, "AUTH_API_TOKEN_INVALID")
		list := facts(t, s.cfg.DB, c.ID)
		other.invalidate(t.Context(), list[len(list)-1].Payload)
		require.NoError(t, enter(t, other, issued.Text), name)
	}
}

// Nothing is asked of the database for a caller who may not look up, unless the token was seen to exist.
func TestLookUpsCanBeRefused(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	c := create(t, s, NewCompany{})
	issued := issue(t, s, c.ID, NewToken{})
	_, err := s.Service.Authenticate(t.Context(), issued.Text, home, false)
	requireFault(t, err, 401, "AUTH_API_TOKEN_INVALID")
	require.NoError(t, enter(t, s, issued.Text), "what was not asked is not remembered")
	clock.at = clock.at.Add(knownFor)
	_, err = s.Service.Authenticate(t.Context(), issued.Text, home, false)
	require.NoError(t, err, "a token that is only due to be read again")
}

func TestManyRequestsShareOneLookUp(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{})
	issued := issue(t, s, c.ID, NewToken{})
	var g errgroup.Group
	for range 50 {
		g.Go(func() error { _, err := s.Authenticate(t.Context(), issued.Text, home); return err })
	}
	require.NoError(t, g.Wait())
	require.Len(t, s.used.take(), 1)
}

func TestLastUsedIsWrittenOnceAMinute(t *testing.T) {
	t.Parallel()
	s, clock := setup(t)
	other := newService(s.cfg.DB)
	c := create(t, s, NewCompany{})
	issued := issue(t, s, c.ID, NewToken{})
	lastUsed := func() time.Time {
		read, err := s.Token(t.Context(), c.ID, issued.ID)
		require.NoError(t, err)
		if read.LastUsedAt == nil {
			return time.Time{}
		}
		return read.LastUsedAt.Std()
	}
	require.NoError(t, enter(t, s, issued.Text))
	require.NoError(t, enter(t, other, issued.Text))
	require.True(t, lastUsed().IsZero(), "not in the request")
	first := clock.at
	s.flushUsage(t.Context())
	require.Equal(t, first, lastUsed())

	clock.at = clock.at.Add(20 * time.Second)
	require.NoError(t, enter(t, s, issued.Text))
	require.Empty(t, s.used.pending)
	other.flushUsage(t.Context())
	require.Equal(t, first, lastUsed(), "another node has written it within the minute")

	clock.at = clock.at.Add(40 * time.Second)
	require.NoError(t, enter(t, s, issued.Text))
	s.flushUsage(t.Context())
	require.Equal(t, clock.at, lastUsed())
	version, err := s.Token(t.Context(), c.ID, issued.ID)
	require.NoError(t, err)
	require.EqualValues(t, 1, version.Version, "a use is not a change")
}

func TestRunWritesWhatIsLeftAtTheEnd(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c := create(t, s, NewCompany{})
	issued := issue(t, s, c.ID, NewToken{})
	require.NoError(t, enter(t, s, issued.Text))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Run(ctx))
	read, err := s.Token(t.Context(), c.ID, issued.ID)
	require.NoError(t, err)
	require.NotNil(t, read.LastUsedAt)
}

func TestAuthenticateFromTheCacheAllocatesNothing(t *testing.T) {
	s, _ := setup(t)
	issued := issue(t, s, create(t, s, NewCompany{}).ID, NewToken{})
	require.NoError(t, enter(t, s, issued.Text))
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = s.Authenticate(ctx, issued.Text, home) }))
}

func BenchmarkAuthenticate(b *testing.B) {
	d, err := db.Open(b.Context(), db.Config{URL: dbtest.URL(b)})
	require.NoError(b, err)
	defer d.Close()
	s := newService(d)
	c, err := s.Create(b.Context(), NewCompany{Name: "Bench"})
	require.NoError(b, err)
	issued, err := s.IssueToken(b.Context(), c.ID, NewToken{Name: "bench", Scopes: []string{"*:write"}})
	require.NoError(b, err)
	ctx := b.Context()
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := s.Authenticate(ctx, issued.Text, home); err != nil {
				b.Error(err)
			}
		}
	})
}
