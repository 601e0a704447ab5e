package operations

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/delivery/webhooks"
)

// shelf has deliveries by company, newest first. The company slow is never read in time.
type shelf struct {
	Deliveries

	companies []tenant.ID
	of        map[tenant.ID][]uuid.UUID
	slow      tenant.ID
	each      int // deliveries in a page
}

func (s *shelf) Subscribed(_ context.Context, after tenant.ID) ([]tenant.ID, error) {
	i := slices.Index(s.companies, after) + 1
	return s.companies[i:min(i+2, len(s.companies))], nil
}

func (s *shelf) CompanyDeliveries(_ context.Context, by access.Caller, in webhooks.DeliveryQuery) (page webhooks.DeliveryPage, err error) {
	if by.Company == s.slow {
		return page, context.DeadlineExceeded
	}
	for _, id := range s.of[by.Company] {
		if in.Cursor != "" && id.String() >= in.Cursor {
			continue
		}
		if len(page.Items) == min(s.each, in.Limit) {
			next := page.Items[len(page.Items)-1].ID.String()
			page.NextCursor = &next
			break
		}
		page.Items = append(page.Items, webhooks.DeliveryRecord{ID: id})
	}
	return page, nil
}

func newShelf(companies, each int) (*shelf, []uuid.UUID) {
	s := &shelf{of: map[tenant.ID][]uuid.UUID{}, each: 2}
	for range companies {
		s.companies = append(s.companies, tenant.NewID())
	}
	slices.SortFunc(s.companies, func(a, b tenant.ID) int { return bytes.Compare(a[:], b[:]) })
	var all []uuid.UUID
	for range each {
		for _, c := range s.companies {
			id := uuid.Must(uuid.NewV7())
			all, s.of[c] = slices.Insert(all, 0, id), slices.Insert(s.of[c], 0, id)
		}
	}
	return s, all
}

// Pages over all companies have each delivery once, the newest first, whatever the pages of a company are.
func TestFindDeliveries(t *testing.T) {
	t.Parallel()
	s, all := newShelf(5, 7)
	p := New(Config{Deliveries: s})
	for _, limit := range []int{1, 3, 34, 35, 36} {
		var got []uuid.UUID
		f := DeliveryFilter{Limit: limit}
		for more := true; more; {
			var found []Delivery
			var err error
			found, more, err = p.FindDeliveries(t.Context(), f)
			require.NoError(t, err)
			require.LessOrEqual(t, len(found), limit)
			for _, d := range found {
				require.Contains(t, s.of[d.CompanyID], d.ID)
				got = append(got, d.ID)
			}
			f.Cursor = got[len(got)-1].String()
		}
		require.Equal(t, all, got, limit)
	}
	one := s.companies[3]
	found, more, err := p.FindDeliveries(t.Context(), DeliveryFilter{Company: &one, Limit: 100})
	require.NoError(t, err)
	require.False(t, more)
	require.Len(t, found, 7)
	found, more, err = p.FindDeliveries(t.Context(), DeliveryFilter{Company: &one, Limit: s.each})
	require.NoError(t, err)
	require.True(t, more, "what is exactly a page of the company is not the end")
	require.Len(t, found, s.each)

	s.slow = s.companies[3]
	found, _, err = p.FindDeliveries(t.Context(), DeliveryFilter{Limit: 100})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Len(t, found, 21, "what was found in time")
}
