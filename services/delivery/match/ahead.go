package match

import (
	"sync"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// maxAhead bounds the entries that are read ahead of their expiry.
const maxAhead = 200

// ahead remembers the companies whose cached entries are used, so that those that expire soon are read together with one that
// has expired: the events of a hundred companies would otherwise pay for a query each, one company after the other.
type ahead struct {
	mu   sync.Mutex
	used map[tenant.ID]struct{}
}

func (a *ahead) use(company tenant.ID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.used == nil {
		a.used = map[tenant.ID]struct{}{}
	}
	if len(a.used) < maxAhead {
		a.used[company] = struct{}{}
	}
}

// with appends to what is missing the used ones that expire soon.
func (a *ahead) with(missing []tenant.ID, soon func(tenant.ID) bool) []tenant.ID {
	a.mu.Lock()
	defer a.mu.Unlock()
	for company := range a.used {
		if soon(company) {
			missing = append(missing, company)
			delete(a.used, company)
		}
	}
	return missing
}
