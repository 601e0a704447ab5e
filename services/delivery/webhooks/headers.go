package webhooks

import (
	"maps"
	"net/textproto"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/services/delivery/webhook"
)

// Limits of extra headers.
const (
	maxHeaders      = 10
	maxHeaderName   = 64
	maxHeaderValue  = 512
	maxHeadersBytes = 4096
)

// Headers are extra headers of the requests to a receiver, by name. Their values are secrets.
type Headers map[string]string

// TransformSchema implements [huma.SchemaTransformer].
func (Headers) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	least, name, value, most := 1, maxHeaderName, maxHeaderValue, maxHeaders
	s.MaxProperties = &most
	s.AdditionalProperties = &huma.Schema{
		Type: huma.TypeString, MinLength: &least, MaxLength: &value,
		Pattern: `^[!-~]([ -~]*[!-~])?$`, PatternDescription: "visible ASCII characters and spaces between them",
	}
	return jsontype.KeysOf(s, &huma.Schema{
		Type: huma.TypeString, MinLength: &least, MaxLength: &name,
		// Servers and frameworks read other characters of HTTP as a hyphen, or drop the header: X_Svc_Signature may pass for X-Svc-Signature.
		Pattern: "^[0-9A-Za-z-]+$", PatternDescription: "the name of a header, of at most 64 letters, digits and hyphens, such as X-Api-Key",
	})
}

// checkHeaders checks what the schema cannot say and brings the names into their normal form.
func checkHeaders(faults *apierr.Fields, headers Headers) Headers {
	normal, size := make(Headers, len(headers)), 0
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		at, canonical, value := "headers."+name, textproto.CanonicalMIMEHeaderKey(name), headers[name]
		switch _, twice := normal[canonical]; {
		case webhook.ReservedHeader(canonical):
			faults.Add(at, apierr.Enum, "HTTP or the platform sets this header; docs/webhooks.md#headers lists those that a subscription cannot set")
		case twice:
			faults.Add(at, apierr.Conflict, "the header is there twice; upper and lower case are the same")
		case value == webhook.MaskedHeader:
			faults.Add(at, apierr.Format, "%s stands for a value that is not shown; send the value, or leave out headers to keep all of them", value)
		}
		normal[canonical] = value
		size += len(name) + len(value)
	}
	if size > maxHeadersBytes {
		faults.Add("headers", apierr.Max, "must have at most %d bytes of names and values together, has %d", maxHeadersBytes, size)
	}
	return normal
}

// setHeaders replaces the extra headers of a subscription. Equal ones stay as they are.
func (s *Service) setHeaders(sub *Subscription, headers Headers) error {
	old, err := sub.StoredHeaders.Open(s.cfg.Keys, sub.CompanyID, sub.ID)
	if err == nil && maps.Equal(old, headers) {
		return nil
	}
	sub.StoredHeaders, err = webhook.SealHeaders(s.cfg.Keys, sub.CompanyID, sub.ID, headers)
	return err
}
