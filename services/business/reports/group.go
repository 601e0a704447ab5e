package reports

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/dailytotals"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// Dimensions that follow from what a domain has summed by.
const (
	taxDimension      = "tax"
	hourDimension     = "hour"
	productDimension  = "product"
	categoryDimension = "category"
	branchDimension   = "branch"
)

// source is a report of a domain.
type source struct {
	report *dailytotals.Report
	of     []string // dimensions of its keys
	keys   []string // that its groups get besides their own, of the last dimensions

	// complete sets keys that follow from others, where a report is grouped by these names; nil = none do.
	complete func(ctx context.Context, of view, groups []dailytotals.Group) error
}

// view is what a caller looks at.
type view struct {
	company tenant.ID
	zone    *time.Location
	names   []string // that it is grouped by
}

// choose returns the first source that has sums by all the names, of which it needs not have day.
func choose(names []string, sources ...source) (source, error) {
	var possible []string
	for _, s := range sources {
		if !slices.ContainsFunc(names, func(name string) bool { return name != "day" && !slices.Contains(s.of, name) }) {
			return s, nil
		}
		possible = append(possible, strings.Join(s.of, ", "))
	}
	return source{}, apierr.InvalidField("groupBy", apierr.Conflict, "%s: there are no sums by these together; group by day and some of one of these: %s", strings.Join(names, ", "), strings.Join(possible, "; "))
}

// place gives the groups of the source the keys of all dimensions but day, in their order: "" for those that it does not have.
func (s source) place(groups []dailytotals.Group, dimensions []string) {
	for i := range groups {
		keys := slices.Concat(groups[i].Keys, s.keys)
		groups[i].Keys = make([]string, len(dimensions)-1)
		for j, key := range keys {
			groups[i].Keys[slices.Index(dimensions, s.of[j])-1] = key
		}
	}
}

// quarter is the time that hours of all time zones begin at a multiple of.
const quarter = 15 * time.Minute

// hours makes the hours of the time zone of quarters of an hour, the keys at an index.
func hours(at int) func(context.Context, view, []dailytotals.Group) error {
	return func(_ context.Context, of view, groups []dailytotals.Group) error {
		for i := range groups {
			n, err := strconv.ParseInt(groups[i].Keys[at], 10, 64)
			if err != nil {
				return err
			}
			groups[i].Keys = slices.Clone(groups[i].Keys)
			groups[i].Keys[at] = time.Unix(n*int64(quarter/time.Second), 0).In(of.zone).Format("15")
		}
		return nil
	}
}

// refOf is the item that a key names; ok is false for lines without one.
func refOf(key string) (r trade.ItemRef, ok bool) {
	kind, text, found := strings.Cut(key, " ")
	id, err := uuid.Parse(text)
	return trade.ItemRef{Kind: kind, ID: id}, found && err == nil
}

// categories adds the categories of items, the keys at an index, if they are asked for.
func (s *Service) categories(at int) func(context.Context, view, []dailytotals.Group) error {
	return func(ctx context.Context, of view, groups []dailytotals.Group) error {
		var cards map[trade.ItemRef]trade.StockProduct
		if slices.Contains(of.names, categoryDimension) {
			keys := map[string]bool{}
			for _, g := range groups {
				keys[g.Keys[at]] = true
			}
			var err error
			if cards, err = s.items(ctx, of.company, keys); err != nil {
				return err
			}
		}
		for i := range groups {
			key := ""
			if r, ok := refOf(groups[i].Keys[at]); ok && cards[r].CategoryID != nil {
				key = cards[r].CategoryID.String()
			}
			groups[i].Keys = append(slices.Clone(groups[i].Keys), key)
		}
		return nil
	}
}

// atOnce is how many items are looked up by one statement.
const atOnce = 5000

// items reads what the catalog says of the items that keys name.
func (s *Service) items(ctx context.Context, company tenant.ID, keys map[string]bool) (map[trade.ItemRef]trade.StockProduct, error) {
	var products []trade.StockKey
	var services []uuid.UUID
	for key := range keys {
		switch r, ok := refOf(key); {
		case ok && r.Kind == trade.KindProduct:
			products = append(products, trade.StockKey{Product: r.ID})
		case ok && r.Kind == trade.KindService:
			services = append(services, r.ID)
		}
	}
	cards := make(map[trade.ItemRef]trade.StockProduct, len(keys))
	for some := range slices.Chunk(products, atOnce) {
		found, err := s.cfg.Products.StockProducts(ctx, s.cfg.DB, company, some)
		if err != nil {
			return nil, err
		}
		for key, card := range found {
			cards[trade.ItemRef{Kind: trade.KindProduct, ID: key.Product}] = card
		}
	}
	for some := range slices.Chunk(services, atOnce) {
		found, err := s.cfg.Services(ctx, s.cfg.DB, company, some)
		if err != nil {
			return nil, err
		}
		for id, card := range found {
			cards[trade.ItemRef{Kind: trade.KindService, ID: id}] = card
		}
	}
	return cards, nil
}

// branches makes the branches of warehouses, the keys at an index, if they are asked for, and then does what else follows.
func (s *Service) branches(at int, then func(context.Context, view, []dailytotals.Group) error) func(context.Context, view, []dailytotals.Group) error {
	return func(ctx context.Context, of view, groups []dailytotals.Group) error {
		if err := then(ctx, of, groups); err != nil || !slices.Contains(of.names, branchDimension) {
			return err
		}
		found, err := s.cfg.Branches(ctx, s.cfg.DB, of.company)
		if err != nil {
			return err
		}
		for i := range groups {
			id, err := uuid.Parse(groups[i].Keys[at])
			if groups[i].Keys[at] = ""; err != nil {
				continue // no warehouse
			}
			if branch, ok := found[id]; ok {
				groups[i].Keys[at] = branch.String()
			}
		}
		return nil
	}
}

// Products reads what the catalog says of products.
type Products interface {
	// StockProducts reads products. Unknown keys are omitted.
	StockProducts(ctx context.Context, q db.Querier, company tenant.ID, keys []trade.StockKey) (map[trade.StockKey]trade.StockProduct, error)
}
