package requests

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
)

// ErrorGroup is what the refused requests with one error code have in common.
type ErrorGroup struct {
	Code   string // "" if the answers had none
	Status int32  // of the latest
	Count  int64  // of requests, with those that entries of the log stand for
	Latest Request
}

// ErrorGroups are the refused requests of a company by error code, the most frequent first.
type ErrorGroups struct {
	Groups []ErrorGroup
	More   bool // older ones were not looked at
}

// Errors counts the refused requests that the query selects, without its cursor and limit. It looks at the latest 5000.
func (s *Service) Errors(ctx context.Context, by access.Caller, q Query) (all ErrorGroups, err error) {
	if q.Cursor = ""; !q.refusedOnly() {
		q.Answer = "error"
	}
	first, behind, err := q.bounds(s.cfg.DB.Now())
	if err != nil {
		return all, err
	}
	found, looked, err := s.look(ctx, by.Company, q, first, behind)
	if err != nil {
		return all, err
	}
	all.More = looked != uuid.Nil
	at := map[string]int{}
	for _, r := range found {
		if !q.selects(r) {
			continue
		}
		code := ""
		if r.Code != nil {
			code = *r.Code
		}
		i, ok := at[code]
		if !ok {
			i = len(all.Groups)
			at[code] = i
			r.visible(by)
			all.Groups = append(all.Groups, ErrorGroup{Code: code, Status: r.Status, Latest: r})
		}
		all.Groups[i].Count += r.Represents
	}
	slices.SortStableFunc(all.Groups, func(a, b ErrorGroup) int { return int(min(max(b.Count-a.Count, -1), 1)) })
	return all, nil
}
