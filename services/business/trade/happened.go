package trade

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// clockAhead is how far the clock of a client may be ahead: such a time counts as now.
const clockAhead = 5 * time.Minute

// Happened is when something happened that a client tells, perhaps later: nil = now. See docs/reference/rules.md#the-time-it-happened.
func Happened(by access.Caller, field string, at *jsontype.Time, now time.Time) (*jsontype.Time, error) {
	days := by.Settings.BackdateDays
	switch {
	case at == nil:
		return nil, nil //nolint:nilnil // now
	case at.Std().After(now.Add(clockAhead)):
		return nil, apierr.InvalidField(field, apierr.Max, "must not be in the future; omit it if it happens now")
	case at.Std().After(now):
		return nil, nil //nolint:nilnil // now
	case at.Std().Before(now.AddDate(0, 0, -int(days))):
		return nil, apierr.InvalidField(field, apierr.Min, "must be at most %d days ago, which is the backdateDays of the company", days)
	}
	return at, nil
}
