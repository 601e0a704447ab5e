package idempotency

import (
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// Headers of the key: the documented one, and the name that a draft of the IETF gives it.
const (
	Header = "X-Idempotency-Key"
	alias  = "Idempotency-Key"
)

// HeaderReplayed tells that a response is a stored one.
const HeaderReplayed = "X-Idempotent-Replayed"

// ParseKey returns the key of a request, or the zero UUID if it has none. header returns a header and whether it was sent: an empty
// key is a mistake, not a request without one.
func ParseKey(header func(name string) (value string, sent bool)) (uuid.UUID, error) {
	primary, hasPrimary := header(Header)
	other, hasAlias := header(alias)
	switch {
	case !hasPrimary && !hasAlias:
		return uuid.Nil, nil
	case !hasPrimary:
		return parseKey(alias, other)
	}
	key, err := parseKey(Header, primary)
	if err != nil || !hasAlias {
		return key, err
	}
	if same, err := parseKey(alias, other); err != nil || same != key {
		return uuid.Nil, apierr.InvalidField(alias, apierr.Conflict, "must equal %s; send only one of them", Header)
	}
	return key, nil
}

func parseKey(header, text string) (uuid.UUID, error) {
	text = strings.Trim(text, `"`)
	id, err := uuid.Parse(text)
	if err != nil || len(text) != 36 {
		return uuid.Nil, apierr.InvalidField(header, apierr.Format, "must be a UUID; use a new one for each change")
	}
	return id, nil
}
