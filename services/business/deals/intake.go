package deals

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// Limits of the intake of a deal.
const (
	maxIntakeBytes  = 16 << 10
	maxIntakeNumber = 64 // characters
)

var intakeKey = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

// Answers are the answers that come with a deal, as the text of a JSON object.
type Answers jsontype.Object

// UnmarshalJSON implements [json.Unmarshaler]; the text is kept unchanged.
func (a *Answers) UnmarshalJSON(b []byte) error {
	*a = Answers(b)
	return nil
}

// Schema implements [huma.SchemaProvider].
func (Answers) Schema(huma.Registry) *huma.Schema {
	// Generators make nothing that compiles of several types, one of them an array.
	answer := &huma.Schema{Description: "a string, a number of at most 64 characters and without an exponent, true, false, null, or an array of strings"}
	// The keys are checked together with the answers, so that all faults are reported at once.
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: answer, Extensions: map[string]any{jsontype.PropertyNames: map[string]any{"pattern": intakeKey.String()}}}
}

// checkIntake checks the answers that came with a deal and returns them in canonical form.
func checkIntake(in *Answers, faults *apierr.Fields) *Answers {
	if in == nil {
		return nil
	}
	canonical := jsontype.Object(*in).Canonical()
	if len(canonical) > maxIntakeBytes {
		faults.Add("intake", apierr.Length, "must have at most %d bytes as JSON, has %d", maxIntakeBytes, len(canonical))
		return nil
	}
	var answers map[string]any
	dec := json.NewDecoder(strings.NewReader(string(canonical)))
	dec.UseNumber()
	if err := dec.Decode(&answers); err != nil {
		faults.Add("intake", apierr.Type, "must be an object")
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		path := "intake." + key
		if !intakeKey.MatchString(key) {
			faults.Add(path, apierr.Format, "the key must have 1 to 64 letters, digits, and the characters _ . -")
		}
		checkAnswer(path, answers[key], faults)
	}
	return (*Answers)(&canonical)
}

func checkAnswer(path string, v any, faults *apierr.Fields) {
	switch v := v.(type) {
	case nil, bool:
	case string:
		checkAnswerText(path, v, faults)
	case json.Number:
		if len(v) > maxIntakeNumber || strings.ContainsAny(string(v), "eE") {
			faults.Add(path, apierr.Format, "must be a number of at most %d characters without an exponent", maxIntakeNumber)
		}
	case []any:
		for i, item := range v {
			text, ok := item.(string)
			if !ok {
				faults.Add(fmt.Sprintf("%s[%d]", path, i), apierr.Type, "must be a string")
				continue
			}
			checkAnswerText(fmt.Sprintf("%s[%d]", path, i), text, faults)
		}
	default:
		faults.Add(path, apierr.Type, "must be a string, a number, true or false, null, or a list of strings")
	}
}

func checkAnswerText(path, text string, faults *apierr.Fields) {
	if strings.ContainsRune(text, 0) {
		faults.Add(path, apierr.Format, "must not contain the character U+0000; remove it")
	}
}

// checkChecklist normalizes the done entries of checklists and removes duplicates. Entries that were done before are kept as
// they are; of new ones, the stage must be one of the type, and its checklist must be that long.
func checkChecklist(sent, before []string, all []Stage) ([]string, error) {
	var faults apierr.Fields
	done := []string{}
	for i, key := range sent {
		key = strings.ToLower(key)
		if !slices.Contains(before, key) && !inChecklist(key, all) {
			faults.Add(fmt.Sprintf("checklistDone[%d]", i), apierr.Enum, "must be <stageId>:<index> with a stage of the deal's type and an index in its checklist, from 0")
			continue
		}
		if !slices.Contains(done, key) {
			done = append(done, key)
		}
	}
	return done, faults.Err()
}

func inChecklist(key string, all []Stage) bool {
	stage, index, ok := strings.Cut(key, ":")
	id, err := uuid.Parse(stage)
	if !ok || err != nil || id.String() != stage {
		return false
	}
	n, err := strconv.Atoi(index)
	if err != nil || strconv.Itoa(n) != index {
		return false
	}
	return slices.ContainsFunc(all, func(s Stage) bool { return s.ID == id && n >= 0 && n < len(s.Checklist) })
}
