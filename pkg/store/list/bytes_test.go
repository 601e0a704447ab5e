package list_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// Records that are large by themselves, with nothing listed with them.
func TestPagesAreCutByTheSizeOfTheirRows(t *testing.T) {
	t.Parallel()
	f := setup(t)
	large := strings.Repeat("x", 1<<20)
	var want []string
	for i, title := range []string{"a", "b" + large, "c" + large, "d" + large, "e" + large, "f" + strings.Repeat(large, 5), "g", "h", "i", "j"} {
		b := book{Title: title}
		if i%2 == 0 {
			b.Pages = new(int64(i))
		}
		want = append(want, f.add(t, f.Principal.Company, b).ID.String())
	}
	read := func(pairs ...string) (sizes []int, ids []string) {
		for p := f.list(t, pairs...); ; p = f.list(t, append(pairs, "cursor", *p.NextCursor)...) {
			require.Equal(t, 10, p.PageSize)
			sizes, ids = append(sizes, len(p.Items)), append(ids, p.ids()...)
			require.Equal(t, p.NextCursor != nil, p.HasMore)
			if p.NextCursor == nil {
				return sizes, ids
			}
		}
	}
	sizes, ids := read("pageSize", "10", "sort", "createdAt", "fresh", "false")
	require.Equal(t, want, ids)
	require.Equal(t, []int{4, 1, 1, 2, 2}, sizes, "behind a page that was cut, the next reads twice as many records as it had")
	_, ids = read("pageSize", "10", "sort", "pages") // in two parts
	require.ElementsMatch(t, want, ids)
}

// chapters is listed with books; each book has so many bytes of them.
type chapters struct {
	bytes int
	read  []uuid.UUID
	sql   string // of both statements
}

func (c *chapters) QueueSizes(b *pgx.Batch, company tenant.ID, parents []uuid.UUID, each func(uuid.UUID, int)) {
	b.Queue(`SELECT b.id FROM books b WHERE b.company_id = $1 AND b.id = ANY($2::UUID[])`+c.sql, company, parents).Query(func(rows pgx.Rows) error {
		var id uuid.UUID
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error { each(id, c.bytes); return nil })
		return err
	})
}

func (c *chapters) QueueRead(b *pgx.Batch, company tenant.ID, parents []uuid.UUID, limit int) *int {
	read := 0
	if limit > 0 && c.bytes*len(parents) > limit {
		parents = nil
	} else {
		c.read = append(c.read, parents...)
	}
	b.Queue(`SELECT b.id FROM books b WHERE b.company_id = $1 AND b.id = ANY($2::UUID[])`+c.sql, company, parents).Query(func(rows pgx.Rows) error {
		_, err := pgx.ForEachRow(rows, []any{new(uuid.UUID)}, func() error { read++; return nil })
		return err
	})
	return &read
}

// Where each child is a row with the fields of its record, large records with many children make small pages.
func TestPagesOfRowsCountRecordsForEachChild(t *testing.T) {
	t.Parallel()
	f, company := setup(t), tenant.NewID()
	for range 8 {
		f.add(t, company, book{Title: strings.Repeat("x", 20<<10)})
	}
	page, err := f.read(t, list.NewNode(list.NodeConfig{}), company, list.Params{PageSize: 8}, "title")
	require.NoError(t, err)
	require.NoError(t, page.ReadRows(t.Context(), f.db, &chapters{bytes: 100 * list.ChildBytes}))
	require.Len(t, page.Items, 1, "a hundred rows of 20 KiB for each book")
	require.True(t, page.HasMore)
	page, err = f.read(t, list.NewNode(list.NodeConfig{}), company, list.Params{PageSize: 8}, "title")
	require.NoError(t, err)
	require.NoError(t, page.ReadChildren(t.Context(), f.db, &chapters{bytes: 100 * list.ChildBytes}))
	require.Len(t, page.Items, 8)
}

func TestMemoryOfChildrenIsReservedBeforeTheyAreRead(t *testing.T) {
	t.Parallel()
	f, company := setup(t), tenant.NewID()
	for range 8 {
		f.add(t, company, book{Title: "t"})
	}
	var reserved []int
	var refuse error
	read := func(bytes int) (*list.Page[book], *chapters, error) {
		params := list.Params{PageSize: 8}
		params.ReserveBy(func(_ context.Context, n int) error { reserved = append(reserved, n); return refuse })
		page, err := f.read(t, list.NewNode(list.NodeConfig{}), company, params, "title")
		require.NoError(t, err)
		c := &chapters{bytes: bytes}
		return page, c, page.ReadChildren(t.Context(), f.db, c)
	}
	page, c, err := read(1 << 20)
	require.NoError(t, err)
	require.Len(t, page.Items, 3, "with their rows, four would exceed 4 MiB")
	require.Len(t, c.read, 3, "children of the others are not read")
	require.Len(t, reserved, 1)
	require.Greater(t, reserved[0], 3<<20)
	require.Less(t, reserved[0], 3<<20+4<<10, "only what is left on the page")
	require.Equal(t, reserved[0], page.Bytes())
	page, c, err = read(8 << 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 8)
	require.Len(t, c.read, 8, "small ones are read at once, and only once")

	refuse = errors.New("no room")
	_, c, err = read(1 << 20)
	require.ErrorIs(t, err, refuse)
	require.Empty(t, c.read)
}

// What is listed with records counts against the slots and the time limit of lists.
func TestChildrenAreReadWithinTheLimitsOfLists(t *testing.T) {
	t.Parallel()
	f, company := setup(t), tenant.NewID()
	f.add(t, company, book{Title: "t"})
	const slow = " AND pg_sleep(20) IS NOT NULL"
	node := list.NewNode(list.NodeConfig{Conns: 4, Limit: 300 * time.Millisecond}) // two slots, one for each company
	page, err := f.read(t, node, company, list.Params{}, "title")
	require.NoError(t, err)
	began := time.Now()
	first := make(chan error)
	go func() { first <- page.ReadChildren(t.Context(), f.db, &chapters{sql: slow}) }()
	require.Eventually(t, func() bool { return f.db.Pool().Stat().AcquiredConns() == 1 }, time.Minute, time.Millisecond)
	fault, ok := apierr.As(page.ReadChildren(t.Context(), f.db, &chapters{sql: " "}))
	if ok { // it waited as long as the first was allowed to run
		require.Equal(t, apierr.PoolExhausted, fault.Reason())
	}
	require.GreaterOrEqual(t, time.Since(began), 250*time.Millisecond, "the only slot of the company was taken")
	require.True(t, apierr.Is(<-first, list.TooExpensive))
	require.Less(t, time.Since(began), 15*time.Second)
	require.True(t, apierr.Is(page.ReadChildren(t.Context(), f.db, &chapters{sql: slow}), list.TooExpensive), "refused without another try")
	require.NoError(t, page.ReadChildren(t.Context(), f.db, &chapters{}))
}
