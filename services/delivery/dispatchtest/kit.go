// Package dispatchtest is the test kit of the dispatcher's packages: a database and a broker with a company, its
// subscriptions, events and deliveries, and receivers.
package dispatchtest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/kit/secret"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
	"github.com/tradegrid/tradegrid/topics"
)

// Kit is a broker of the test's own and a database with a company of its own.
type Kit struct {
	T       testing.TB
	DB      *db.DB
	Kafka   kafka.Config
	Client  *kgo.Client
	Company tenant.ID
	Keys    *secret.Keys // that encrypt the secrets of its subscriptions
}

// New makes a kit. The database may be nil for tests that need none.
func New(t testing.TB, d *db.DB) *Kit {
	t.Helper()
	cfg := kafka.Config{Brokers: dbtest.Broker(t), ClientID: "test"}
	client, err := kafka.NewClient(cfg)
	require.NoError(t, err)
	t.Cleanup(client.Close)
	keys, err := secret.ParseKeys(secret.NewKey("test"))
	require.NoError(t, err)
	return &Kit{T: t, DB: d, Kafka: cfg, Client: client, Company: tenant.NewID(), Keys: keys}
}

// Run runs a role until stop is called or the test ends.
func (k *Kit) Run(role func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- role(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		require.NoError(k.T, <-done)
	})
	k.T.Cleanup(stop)
	return stop
}

// Eventually waits until the condition holds.
func (k *Kit) Eventually(condition func() bool, name string) {
	k.T.Helper()
	require.Eventually(k.T, condition, time.Minute, 10*time.Millisecond, name)
}

// Produce writes records and waits for the brokers.
func (k *Kit) Produce(records ...*kgo.Record) {
	k.T.Helper()
	for len(records) > 0 {
		var again []*kgo.Record
		for _, r := range k.Client.ProduceSync(context.Background(), records...) {
			// A real broker may still name the topic of the test before, and the client may just find out that one was made anew.
			if errors.Is(r.Err, kerr.UnknownTopicID) || (r.Err != nil && r.Err.Error() == "topic purged while buffered") {
				again = append(again, r.Record)
				continue
			}
			require.NoError(k.T, r.Err)
		}
		records = again
	}
}

// Tail hands every record of the topics, from the beginning, to the function until the test ends.
func (k *Kit) Tail(handle func(*kgo.Record), names ...string) {
	k.T.Helper()
	client, err := kafka.NewClient(k.Kafka, kgo.ConsumeTopics(names...))
	require.NoError(k.T, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			client.PollFetches(ctx).EachRecord(handle)
		}
	}()
	k.T.Cleanup(func() {
		cancel()
		<-done
		client.Close()
	})
}

// Collect keeps the records of the topics, from the beginning.
func (k *Kit) Collect(names ...string) func() []*kgo.Record {
	k.T.Helper()
	var mu sync.Mutex
	var all []*kgo.Record
	k.Tail(func(r *kgo.Record) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, r)
	}, names...)
	return func() []*kgo.Record {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(all)
	}
}

// Await waits until at least n records are collected.
func (k *Kit) Await(records func() []*kgo.Record, n int) []*kgo.Record {
	k.T.Helper()
	require.Eventually(k.T, func() bool { return len(records()) >= n }, time.Minute, 5*time.Millisecond)
	return records()
}

// Exec runs a statement, again where what the dispatcher does at the same time stands against it.
func (k *Kit) Exec(sql string, args ...any) {
	k.T.Helper()
	for {
		_, err := k.DB.Exec(context.Background(), sql, args...)
		if of, is := errors.AsType[*pgconn.PgError](err); is && of.Code == "40001" {
			continue
		}
		require.NoError(k.T, err)
		return
	}
}

// Query reads a number.
func (k *Kit) Query(sql string, args ...any) (n int) {
	k.T.Helper()
	require.NoError(k.T, k.DB.QueryRow(context.Background(), sql, args...).Scan(&n))
	return n
}

const webhookSubscriptions = db.Table("webhook_subscriptions")

var sqlInsertSubscription = webhookSubscriptions.Insert(`(company_id, id, url, events, is_active, status, exclude_own_events, read_scopes, secret, created_by_id, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, $3, ARRAY['*'], true, 'active', false, ARRAY['*:read'], $4, $2, 1, 1, $5, $5)`)

// Subscribe makes a subscription of the company to all events.
func (k *Kit) Subscribe(url string) (id uuid.UUID, text string) {
	k.T.Helper()
	id, text = uuid.Must(uuid.NewV7()), webhook.NewSecret()
	k.Exec(sqlInsertSubscription.SQL(), k.Company, id, url, k.Seal(id, text), time.Now().UTC())
	return id, text
}

// Seal encrypts a secret of a subscription.
func (k *Kit) Seal(sub uuid.UUID, text string) webhook.StoredSecret {
	k.T.Helper()
	sealed, err := webhook.SealSecret(k.Keys, k.Company, sub, text)
	require.NoError(k.T, err)
	return sealed
}

// Subscription is [Kit.Subscribe] where no request is made.
func (k *Kit) Subscription() uuid.UUID {
	k.T.Helper()
	id, _ := k.Subscribe("https://receiver.example/")
	return id
}

// Set changes columns of a subscription; arguments count from $3.
func (k *Kit) Set(sub uuid.UUID, assignment string, args ...any) {
	k.T.Helper()
	k.Exec(webhookSubscriptions.Update(`SET `+assignment+` WHERE company_id = $1 AND id = $2`).SQL(), append([]any{k.Company, sub}, args...)...)
}

// Announce tells routers, senders and sweepers that a subscription has changed.
func (k *Kit) Announce(sub uuid.UUID) {
	k.T.Helper()
	key := webhook.SubscriptionKey{Company: k.Company, ID: sub}
	k.Produce(&kgo.Record{Topic: topics.Subscriptions, Key: []byte(key.String()), Value: []byte(`{}`)})
}
