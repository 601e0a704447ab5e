package sender

import (
	"time"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

func (s *scheduler) lane(key webhook.SubscriptionKey, from *assignment) (l *lane, created bool) {
	if l, ok := s.lanes[key]; ok {
		return l, false
	}
	company, ok := s.companies[key.Company]
	if !ok {
		limit := newLimiter(s.cfg.PerCompany)
		company = &limit
		s.companies[key.Company] = company
	}
	company.lanes++
	l = &lane{key: key, from: from, company: company}
	s.lanes[key] = l
	return l, true
}

// ready opens a lane whose receiver is known. It reports false for a lane that was removed meanwhile.
func (s *scheduler) ready(l *lane, host string, pace time.Duration, b *breaker) (run []*job, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.gone {
		return nil, false
	}
	l.ready, l.pace, l.breaker = true, pace, b
	s.setHost(l, host)
	return s.startJobs(l, nil), true
}

// follow moves a lane whose receiver has another host now, and sets its pace.
func (s *scheduler) follow(l *lane, host string, pace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.pace = pace
	if l.host.name != host && !l.gone {
		s.dropHost(l)
		s.setHost(l, host)
	}
}

func (s *scheduler) setHost(l *lane, name string) {
	h, ok := s.hosts[name]
	if !ok {
		h = newHost(name, s.cfg.PerHost)
		s.hosts[name] = h
	}
	l.host, l.share = h, h.share(l.key.Company)
	l.host.lanes++
	l.share.lanes++
}

func (s *scheduler) dropHost(l *lane) {
	if l.host == nil {
		return
	}
	if l.share.lanes--; l.share.lanes == 0 {
		delete(l.host.shares, l.key.Company)
	}
	if l.host.lanes--; l.host.lanes == 0 {
		delete(s.hosts, l.host.name)
	}
}

// evict removes lanes without traffic.
func (s *scheduler) evict() (gone []*lane) {
	limit := s.now().Add(-idleEviction)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if !l.ready || l.used > 0 || l.waiting() > 0 || l.waitingOn != nil || l.lastUsed.After(limit) {
			continue
		}
		s.forget(l)
		gone = append(gone, l)
	}
	return gone
}

// disown removes the lanes of a partition that was revoked, because what is known of their receivers will be outdated when it
// is assigned again. Running jobs still release their slots.
func (s *scheduler) disown(a *assignment) (gone []*lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.lanes {
		if l.from != a {
			continue
		}
		s.forget(l)
		if l.ready {
			gone = append(gone, l)
		}
	}
	return gone
}

func (s *scheduler) forget(l *lane) {
	l.gone = true
	delete(s.lanes, l.key)
	s.dropHost(l)
	if l.company.lanes--; l.company.lanes == 0 {
		delete(s.companies, l.key.Company)
	}
}
