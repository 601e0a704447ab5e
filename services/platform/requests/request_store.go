package requests

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const (
	columns           = `id, COALESCE(request_id, CAST(id AS TEXT)), created_at, method, route, operation, scope, path, status, code, duration_ms, token_id, token_name, address, entity_id, represents`
	newestFirst       = ` ORDER BY company_id DESC, id DESC`
	sqlSelectRequests = `SELECT ` + columns + ` FROM api_requests WHERE company_id = $1 AND id >= $2 AND id < $3` + newestFirst + ` LIMIT $4`
	sqlSelectRefused  = `SELECT ` + columns + ` FROM api_requests WHERE company_id = $1 AND id >= $2 AND id < $3 AND status >= 400` + newestFirst + ` LIMIT $4`
	sqlSelectNamed    = `SELECT ` + columns + ` FROM (
 SELECT company_id, id, request_id, created_at, method, route, operation, scope, path, status, code, duration_ms, token_id, token_name, address, entity_id, represents
  FROM api_requests WHERE company_id = $1 AND id = ANY($2::UUID[]) AND request_id IS NULL
 UNION ALL SELECT company_id, id, request_id, created_at, method, route, operation, scope, path, status, code, duration_ms, token_id, token_name, address, entity_id, represents
  FROM api_requests WHERE company_id = $1 AND request_id = ANY($3::TEXT[])) AS named` + newestFirst + ` LIMIT $4`
	sqlSelectRefusedOf = `SELECT ` + columns + ` FROM api_requests WHERE company_id = $1 AND entity_id = $2 AND status >= 400
ORDER BY company_id DESC, id DESC LIMIT $3`
	sqlSelectDetail = `SELECT ` + columns + `, error, body, body_bytes FROM api_requests WHERE company_id = $1 AND id = $2`
)

func (r *Request) targets() []any {
	return []any{
		&r.ID, &r.RequestID, &r.CreatedAt, &r.Method, &r.Route, &r.Operation, &r.scope, &r.Path, &r.Status, &r.Code, &r.DurationMs,
		&r.TokenID, &r.TokenName, &r.Address, &r.EntityID, &r.Represents,
	}
}

func collect(ctx context.Context, q db.Querier, sql string, args ...any) ([]Request, error) {
	return db.Collect(ctx, q, "select requests", func(row pgx.CollectableRow) (r Request, err error) {
		return r, row.Scan(r.targets()...)
	}, sql, args...)
}

func (s *Service) selectDetail(ctx context.Context, company tenant.ID, id uuid.UUID) (r RequestDetail, err error) {
	var refusal, body []byte
	if err := s.cfg.DB.QueryRow(ctx, sqlSelectDetail, company, id).Scan(append(r.targets(), &refusal, &body, &r.BodyBytes)...); err != nil {
		return r, fmt.Errorf("select request %s: %w", id, err)
	}
	if refusal != nil {
		text := jsontype.Object(refusal)
		r.Error = &text
	}
	if body != nil {
		r.Body = json.RawMessage(body)
	}
	return r, nil
}

// sqlInsertRequests may run twice for the same rows, if the result of a commit is unknown.
var sqlInsertRequests = apiRequests.Insert(`(company_id, id, request_id, created_at, method, route, operation, scope, path, status, code, duration_ms,
 token_id, token_name, address, entity_id, represents, error, body, body_bytes)
SELECT u.c, u.i, u.r, u.t, u.m, u.ro, u.o, u.s, u.p, u.st, u.co, u.d, u.ti, u.tn, u.a, u.e, u.re, u.er, u.b, u.bb
FROM unnest($1::UUID[], $2::UUID[], $3::TEXT[], $4::TIMESTAMPTZ[], $5::TEXT[], $6::TEXT[], $7::TEXT[], $8::TEXT[], $9::TEXT[], $10::INT4[], $11::TEXT[], $12::INT4[],
 $13::UUID[], $14::TEXT[], $15::TEXT[], $16::UUID[], $17::BIGINT[], $18::BYTEA[], $19::BYTEA[], $20::INT4[])
AS u(c, i, r, t, m, ro, o, s, p, st, co, d, ti, tn, a, e, re, er, b, bb)
ON CONFLICT (company_id, id) DO NOTHING`)

// rows are requests as the arrays of one INSERT.
type rows struct {
	company, id, token                                []uuid.UUID
	chosen, code                                      []*string
	at                                                []time.Time
	method, route, operation, scope, path, name, from []string
	status, took, size                                []int32
	entity                                            []*uuid.UUID
	represents                                        []int64
	refusal, body                                     [][]byte
}

func (r *rows) add(e *entry) {
	r.company, r.id, r.token = append(r.company, uuid.UUID(e.company)), append(r.id, e.ID), append(r.token, e.TokenID)
	var chosen *string
	if e.RequestID != "" {
		chosen = &e.RequestID
	}
	r.chosen, r.code, r.at = append(r.chosen, chosen), append(r.code, e.Code), append(r.at, e.CreatedAt.Std())
	r.method, r.route, r.operation = append(r.method, e.Method), append(r.route, e.Route), append(r.operation, e.Operation)
	r.scope, r.path, r.name, r.from = append(r.scope, e.scope), append(r.path, *e.Path), append(r.name, e.TokenName), append(r.from, e.Address)
	r.status, r.took, r.size = append(r.status, e.Status), append(r.took, e.DurationMs), append(r.size, e.bodyBytes)
	r.entity, r.represents = append(r.entity, e.EntityID), append(r.represents, e.Represents)
	r.refusal, r.body = append(r.refusal, e.refusal), append(r.body, e.storedBody())
}

func (r *rows) args() []any {
	return []any{
		r.company, r.id, r.chosen, r.at, r.method, r.route, r.operation, r.scope, r.path, r.status, r.code, r.took,
		r.token, r.name, r.from, r.entity, r.represents, r.refusal, r.body, r.size,
	}
}

const sqlCountRequests = `SELECT COALESCE(sum(represents), 0)::BIGINT, COALESCE(sum(CASE WHEN status >= 400 THEN represents ELSE 0 END), 0)::BIGINT
FROM api_requests WHERE company_id = $1 AND id >= $2 AND id < $3`

// Count estimates the requests of a company from one time to before another, by what the log has kept of them, and how many of
// them were refused. What is older than [Kept] is no longer there.
func Count(ctx context.Context, q db.Querier, company tenant.ID, from, to time.Time) (n, refused int64, err error) {
	low, _ := record.IDsBetween(from, from)
	high, _ := record.IDsBetween(to, to)
	if err := q.QueryRow(ctx, sqlCountRequests, company, low, high).Scan(&n, &refused); err != nil {
		return 0, 0, fmt.Errorf("count requests: %w", err)
	}
	return n, refused, nil
}
