package cputime_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/cputime"
)

// clock counts how often it is read. The time between a beginning and an end is thus one.
type clock struct {
	mu  sync.Mutex
	now time.Duration
}

func (c *clock) read() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now++
	return c.now
}

func TestMeterCountsWhatRunsBetweenWaits(t *testing.T) {
	t.Parallel()
	m := cputime.New(new(clock).read)
	stop := m.Measure()
	require.Same(t, m, cputime.Current())
	resume := cputime.Wait()
	require.EqualValues(t, 1, m.Used())
	require.Nil(t, cputime.Current())
	cputime.Wait()() // a goroutine that waits is not measured
	resume()
	require.EqualValues(t, 1, m.Used())
	require.EqualValues(t, 2, m.Read())
	stop()
	require.EqualValues(t, 3, m.Used())
	require.Nil(t, cputime.Current())
	cputime.Wait()()
	require.EqualValues(t, 3, m.Read())
}

func TestMetersNest(t *testing.T) {
	t.Parallel()
	outer, inner := cputime.New(new(clock).read), cputime.New(new(clock).read)
	stopOuter := outer.Measure()
	stopInner := inner.Measure()
	require.EqualValues(t, 1, outer.Used())
	cputime.Wait()()
	require.Same(t, inner, cputime.Current())
	stopInner()
	require.EqualValues(t, 2, inner.Used())
	require.Same(t, outer, cputime.Current())
	cputime.Wait()()
	stopOuter()
	require.EqualValues(t, 3, outer.Used())
	require.Nil(t, cputime.Current())
}

func TestNilMeterMeasuresNothing(t *testing.T) {
	t.Parallel()
	var m *cputime.Meter
	m.Measure()()
	require.Nil(t, cputime.Current())
}

// Goroutines that work for several meters, and others that work for none, take turns on few threads.
func TestMetersOfManyGoroutinesStayApart(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			m := cputime.New(new(clock).read)
			stop := m.Measure()
			for range 20 {
				turn := make(chan struct{})
				go func() {
					cputime.Wait()() // without effect on m
					defer m.Measure()()
					close(turn)
				}()
				resume := cputime.Wait()
				<-turn
				resume()
			}
			stop()
		})
		all.Go(func() {
			for range 20 {
				cputime.Wait()()
				if cputime.Current() != nil {
					t.Error("the goroutine works for nobody")
				}
			}
		})
	}
	all.Wait()
}

// The clock of the system counts what a goroutine computes, and not what it waits.
func TestMeterReadsTheProcessor(t *testing.T) {
	t.Parallel()
	m := cputime.New(nil)
	stop := m.Measure()
	for m.Read() < 20*time.Millisecond {
	}
	wait, began := cputime.New(nil), time.Now()
	stopWait := wait.Measure()
	timer := time.NewTimer(200 * time.Millisecond)
	<-timer.C // bound to its thread
	stopWait()
	require.Less(t, wait.Used(), time.Since(began)/4)
	stop()
	require.GreaterOrEqual(t, m.Used(), 20*time.Millisecond)
}

func BenchmarkMeasure(b *testing.B) {
	m := cputime.New(nil)
	for b.Loop() {
		m.Measure()()
	}
}

func BenchmarkWait(b *testing.B) {
	defer cputime.New(nil).Measure()()
	for b.Loop() {
		cputime.Wait()()
	}
}

func BenchmarkWaitUnmeasured(b *testing.B) {
	for b.Loop() {
		cputime.Wait()()
	}
}
