package bench

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/dbtest"
	"github.com/tradegrid/tradegrid/pkg/kafka"
	"github.com/tradegrid/tradegrid/topics"
)

// probesPerSec is how often the steps of a webhook are measured by themselves.
const probesPerSec = 10

// steps are the parts that no implementation of a webhook's way can avoid: a commit that stores the delivery, a record of the
// event, one of the delivery, and the request.
type steps struct {
	db     *db.DB
	client *kgo.Client
	url    string
}

func newSteps(b *testing.B, d *db.DB) *steps {
	b.Helper()
	client, err := kafka.NewClient(kafka.Config{Brokers: dbtest.Broker(b), ClientID: "bench"})
	require.NoError(b, err)
	b.Cleanup(client.Close)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	b.Cleanup(srv.Close)
	return &steps{db: d, client: client, url: srv.URL}
}

// measure takes the steps one after the other, again and again until ctx is done, and returns how long each round took.
func (s *steps) measure(ctx context.Context, b *testing.B) (took []time.Duration) {
	b.Helper()
	body := bytes.Repeat([]byte("0"), 1024)
	tick := time.NewTicker(time.Second / probesPerSec)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return took
		case <-tick.C:
		}
		start := time.Now()
		if err := s.once(context.WithoutCancel(ctx), body); err != nil {
			b.Errorf("measure the steps of a webhook: %v", err)
			return took
		}
		took = append(took, time.Since(start))
	}
}

func (s *steps) once(ctx context.Context, body []byte) error {
	nothing := func(context.Context, *db.Tx) error { return nil } // the commit check writes a row
	if err := s.db.RunTx(ctx, "bench.step", nothing, db.ReadCommitted()); err != nil {
		return err
	}
	for range 2 {
		if err := s.client.ProduceSync(ctx, &kgo.Record{Topic: topics.Events, Value: body}).FirstErr(); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url, strings.NewReader(string(body)))
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
