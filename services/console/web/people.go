package web

import (
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/platform/accounts"
)

// Limits of people who are signed in, whatever number of sessions they have, and of all people of a company together; see
// docs/reference/limits.md#console. Requests per second hold over all processes, the others for each process.
var (
	personRate  = access.Rate{Limit: 300, RefillPerSecond: 30}
	companyRate = access.Rate{Limit: 1500, RefillPerSecond: 150}
)

const (
	personRunning  = 20 // requests at a time
	companyRunning = 60
	personStreams  = 12
	companyStreams = 100

	// MaxStreamsPerSession is how many streams a session has at most. A page that gets none asks again every few seconds.
	MaxStreamsPerSession = 6
)

// tooMany is the error of a person who asks for more than their share.
type tooMany struct{ wait time.Duration }

func (e tooMany) Error() string { return fmt.Sprintf("too many requests; the next one in %s", e.wait) }

// personOf names whoever has a session, and the company; operators are of none.
func personOf(s accounts.Session) (person, company uuid.UUID) {
	if s.Operator != "" {
		return uuid.NewSHA1(uuid.Nil, []byte(s.Operator)), uuid.Nil
	}
	return s.User, uuid.UUID(s.Company)
}

// people counts what people ask for.
type people struct {
	rate    *ratelimit.Limiter
	running counts
}

// begin counts a request, or returns [tooMany]. It ends with end. One for a part of a page counts towards the rate only.
func (p *people) begin(s accounts.Session, part bool) (end func(), err error) {
	person, company := personOf(s)
	if part {
		if wait := p.charge(s.Company, person, company); wait > 0 {
			return nil, tooMany{wait}
		}
		return func() {}, nil
	}
	shares := []share{{person.String(), personRunning}}
	if company != uuid.Nil {
		shares = append(shares, share{company.String(), companyRunning})
	}
	end, ok := p.running.enter(shares...)
	if !ok {
		return nil, tooMany{time.Second}
	}
	if wait := p.charge(s.Company, person, company); wait > 0 {
		end()
		return nil, tooMany{wait}
	}
	return end, nil
}

// charge takes a request from the rates of a person and of the company; wait > 0 means that one of them is used up.
func (p *people) charge(of tenant.ID, person, company uuid.UUID) (wait time.Duration) {
	one := &access.Principal{Company: of, TokenID: person, Rate: personRate}
	if d := p.rate.Allow(one, 1); !d.OK {
		return time.Duration(d.RetryAfterSeconds) * time.Second
	}
	if company == uuid.Nil {
		return 0
	}
	if d := p.rate.Allow(&access.Principal{Company: of, TokenID: company, Rate: companyRate}, 1); !d.OK {
		p.rate.Refund(one, 1)
		return time.Duration(d.RetryAfterSeconds) * time.Second
	}
	return 0
}

// share is how many of something may be had at a time.
type share struct {
	of   string
	most int
}

// counts counts what is under way, by whose it is. The zero value counts nothing yet.
type counts struct {
	mu sync.Mutex
	of map[string]int
}

// enter counts one more for each share, until leave; ok is false if one of them is used up, and then none counts.
func (c *counts) enter(shares ...share) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range shares {
		if c.of[s.of] >= s.most {
			return nil, false
		}
	}
	if c.of == nil {
		c.of = map[string]int{}
	}
	for _, s := range shares {
		c.of[s.of]++
	}
	return sync.OnceFunc(func() { c.leave(shares) }), true
}

func (c *counts) leave(shares []share) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range shares {
		if c.of[s.of]--; c.of[s.of] == 0 {
			delete(c.of, s.of)
		}
	}
}
