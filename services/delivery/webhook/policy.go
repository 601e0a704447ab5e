package webhook

import (
	"errors"
	"fmt"
	"time"
)

// Policy is how often a delivery is attempted, and how long deliveries and events are kept. All processes of a platform need the
// same one: some make deliveries, others attempt them, and others show them and read the event log. Its fields are settings, whose
// defaults stand here alone; [github.com/tradegrid/tradegrid/pkg/kit/config.Defaults] returns them.
type Policy struct {
	MaxAttempts    int           `help:"Maximum number of attempts per delivery." default:"7" same:"platform"`
	DeliveryTTL    time.Duration `name:"delivery-ttl" help:"Lifetime of a delivery." default:"22h" same:"platform"`
	EventRetention time.Duration `help:"How long the event log keeps an event, for GET /events and redelivery." default:"720h" same:"platform"`
}

// minEventRetention is the shortest time that readers of the event log have to fetch an event.
const minEventRetention = time.Hour

// Check validates the policy. Its zero value is invalid, so that whoever needs one cannot do without.
func (p Policy) Check() error {
	var errs []error
	if p.MaxAttempts <= 0 {
		errs = append(errs, fmt.Errorf("--max-attempts %d: must be above 0, such as 7", p.MaxAttempts))
	}
	if p.DeliveryTTL <= 0 {
		errs = append(errs, fmt.Errorf("--delivery-ttl %s: must be above 0, such as 22h", p.DeliveryTTL))
	}
	if p.EventRetention < minEventRetention {
		errs = append(errs, fmt.Errorf("--event-retention %s: must be at least 1h", p.EventRetention))
	}
	return errors.Join(errs...)
}
