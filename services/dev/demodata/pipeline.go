package demodata

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/business/deals"
	"github.com/tradegrid/tradegrid/services/business/lineitem"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// pipeline are the directories of deals.
type pipeline struct {
	kind    deals.Type // of deals that do not come from leads
	sources []uuid.UUID
	reasons []uuid.UUID
}

//nolint:gochecknoglobals // constants
var (
	sourceTable = []deals.EntryFields{
		{Name: "Instagram", Alias: new("instagram")}, {Name: "Bicycle fair", Alias: new("fair")},
	}
	reasonTable = []deals.EntryFields{
		{Name: "Delivery takes too long", Alias: new("delivery")},
	}
	projects = []struct {
		note  string
		qty   int64
		cost  money.Amount
		guest int32
	}{
		{"Fleet of e-bikes for the city office, with service for two years", 6, 14_000_00, 0},
		{"Club order before the season", 12, 9_500_00, 0},
		{"Repair day in the yard of a company", 1, 1_800_00, 25},
		{"Rental bicycles for hotel guests", 8, 7_000_00, 0},
		{"Cargo bikes for deliveries", 3, 16_000_00, 0},
	}
)

// planPipeline makes sources and reasons, and plans leads and deals.
func (s *shop) planPipeline(ctx context.Context) error {
	if err := s.setup.tx(ctx, "pipeline", s.makeDirectories); err != nil {
		return err
	}
	p, err := s.readPipeline(ctx)
	if err != nil {
		return err
	}
	for i := range s.scale.leads {
		s.planLead(i)
	}
	for i := range s.scale.deals {
		s.planDeal(p, i)
	}
	return nil
}

func (s *shop) makeDirectories(ctx context.Context, tx *db.Tx) error {
	for i, in := range sourceTable {
		in.IsActive, in.SortOrder = true, int32(10+i)
		if _, err := s.setup.Deals.CreateLeadSource(ctx, tx, s.cfg.Office, in); err != nil {
			return err
		}
	}
	for i, in := range reasonTable {
		in.IsActive, in.SortOrder = true, int32(10+i)
		if _, err := s.setup.Deals.CreateLostReason(ctx, tx, s.cfg.Office, in); err != nil {
			return err
		}
	}
	return nil
}

// readPipeline reads what deals refer to: the entries that every company begins with, and those of this one.
func (s *shop) readPipeline(ctx context.Context) (p pipeline, err error) {
	types, err := s.setup.Deals.Types(ctx, s.cfg.Office, deals.Directory{})
	if err != nil {
		return p, err
	}
	for _, t := range types {
		if !t.IsLeadType {
			p.kind = t
		}
	}
	if p.kind.ID == uuid.Nil {
		return p, fmt.Errorf("company %s has no deal type but that of leads", s.cfg.Office.Company)
	}
	sources, err := s.setup.Deals.LeadSources(ctx, s.cfg.Office, deals.Directory{})
	if err != nil {
		return p, err
	}
	for _, v := range sources {
		p.sources = append(p.sources, v.ID)
	}
	reasons, err := s.setup.Deals.LostReasons(ctx, s.cfg.Office, deals.Directory{})
	for _, v := range reasons {
		p.reasons = append(p.reasons, v.ID)
	}
	return p, err
}

// sometime is a moment of the i-th of n things that are spread over the history.
func (s *shop) sometime(i, n int) time.Time { return s.between(s.day(i*s.scale.days/n), 9, 18) }

// deal is a deal while it moves.
type deal struct {
	*shop
	id uuid.UUID
}

func (s *shop) planDeal(p pipeline, i int) {
	d := &deal{shop: s}
	at := s.sometime(i, s.scale.deals)
	project := projects[i%len(projects)]
	c, g := pick(s, s.clients), pick(s, s.goods[:s.described])
	in := deals.Input{TypeID: p.kind.ID, Items: []deals.LineInput{
		{Input: lineitem.Input{Kind: trade.KindProduct, RefID: &g.product, VariantID: g.variant, Qty: new(money.Units(project.qty))}},
		{Input: lineitem.Input{Kind: trade.KindService, RefID: &s.jobs[9].id, Qty: new(money.Units(project.qty))}},
	}}
	in.ClientID, in.AddressID, in.Note, in.Budget, in.SourceID = &c.id, c.address, &project.note, &project.cost, &p.sources[i%len(p.sources)]
	in.AssignedToID, in.Channel = &s.cfg.Staff[i%len(s.cfg.Staff)], new("manual")
	if project.guest > 0 {
		in.Headcount, in.ScheduledAt, in.DueAt = &project.guest, new(jsontype.At(at.AddDate(0, 0, 21))), new(jsontype.At(at.AddDate(0, 0, 21).Add(4*time.Hour)))
	}
	d.do(at, "create", func(ctx context.Context, l *lane, tx *db.Tx) error {
		made, err := l.Deals.Create(ctx, tx, s.cfg.Office, in)
		d.id = made.ID
		return err
	})
	d.walk(p, at, i)
}

// walk plans how a deal moves through the stages: two of three are won or lost after some weeks, if the history is that long.
func (d *deal) walk(p pipeline, at time.Time, i int) {
	var between []uuid.UUID
	end := map[string]uuid.UUID{}
	for _, st := range p.kind.Stages {
		switch {
		case st.IsTerminal && st.Outcome != nil:
			end[*st.Outcome] = st.ID
		case !st.IsTerminal && !st.IsInitial:
			between = append(between, st.ID)
		}
	}
	for _, stage := range between {
		at = d.whenOpen(at.Add(time.Duration(30+d.rng.IntN(100)) * time.Hour))
		d.do(at, "move", func(ctx context.Context, l *lane, tx *db.Tx) error {
			if _, err := l.Deals.Move(ctx, tx, d.cfg.Office, d.id, deals.MoveInput{StageID: stage}); err != nil {
				return err
			}
			var in deals.Fields
			in.NextActionAt = new(jsontype.At(tx.Now().AddDate(0, 0, 6)))
			_, err := l.Deals.Update(ctx, tx, d.cfg.Office, d.id, record.PatchOf(in, "nextActionAt"))
			return err
		})
	}
	at = d.whenOpen(at.Add(time.Duration(60+d.rng.IntN(120)) * time.Hour))
	switch i % 3 {
	case 0:
		d.move(at, deals.MoveInput{StageID: end[deals.Won]})
	case 1:
		d.move(at, deals.MoveInput{StageID: end[deals.Lost], LostReasonID: &p.reasons[i%len(p.reasons)]})
	}
}

func (d *deal) do(at time.Time, what string, fn func(ctx context.Context, l *lane, tx *db.Tx) error) {
	d.agenda.add(at, lanePipeline, func(ctx context.Context, l *lane) error {
		return l.tx(ctx, "deal "+what, func(ctx context.Context, tx *db.Tx) error { return fn(ctx, l, tx) })
	})
}

func (d *deal) move(at time.Time, in deals.MoveInput) {
	d.do(at, "move", func(ctx context.Context, l *lane, tx *db.Tx) error {
		_, err := l.Deals.Move(ctx, tx, d.cfg.Office, d.id, in)
		return err
	})
}
