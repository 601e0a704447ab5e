package numbering_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/groupcommit"
	"github.com/tradegrid/tradegrid/pkg/store/numbering"
)

// sharing opens the database, unless documents of several companies do not share transactions there.
func sharing(t *testing.T) *db.DB {
	t.Helper()
	d := setup(t)
	if d.Dialect() != db.PostgreSQL {
		t.Skip("companies do not share transactions on this database")
	}
	return d
}

// patient never gives up on a lock, so that a blocked transaction keeps its place.
var patient = groupcommit.Config{MaxRunning: 1, MaxBatch: 16, Patience: time.Hour} //nolint:gochecknoglobals // a constant

// stored is a document that a member has stored.
type stored struct {
	company tenant.ID
	number  int64
	tx      *db.Tx
	err     error
}

// submit takes numbers for count documents of the company in the background.
func submit(t *testing.T, c *numbering.Committer, company tenant.ID, count int, results chan<- stored) {
	t.Helper()
	before := max(0, numbering.Waiting(c, company, "document"))
	for range count {
		go func() {
			s := stored{company: company}
			member := document(company, nil, &s.number)
			s.err = do(context.Background(), c, company, func(ctx context.Context, tx *db.Tx, n int64) error {
				s.tx = tx
				return member(ctx, tx, n)
			})
			results <- s
		}()
	}
	require.Eventually(t, func() bool { return numbering.Waiting(c, company, "document") == before+count }, waitTime, tick)
}

func TestCompaniesShareATransaction(t *testing.T) {
	t.Parallel()
	d := sharing(t)
	first := tenant.NewID()
	c, release := blocked(t, d, first, patient)
	results := make(chan stored, 12)
	want := map[tenant.ID]int{first: 1}
	for i := range 4 {
		company := tenant.NewID()
		want[company] = i + 1
		submit(t, c, company, i+1, results)
	}
	release()
	txs := map[*db.Tx]bool{}
	for range 10 {
		s := <-results
		require.NoError(t, s.err)
		txs[s.tx] = true
	}
	require.Len(t, txs, 1)
	for company, n := range want {
		require.Equal(t, upTo(n), numbers(t, d, company))
	}
}

// A company with many documents gets half of a transaction while others wait, and all wait for one turn at most.
func TestCompaniesTakeTurns(t *testing.T) {
	t.Parallel()
	d := sharing(t)
	c, release := blocked(t, d, tenant.NewID(), patient)
	results := make(chan stored, 50)
	busy := tenant.NewID()
	submit(t, c, busy, 40, results)
	for range 8 {
		submit(t, c, tenant.NewID(), 1, results)
	}
	release()
	byTx := map[*db.Tx][]stored{}
	for range 48 {
		s := <-results
		require.NoError(t, s.err)
		byTx[s.tx] = append(byTx[s.tx], s)
	}
	shared := 0
	for _, batch := range byTx {
		ofBusy, largest := 0, int64(0)
		for _, s := range batch {
			if s.company == busy {
				ofBusy++
				largest = max(largest, s.number)
			}
		}
		if ofBusy < len(batch) {
			shared++
			require.Len(t, batch, 16)
			require.Equal(t, 8, ofBusy)
			require.EqualValues(t, 8, largest, "in the first turn")
		}
	}
	require.Equal(t, 1, shared, "nobody waited for a second turn of the company with many documents")
	require.Equal(t, upTo(40), numbers(t, d, busy))
}

// No transaction takes the locks of more than 16 companies.
func TestFewCompaniesShareATransaction(t *testing.T) {
	t.Parallel()
	d := sharing(t)
	cfg := patient
	cfg.MaxBatch = 64
	c, release := blocked(t, d, tenant.NewID(), cfg)
	results := make(chan stored, 20)
	for range 20 {
		submit(t, c, tenant.NewID(), 1, results)
	}
	release()
	sizes := map[*db.Tx]int{}
	for range 20 {
		s := <-results
		require.NoError(t, s.err)
		sizes[s.tx]++
	}
	var all []int
	for _, n := range sizes {
		all = append(all, n)
	}
	require.ElementsMatch(t, []int{16, 4}, all)
}

