package ratelimit

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// leaseBatch is the maximum number of rows per statement.
const leaseBatch = 1000

// The times of the table are the database's, because the clocks of the nodes differ. The zero token of the zero company is the
// node itself.
const rateLeases = db.Table("rate_leases")

const sqlSelectPeers = `SELECT l.token_id, count(*), CAST(sum(l.demand) AS BIGINT)
FROM rate_leases AS l
JOIN unnest($1::UUID[], $2::UUID[]) AS u(company_id, token_id) ON l.company_id = u.company_id AND l.token_id = u.token_id
WHERE l.node <> $3 AND l.expires_at > now() GROUP BY l.token_id`

var (
	sqlUpsertLeases = rateLeases.Insert(`(company_id, token_id, node, demand, expires_at)
SELECT u.company_id, u.token_id, $3, u.demand, now() + INTERVAL '3 seconds'
FROM unnest($1::UUID[], $2::UUID[], $4::BIGINT[]) AS u(company_id, token_id, demand)
ON CONFLICT (company_id, token_id, node) DO UPDATE SET demand = excluded.demand, expires_at = excluded.expires_at`)
	sqlDeleteLeases = rateLeases.Delete(`WHERE node = $3 AND (company_id, token_id) IN
  (SELECT u.company_id, u.token_id FROM unnest($1::UUID[], $2::UUID[]) AS u(company_id, token_id))`)
)

// DBLeases implements [Leases] with the table rate_leases.
type DBLeases struct{ db *db.DB }

// NewDBLeases returns leases stored in the database.
func NewDBLeases(d *db.DB) *DBLeases { return &DBLeases{db: d} }

// Exchange implements [Leases].
func (s *DBLeases) Exchange(ctx context.Context, node string, mine []Demand) (Peers, error) {
	peers := Peers{Nodes: 1, Others: map[uuid.UUID]Others{}}
	err := inBatches(append([]Demand{{}}, mine...), func(rows []Demand) error { return s.exchange(ctx, node, rows, peers.Others) })
	if err != nil {
		return Peers{}, fmt.Errorf("exchange rate leases: %w", err)
	}
	peers.Nodes += peers.Others[uuid.Nil].Nodes
	return peers, nil
}

func (s *DBLeases) exchange(ctx context.Context, node string, rows []Demand, others map[uuid.UUID]Others) error {
	companies, tokens, demands := columns(rows)
	return s.db.RunTx(ctx, "ratelimit.exchange", func(_ context.Context, tx *db.Tx) error {
		tx.Queue(sqlUpsertLeases, companies, tokens, node, demands)
		tx.QueueRead(sqlSelectPeers, companies, tokens, node).Rows(func(rows pgx.Rows) error {
			var token uuid.UUID
			var o Others
			_, err := pgx.ForEachRow(rows, []any{&token, &o.Nodes, &o.Milli}, func() error {
				others[token] = o
				return nil
			})
			return err
		})
		return nil
	}, db.ReadCommitted(), db.Repeatable())
}

// Leave implements [Leases].
func (s *DBLeases) Leave(ctx context.Context, node string, gone []Demand) error {
	err := inBatches(gone, func(rows []Demand) error {
		companies, tokens, _ := columns(rows)
		return s.db.RunTx(ctx, "ratelimit.leave", func(_ context.Context, tx *db.Tx) error {
			tx.Queue(sqlDeleteLeases, companies, tokens, node)
			return nil
		}, db.ReadCommitted(), db.Repeatable())
	})
	if err != nil {
		return fmt.Errorf("release rate leases: %w", err)
	}
	return nil
}

func inBatches(rows []Demand, do func([]Demand) error) error {
	for len(rows) > 0 {
		n := min(len(rows), leaseBatch)
		if err := do(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

func columns(rows []Demand) (companies, tokens []uuid.UUID, demands []int64) {
	for _, d := range rows {
		companies, tokens, demands = append(companies, uuid.UUID(d.Company)), append(tokens, d.Token), append(demands, d.Milli)
	}
	return companies, tokens, demands
}
