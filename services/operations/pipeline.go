package operations

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/tradegrid/tradegrid/pkg/events/kafka"
	"github.com/tradegrid/tradegrid/pkg/events/outbox"
	"github.com/tradegrid/tradegrid/pkg/store/processes"
	"github.com/tradegrid/tradegrid/services/delivery/store"
)

// maxOpenCircuits is how many receivers with an open circuit are shown.
const maxOpenCircuits = 20

// Pipeline is how the pipeline of events stands, hop by hop.
type Pipeline struct {
	OutboxRows   int64                `json:"outboxRows"`
	OutboxOldest *time.Time           `json:"outboxOldest"`
	OutboxDead   int64                `json:"outboxDead"`
	Groups       []GroupLag           `json:"groups"` // nil without brokers
	Waiting      []store.WaitingCount `json:"waiting"`
	OpenCircuits []store.OpenCircuit  `json:"resting"`
	SampledAt    *time.Time           `json:"sampledAt"` // the last of [Platform.Samples]; nil = there is none
}

// GroupLag is how far a consumer group is behind.
type GroupLag struct {
	Group   string `json:"group"`
	State   string `json:"state"`
	Members int    `json:"members"`
	Lag     int64  `json:"lag"`
	Unowned int    `json:"unowned"` // partitions with lag that no member owns
}

// unowned counts partitions with records that no member is to read.
func unowned(lag kadm.GroupLag) (n int) {
	for _, partitions := range lag {
		for _, p := range partitions {
			if p.Member == nil && p.Lag > 0 {
				n++
			}
		}
	}
	return n
}

// Pipeline reads what is under way, from the outbox to the receivers. What the database knows is there even if the brokers do not
// answer: then the error is about them alone, and is [ErrNoBrokers] where there are none.
func (p *Platform) Pipeline(ctx context.Context) (s Pipeline, brokers, err error) {
	backlog, err := outbox.ReadBacklog(ctx, p.cfg.DB)
	if err != nil {
		return s, nil, err
	}
	s.OutboxRows, s.OutboxOldest, s.OutboxDead = backlog.Rows, backlog.Oldest, backlog.Dead
	if s.Waiting, err = store.SelectWaiting(ctx, p.cfg.DB); err != nil {
		return s, nil, err
	}
	if s.OpenCircuits, err = store.SelectOpenCircuits(ctx, p.cfg.DB, maxOpenCircuits); err != nil {
		return s, nil, err
	}
	if s.SampledAt, err = lastSample(ctx, p.cfg.DB); err != nil {
		return s, nil, err
	}
	admin, brokers := p.admin()
	if brokers == nil {
		s.Groups, brokers = groupLags(ctx, admin)
	}
	return s, brokers, nil
}

// brokersWithin bounds what is asked of the brokers.
const brokersWithin = 30 * time.Second

// groupLags measures the consumer groups of the dispatchers.
func groupLags(ctx context.Context, brokers *kadm.Client) ([]GroupLag, error) {
	ctx, cancel := context.WithTimeout(ctx, brokersWithin)
	defer cancel()
	listed, err := brokers.ListGroups(ctx)
	if err != nil {
		return nil, fmt.Errorf("list consumer groups: %w", err)
	}
	var names []string
	for _, g := range listed.Sorted() {
		if strings.HasPrefix(g.Group, "tradegrid-") {
			names = append(names, g.Group)
		}
	}
	lags := []GroupLag{}
	if len(names) == 0 {
		return lags, nil
	}
	found, err := brokers.Lag(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("measure lag of consumer groups: %w", err)
	}
	for _, l := range found.Sorted() {
		lags = append(lags, GroupLag{l.Group, l.State, len(l.Members), l.Lag.Total(), unowned(l.Lag)})
	}
	return lags, nil
}

// Processes lists the processes that have announced themselves in the last minute.
func (p *Platform) Processes(ctx context.Context) ([]processes.Process, error) {
	return processes.List(ctx, p.cfg.DB)
}

// Topics compares the topics of the cluster with their declaration, and returns what differs.
func (p *Platform) Topics(ctx context.Context) (declared int, changes []kafka.Change, err error) {
	admin, err := p.admin()
	if err != nil {
		return 0, nil, err
	}
	changes, err = kafka.Diff(ctx, admin, p.cfg.Topics, p.cfg.Replicas)
	return len(p.cfg.Topics), changes, kafka.Explain(err)
}