// Someone holds the counter of one company for long: the others get their documents soon, and it gets its own at the end.
func TestLockedCompanyLeavesTheOthersAlone(t *testing.T) {
	t.Parallel()
	d := sharing(t)
	locked := tenant.NewID()
	var n int64
	gate, holding, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	var once sync.Once
	go func() {
		ended <- d.RunTx(context.Background(), "test.hold", func(ctx context.Context, tx *db.Tx) (err error) {
			if n, err = numbering.Take(ctx, tx, locked, "document", 1); err != nil {
				return err
			}
			once.Do(func() { close(holding) })
			<-gate
			return nil
		}, db.ReadCommitted())
	}()
	<-holding
	unlock := sync.OnceFunc(func() { close(gate) })
	defer unlock()
	c, release := blocked(t, d, tenant.NewID(), groupcommit.Config{MaxRunning: 1, Patience: 2 * time.Second}) // all have asked by then
	mine, others := make(chan stored, 5), make(chan stored, 12)
	submit(t, c, locked, 3, mine)
	for range 6 {
		submit(t, c, tenant.NewID(), 2, others)
	}
	release()
	for range 12 {
		select {
		case s := <-others:
			require.NoError(t, s.err)
		case <-time.After(waitTime): // the lock lasts until it is given back
			t.Fatal("others wait for the company that is locked")
		}
	}
	submit(t, c, locked, 2, mine) // wait for the transaction that waits for the lock
	company := tenant.NewID()
	ctx, cancel := context.WithTimeout(t.Context(), waitTime)
	defer cancel()
	require.NoError(t, do(ctx, c, company, document(company, nil, new(int64))), "the transaction that waits takes no place")
	require.Empty(t, mine)
	unlock()
	require.NoError(t, <-ended)
	for range 5 {
		require.NoError(t, (<-mine).err)
	}
	require.ElementsMatch(t, []int64{1, 2, 3, 4, 5, 6}, append(numbers(t, d, locked), n))
}

// Documents whose members read keep to their company, and wait for no place among the transactions of the others.
func TestMembersThatReadDoNotShare(t *testing.T) {
	t.Parallel()
	d := setup(t)
	c, release := blocked(t, d, tenant.NewID(), patient)
	defer release()
	gate := make(chan struct{})
	ran, errs := make([]*db.Tx, 4), make(chan error, 4) // a repetition replaces the transaction
	for i := range 2 {
		company := tenant.NewID()
		for k := range 2 {
			member := document(company, nil, new(int64))
			go func() {
				errs <- c.DoReading(t.Context(), company, "document", func(ctx context.Context, tx *db.Tx, n int64) error {
					<-gate
					ran[2*i+k] = tx
					return member(ctx, tx, n)
				}, nil)
			}()
		}
		require.Eventually(t, func() bool { return numbering.Waiting(c, company, "document") == 1 }, waitTime, tick)
	}
	close(gate)
	for range 4 {
		require.NoError(t, <-errs)
	}
	seen := map[*db.Tx]bool{}
	for _, tx := range ran {
		seen[tx] = true
	}
	require.Len(t, seen, 4, "each company has a transaction for the first document and one for the second")
}

// Two nodes store documents of the same companies: they wait for each other's locks, and nothing fails.
func TestNodesShareCompanies(t *testing.T) {
	t.Parallel()
	d := setup(t)
	nodes := []*numbering.Committer{numbering.New(numbering.Config{DB: d, Group: groupcommit.Config{MaxRunning: 2}}), numbering.New(numbering.Config{DB: d, Group: groupcommit.Config{MaxRunning: 2}})}
	companies := make([]tenant.ID, 10)
	for i := range companies {
		companies[i] = tenant.NewID()
	}
	const each = 40
	errs := make(chan error, 16)
	for worker := range cap(errs) {
		go func() {
			var err error
			for i := range each {
				company := companies[(worker*7+i*3)%len(companies)]
				err = errors.Join(err, do(t.Context(), nodes[worker%2], company, document(company, nil, new(int64))))
			}
			errs <- err
		}()
	}
	for range cap(errs) {
		require.NoError(t, <-errs)
	}
	total := 0
	for _, company := range companies {
		all := numbers(t, d, company)
		require.Equal(t, upTo(len(all)), all)
		total += len(all)
	}
	require.Equal(t, cap(errs)*each, total)
}
