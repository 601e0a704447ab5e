package company

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Bounds of the settings on bookings; see docs/reference/rules.md#public-links and docs/reference/rules.md#reminders.
const (
	minReminder  = 5
	maxMinutes   = 30 * 24 * 60
	maxReminders = 5
)

// Normalise orders the reminders, the longest first, and drops repeated ones.
func (c *Settings) Normalise() {
	reminders := append(make([]int32, 0, len(c.BookingReminders)), c.BookingReminders...)
	slices.Sort(reminders)
	slices.Reverse(reminders)
	c.BookingReminders = slices.Compact(reminders)
	if c.BookingURL != nil {
		c.BookingURL = new(strings.TrimSuffix(*c.BookingURL, "/"))
	}
}

func (c *Settings) checkBookings(faults *apierr.Fields) {
	if c.BookingURL != nil {
		u, err := url.Parse(*c.BookingURL)
		if err != nil || u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())) || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
			faults.Add("bookingUrl", apierr.Format, "must be https:// and a host, such as https://book.example.com; null for no links")
		}
	}
	if c.BookingChangeMinutes < 0 || c.BookingChangeMinutes > maxMinutes {
		faults.Add("bookingChangeMinutes", apierr.Max, "must be between 0 and %d", maxMinutes)
	}
	if len(c.BookingReminders) > maxReminders {
		faults.Add("bookingReminders", apierr.Max, "must have at most %d times", maxReminders)
	}
	for _, minutes := range c.BookingReminders {
		if minutes < minReminder || minutes > maxMinutes {
			faults.Add("bookingReminders", apierr.Max, "must be between %d and %d minutes", minReminder, maxMinutes)
			return
		}
	}
}

// isLocal reports whether a host is this machine, for development.
func isLocal(host string) bool { return host == "localhost" || host == "127.0.0.1" }

// AsCustomer returns a company as its customers call it: with its settings and components, and without scopes. An archived one is
// 404 COMPANY_NOT_FOUND, as one that does not exist.
func (s *Service) AsCustomer(ctx context.Context, q db.Querier, id tenant.ID) (access.Caller, error) {
	c, err := s.get(ctx, q, id)
	if err != nil {
		return access.Caller{}, err
	}
	if c.Status == Archived {
		return access.Caller{}, noCompany(id)
	}
	return access.Caller{Principal: &access.Principal{
		Company: c.ID, CompanyName: c.Name, IsTest: c.IsTest, Currency: c.Currency, CountryPrefix: c.CountryPrefix, Customer: true,
		Components: c.Components, Plan: c.Plan, Settings: c.forCallers(),
	}}, nil
}
