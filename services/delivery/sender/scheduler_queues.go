package sender

import (
	"time"

	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

func (s *scheduler) queue(key webhook.SubscriptionKey, from *assignment) (q *receiverQueue, created bool) {
	if q, ok := s.queues[key]; ok {
		return q, false
	}
	company, ok := s.companies[key.Company]
	if !ok {
		limit := newLimiter(s.cfg.PerCompany)
		company = &limit
		s.companies[key.Company] = company
	}
	company.queues++
	q = &receiverQueue{key: key, from: from, company: company}
	s.queues[key] = q
	return q, true
}

// ready opens a receiver queue whose receiver is known. It reports false for a receiver queue that was removed meanwhile.
func (s *scheduler) ready(q *receiverQueue, host string, pace time.Duration, b *breaker) (run []*job, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if q.gone {
		return nil, false
	}
	q.ready, q.pace, q.breaker = true, pace, b
	s.setHost(q, host)
	return s.startJobs(q, nil), true
}

// follow moves a receiver queue whose receiver has another host now, and sets its pace.
func (s *scheduler) follow(q *receiverQueue, host string, pace time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	q.pace = pace
	if q.host.name != host && !q.gone {
		s.dropHost(q)
		s.setHost(q, host)
	}
}

func (s *scheduler) setHost(q *receiverQueue, name string) {
	h, ok := s.hosts[name]
	if !ok {
		h = newHost(name, s.cfg.PerHost)
		s.hosts[name] = h
	}
	q.host, q.share = h, h.share(q.key.Company)
	q.host.queues++
	q.share.queues++
}

func (s *scheduler) dropHost(q *receiverQueue) {
	if q.host == nil {
		return
	}
	if q.share.queues--; q.share.queues == 0 {
		delete(q.host.shares, q.key.Company)
	}
	if q.host.queues--; q.host.queues == 0 {
		delete(s.hosts, q.host.name)
	}
}

// evict removes queues without traffic.
func (s *scheduler) evict() (gone []*receiverQueue) {
	limit := s.now().Add(-idleEviction)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		if !q.ready || q.used > 0 || q.waiting() > 0 || q.waitingOn != nil || q.lastUsed.After(limit) {
			continue
		}
		s.forget(q)
		gone = append(gone, q)
	}
	return gone
}

// disown removes the queues of a partition that was revoked, because what is known of their receivers will be outdated when it
// is assigned again. Running jobs still release their slots.
func (s *scheduler) disown(a *assignment) (gone []*receiverQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		if q.from != a {
			continue
		}
		s.forget(q)
		if q.ready {
			gone = append(gone, q)
		}
	}
	return gone
}

func (s *scheduler) forget(q *receiverQueue) {
	q.gone = true
	delete(s.queues, q.key)
	s.dropHost(q)
	if q.company.queues--; q.company.queues == 0 {
		delete(s.companies, q.key.Company)
	}
}
