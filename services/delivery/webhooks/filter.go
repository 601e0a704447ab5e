package webhooks

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

const (
	maxFilterBytes = 16 << 10
	maxExponent    = 300 // of a number: far beyond what an event has, within what both databases store
)

// checkFilter compiles a filter, to refuse one that the router could not use or that no event of the patterns can meet, and brings it
// to its canonical form. No patterns stand for all events.
func (s *Service) checkFilter(faults *apierr.Fields, filter *jsontype.Object, patterns []webhook.EventPattern) *jsontype.Object {
	if filter == nil {
		return nil
	}
	if len(*filter) > maxFilterBytes {
		faults.Add("filter", apierr.Length, "has %d bytes; at most %d are allowed", len(*filter), maxFilterBytes)
		return nil
	}
	compiled, wrong := webhook.CompileFilter([]byte(*filter))
	for _, f := range wrong {
		field := "filter"
		if f.Key != "" {
			field += "." + f.Key
		}
		faults.Add(field, apierr.Format, f.Rule, f.Args...)
	}
	canonical := filter.Canonical()
	var conditions map[string]any
	dec := json.NewDecoder(strings.NewReader(string(canonical)))
	dec.UseNumber()
	if len(wrong) > 0 || dec.Decode(&conditions) != nil {
		return nil
	}
	s.checkFields(faults, compiled, patterns)
	for key, value := range conditions {
		if problem := notStorable([]any{key, value}); problem != "" {
			faults.Add("filter."+key, apierr.Format, "%s", problem)
		}
	}
	return &canonical
}

// checkFields refuses paths that begin with a field which no event of the patterns has.
func (s *Service) checkFields(faults *apierr.Fields, filter *webhook.Filter, patterns []webhook.EventPattern) {
	if len(patterns) == 0 {
		patterns = []webhook.EventPattern{webhook.Any}
	}
	var known []string
	filter.DataFields(func(key, field string) {
		if known == nil {
			for _, t := range s.matching(patterns...) {
				known = append(known, t.Fields()...)
			}
		}
		if slices.Contains(known, field) {
			return
		}
		hint := ""
		if nearest := apierr.Nearest(field, known); nearest != "" {
			hint = "; did you mean data." + nearest + "?"
		}
		faults.Add("filter."+key, apierr.Unknown, "can never match: the events have no field %s%s", field, hint)
	})
}

// notStorable finds what is JSON but not a value that both databases keep.
func notStorable(v any) string {
	switch v := v.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			return "must not contain the character U+0000; remove it"
		}
	case json.Number:
		return badNumber(string(v))
	case []any:
		for _, item := range v {
			if problem := notStorable(item); problem != "" {
				return problem
			}
		}
	case map[string]any:
		for key, item := range v {
			if problem := notStorable([]any{key, item}); problem != "" {
				return problem
			}
		}
	}
	return ""
}

func badNumber(text string) string {
	i := strings.IndexAny(text, "eE")
	if i < 0 {
		return ""
	}
	if e, err := strconv.Atoi(text[i+1:]); err != nil || e > maxExponent || e < -maxExponent {
		return "has a number that is out of range"
	}
	return ""
}
