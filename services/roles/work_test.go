package roles

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// ending is a work of one part, which takes a while to end once it is stopped.
func ending(role string, takes time.Duration, note func(string)) work {
	return work{role: role, parts: []func(context.Context) error{func(ctx context.Context) error {
		<-ctx.Done()
		note(role + " stops")
		<-time.After(takes)
		note(role + " ended")
		return nil
	}}}
}

// Each work stops when those before it have ended, so that nothing arrives at one that has gone. What takes long holds up the others
// for a turn only.
func TestWorksStopInTurn(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		takes time.Duration
		want  []string
	}{
		"soon": {time.Second, []string{"0s api stops", "1s api ended", "1s relay stops", "2s relay ended", "2s dispatcher stops", "3s dispatcher ended"}},
		"late": {14 * time.Second, []string{"0s api stops", "5s relay stops", "10s dispatcher stops", "14s api ended", "19s relay ended", "24s dispatcher ended"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				g, ctx := errgroup.WithContext(ctx)
				var start time.Time
				var said []string
				note := func(text string) {
					said = append(said, time.Since(start).String()+" "+text)
				}
				inTurn(ctx, g, [][]work{{ending("api", row.takes, note)}, {ending("relay", row.takes, note)}, {ending("dispatcher", row.takes, note)}})
				<-time.After(time.Hour)
				start = time.Now()
				stop()
				require.NoError(t, g.Wait())
				synctest.Wait()
				require.Equal(t, row.want, said)
			})
		})
	}
}

// A part that fails ends the others, in turn, too, and its role is named.
func TestPartThatFailsEndsTheProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g, ctx := errgroup.WithContext(t.Context())
		var said []string
		note := func(text string) { said = append(said, text) }
		broken := work{role: "relay", parts: []func(context.Context) error{
			func(context.Context) error { <-time.After(time.Second); return errors.New("no lease") },
			func(ctx context.Context) error { <-ctx.Done(); note("relay stops"); return nil },
		}}
		inTurn(ctx, g, [][]work{{ending("api", time.Second, note)}, {broken.named()}})
		require.EqualError(t, g.Wait(), "relay: no lease")
		synctest.Wait()
		require.Equal(t, []string{"api stops", "api ended", "relay stops"}, said)
	})
}
