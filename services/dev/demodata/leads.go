package demodata

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/leads"
)

//nolint:gochecknoglobals // constants
var (
	leadSources = []string{"public_form", "instagram", "webhook", "phone"}
	requests    = []struct{ message, campaign string }{
		{"Do you have the Volta City in size M for a test ride on Saturday?", "spring-ebikes"},
		{"We look for six cargo bikes for our couriers. Do you lease?", "fleet"},
		{"Can you repair a steel frame, or do you know somebody who does?", ""},
		{"My daughter needs her first mountain bike. What do you recommend?", "kids"},
		{"What does a full service cost for an e-bike of another brand?", "service"},
		{"I would like a bike fitting as a present. Do you have vouchers?", "gift"},
	}
)

// lead is a lead while it is handled.
type lead struct {
	*shop
	id uuid.UUID
}

func (v *lead) do(at time.Time, what string, fn func(ctx context.Context, l *lane, tx *db.Tx) error) {
	v.agenda.add(at, lanePipeline, func(ctx context.Context, l *lane) error {
		return l.tx(ctx, "lead "+what, func(ctx context.Context, tx *db.Tx) error { return fn(ctx, l, tx) })
	})
}

// planLead plans the i-th lead: spam, or somebody whom a user calls back; most become clients, some with a deal.
func (s *shop) planLead(i int) {
	at := s.sometime(i, s.scale.leads)
	first, last := person(200 + i)
	ask := requests[i%len(requests)]
	in := leads.Input{Source: leadSources[i%len(leadSources)], ExternalID: new(fmt.Sprintf("form-%05d", 20_000+i*17))}
	in.Name, in.Phone, in.Email, in.Message = new(first+" "+last), new(phone(700+i)), new(email(first+" "+last, 0)), &ask.message
	if ask.campaign != "" {
		in.UTM = &leads.Campaign{"utm_source": in.Source, "utm_campaign": ask.campaign}
	}
	v := &lead{shop: s}
	v.do(at, "create", func(ctx context.Context, l *lane, tx *db.Tx) error {
		made, err := l.Leads.Create(ctx, tx, s.cfg.Office, in)
		v.id = made.ID
		return err
	})
	if i%7 == 6 {
		v.do(at.Add(time.Hour), "spam", func(ctx context.Context, l *lane, tx *db.Tx) error {
			_, err := l.Leads.SetStatus(ctx, tx, s.cfg.Office, v.id, leads.StatusInput{Status: "spam"})
			return err
		})
		return
	}
	v.do(at.Add(2*time.Hour), "assign", func(ctx context.Context, l *lane, tx *db.Tx) error {
		if _, err := l.Leads.Assign(ctx, tx, s.cfg.Office, v.id, leads.AssignInput{AssigneeID: &s.cfg.Staff[i%len(s.cfg.Staff)]}); err != nil {
			return err
		}
		_, err := l.Leads.SetStatus(ctx, tx, s.cfg.Office, v.id, leads.StatusInput{Status: "in_progress"})
		return err
	})
	switch at = s.whenOpen(at.Add(50 * time.Hour)); i % 3 {
	case 0:
		v.do(at, "convert", func(ctx context.Context, l *lane, tx *db.Tx) error {
			_, err := l.Leads.Convert(ctx, tx, s.cfg.Office, v.id)
			return err
		})
	case 1:
		v.do(at, "convert", func(ctx context.Context, l *lane, tx *db.Tx) error {
			_, err := l.Leads.ConvertToDeal(ctx, tx, s.cfg.Office, v.id, leads.DealInput{})
			return err
		})
	}
}
