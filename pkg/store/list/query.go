package list

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Query collects the conditions of one list request.
type Query struct {
	spec    Spec
	company tenant.ID
	params  Params
	sort    string
	desc    bool
	where   []string
	args    []any
	now     time.Time
	reads   []db.Table
	foreign bool // a condition reads a table
	found   []found

	few      int    // at most that many records, after a page that was too large; 0 = pageSize
	seekFrom *place // the page lies behind it
	skip     int64  // records between seekFrom, or the start, and the page
	counted  *int64 // along with the page
	hits     *int64 // of a search, while they are read with the page

	searching bool
	searched  int // index of the condition of the search
}

// found is a condition of [Query.WhereFound] or [Query.OrFound].
type found struct {
	where    int // index of the condition
	from, to int // its arguments
	asked    any
}

// New returns the query of a company's list. sort is the resource's sort parameter.
func New(spec Spec, company tenant.ID, p Params, sort string) (*Query, error) {
	spec.Company, spec.ID = cmp.Or(spec.Company, "company_id"), cmp.Or(spec.ID, "id")
	spec.Updated, spec.Default = cmp.Or(spec.Updated, "updated_at"), cmp.Or(spec.Default, "createdAt")
	if spec.Reads == nil {
		spec.Reads = []db.Table{db.Table(spec.From)}
	}
	q := &Query{spec: spec, company: company, params: p, sort: cmp.Or(sort, spec.Default), now: time.Now(), reads: slices.Clip(spec.Reads)}
	q.skip = int64(max(p.Page, 1)-1) * int64(p.PageSize)
	q.desc = p.Order == "desc" || (p.Order == "" && sort == "")
	if spec.Platform {
		q.Where("TRUE")
	} else {
		q.Where(spec.Company+" = ?", company)
	}
	if len(p.IDs) > 0 {
		q.Where(spec.ID+" = ANY(?::UUID[])", p.IDs)
	}
	if p.UpdatedSince != nil {
		q.sort, q.desc = "updatedAt", false
		q.spec.Sorts = map[string]Sort{"updatedAt": {Column: spec.Updated, Type: "TIMESTAMPTZ"}}
		q.Where(spec.Updated+" >= ?", p.UpdatedSince.Std())
	}
	var faults apierr.Fields
	if p.Cursor != "" && p.Page != 0 {
		faults.Add("cursor", apierr.Conflict, "cannot be combined with page; send one of them")
	}
	return q, faults.Err()
}

// WhereFound adds a condition with arguments that the client did not send, such as the time, or all ids below one. A cursor
// is valid as long as the client asks for the same, even if the arguments differ by then.
func (q *Query) WhereFound(asked any, condition string, args ...any) {
	from := len(q.args)
	q.Where(condition, args...)
	q.found = append(q.found, found{len(q.where) - 1, from, len(q.args), asked})
}

// OrFound widens the search by records that a condition finds, with arguments that the client did not send, such as the ids of those
// of which other records tell. A cursor is valid whatever is found. Queries without a search stay as they are.
func (q *Query) OrFound(condition string, args ...any) {
	if !q.searching {
		return
	}
	q.WhereFound(nil, condition, args...)
	last := len(q.where) - 1
	q.where[q.searched] = "(" + q.where[q.searched] + " OR " + q.where[last] + ")"
	q.where, q.found[len(q.found)-1].where = q.where[:last], q.searched
}

// Reading declares the tables that a condition reads, besides the record of the list that it is about. It returns q.
func (q *Query) Reading(tables ...db.Table) *Query {
	q.reads, q.foreign = append(q.reads, tables...), true
	return q
}

// Where adds a condition; each ? is replaced by the placeholder of the next argument.
func (q *Query) Where(condition string, args ...any) {
	condition, args = single(condition, args)
	var b strings.Builder
	first, rest, _ := strings.Cut(condition, "?")
	b.WriteString(first)
	for _, arg := range args {
		q.args = append(q.args, arg)
		b.WriteString("$" + strconv.Itoa(len(q.args)))
		first, rest, _ = strings.Cut(rest, "?")
		b.WriteString(first)
	}
	q.where = append(q.where, b.String())
}

// single turns an any-of condition with one value into an equation, whose rows an index returns in its order.
func single(condition string, args []any) (string, []any) {
	before, kind, ok := strings.Cut(condition, " = ANY(?::")
	kind, ends := strings.CutSuffix(kind, "[])")
	if !ok || !ends || len(args) != 1 || strings.ContainsAny(before+kind, "?() ") {
		return condition, args
	}
	all := reflect.ValueOf(args[0])
	if all.Kind() != reflect.Slice || all.Len() != 1 {
		return condition, args
	}
	return before + " = ?::" + kind, []any{all.Index(0).Interface()}
}

// Search adds the text search in column if the client sent search.
func (q *Query) Search(column string) {
	q.SearchBy(column+" LIKE ?", func(pattern string) []any { return []any{pattern} })
}

// SearchBy adds the text search by a condition if the client sent search. args returns the arguments of the condition for a
// pattern of LIKE.
func (q *Query) SearchBy(condition string, args func(pattern string) []any) {
	if q.params.Search == "" {
		return
	}
	q.searching = true
	var either []string
	var all []any
	for _, pattern := range likePatterns(q.params.Search, q.params.callingCode) {
		either, all = append(either, condition), append(all, args(pattern)...)
	}
	q.searched = len(q.where)
	if len(either) == 1 {
		q.Where(condition, all...)
		return
	}
	q.Where("("+strings.Join(either, " OR ")+")", all...)
}

// In adds an any-of filter if values is not empty.
func (q *Query) In(column string, values []string) {
	if len(values) > 0 {
		q.Where(column+" = ANY(?::TEXT[])", values)
	}
}

// Equal adds a filter by id unless id is nil.
func (q *Query) Equal(column string, id *uuid.UUID) {
	if id != nil {
		q.Where(column+" = ?", *id)
	}
}

// Between adds a filter by an inclusive interval. It returns a fault if from is after to.
func (q *Query) Between(column, fromName string, from *From, toName string, to *To) error {
	if from != nil && to != nil && time.Time(*from).After(time.Time(*to)) {
		return apierr.InvalidField(fromName, apierr.Conflict, "must not be after %s", toName)
	}
	if from != nil {
		q.Where(column+" >= ?", time.Time(*from))
	}
	if to != nil {
		q.Where(column+" <= ?", time.Time(*to))
	}
	return nil
}
