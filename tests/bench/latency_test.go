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

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
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

// taken is how long the steps took, a value of each round.
type taken struct{ commit, produce, post, all []time.Duration }

// measure takes the steps one after the other, again and again until ctx is done. Both records count as produce.
func (s *steps) measure(ctx context.Context, b *testing.B) (took taken) {
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
		if err := s.once(context.WithoutCancel(ctx), body, &took); err != nil {
			b.Errorf("measure the steps of a webhook: %v", err)
			return took
		}
	}
}

func (s *steps) once(ctx context.Context, body []byte, took *taken) error {
	start := time.Now()
	last := start
	lap := func() time.Duration {
		d := time.Since(last)
		last = last.Add(d)
		return d
	}
	nothing := func(context.Context, *db.Tx) error { return nil } // the commit check writes a row
	if err := s.db.RunTx(ctx, "bench.step", nothing, db.ReadCommitted()); err != nil {
		return err
	}
	took.commit = append(took.commit, lap())
	for range 2 {
		if err := s.client.ProduceSync(ctx, &kgo.Record{Topic: topics.Events, Value: body}).FirstErr(); err != nil {
			return err
		}
		took.produce = append(took.produce, lap())
	}
	if err := s.post(ctx, body); err != nil {
		return err
	}
	took.post = append(took.post, lap())
	took.all = append(took.all, last.Sub(start))
	return nil
}

func (s *steps) post(ctx context.Context, body []byte) error {
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
