package scheduling

import (
	"context"
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/ownermail"
)

// Kinds of letters to customers.
const (
	letterCreated   = "created"
	letterMoved     = "moved"
	letterConfirmed = "confirmed"
	letterCancelled = "cancelled"
	letterReminder  = "reminder"
)

// letterOf is the letter about a status.
var letterOf = map[string]string{statusConfirmed: letterConfirmed, statusCancelled: letterCancelled} //nolint:gochecknoglobals // a constant

// Letter is what a customer is told of a booking.
type Letter struct {
	Locale   string // of the company
	Company  string
	Customer string
	Service  string // "" = none
	Resource string
	StartAt  time.Time // in the zone of the resource
	EndAt    time.Time
	URL      string // "" = there is no link
}

// lettersKept is how long a letter is worth sending after it was written, if the booking does not begin before.
const lettersKept = 3 * 24 * time.Hour

// tell queues a letter to the customer of a changed booking; "" = none.
func (s *Service) tell(ctx context.Context, tx *db.Tx, by access.Caller, b Booking, kind string) error {
	if kind == "" {
		return nil
	}
	return s.write(ctx, tx, by, b, kind, tx.Now())
}

// write queues a letter to the customer of a booking that has not begun, if the company sends mails and the customer has an address.
// Of one occasion there is one letter.
func (s *Service) write(ctx context.Context, tx *db.Tx, by access.Caller, b Booking, kind string, since time.Time) error {
	if s.cfg.Letter == nil || !by.Settings.Bookings.Mails || by.InJob || !b.StartAt.Std().After(tx.Now()) {
		return nil
	}
	address, err := s.addressOf(ctx, tx, b)
	if err != nil || address == "" {
		return err
	}
	r, err := resources.Get(ctx, tx, by.Company, b.ResourceID)
	if err != nil {
		return err
	}
	url, err := s.publicURL(by, b)
	if err != nil {
		return err
	}
	l := Letter{
		Locale: by.Settings.Locale, Company: ownermail.Name(by.CompanyName), Customer: ownermail.Name(b.CustomerName), Resource: ownermail.Name(b.ResourceName),
		StartAt: b.StartAt.Std().In(r.zone()), EndAt: b.EndAt.Std().In(r.zone()), URL: url,
	}
	if b.ServiceName != nil {
		l.Service = ownermail.Name(*b.ServiceName)
	}
	n := ownermail.Notice{Kind: ownermail.Customer + "booking." + kind, Record: b.ID, Since: since, Until: tx.Now().Add(lettersKept), From: by.CompanyName, ReplyTo: by.Settings.Bookings.ReplyTo}
	if start := b.StartAt.Std(); start.Before(n.Until) {
		n.Until = start
	}
	n.Subject, n.Text = s.cfg.Letter(kind, l)
	return ownermail.AddTo(ctx, tx, by.Company, address, n)
}

// addressOf is where the customer of a booking gets mail: the address of the booking, or else that of its client.
func (s *Service) addressOf(ctx context.Context, tx *db.Tx, b Booking) (string, error) {
	switch {
	case b.CustomerEmail != nil:
		return *b.CustomerEmail, nil
	case b.ClientID == nil:
		return "", nil
	}
	c, found, err := s.cfg.Clients.DocumentClient(ctx, tx, b.CompanyID, *b.ClientID, false)
	if err != nil || !found || c.Email == nil {
		return "", err
	}
	return *c.Email, nil
}
