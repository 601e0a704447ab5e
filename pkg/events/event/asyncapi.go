package event

import (
	"encoding/json"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
)

// components is where the AsyncAPI document keeps the types that events share.
const components = "#/components/schemas/"

// header describes a header of a webhook.
type header struct{ name, format, description string }

// headers are those that every delivery has; see docs/webhooks.md.
func headers() []header {
	return []header{
		{"User-Agent", "", "svc-webhooks/1.0"},
		{"X-Svc-Event", "", "name of the event"},
		{"X-Svc-Event-Id", "uuid", "eventId of the body"},
		{"X-Svc-Delivery-Id", "uuid", "id of the delivery, the same for all of its attempts"},
		{"X-Svc-Webhook-Id", "uuid", "id of the subscription"},
		{"X-Svc-Attempt", "", "number of the attempt, from 1"},
		{"X-Svc-Timestamp", "", "time of the attempt, in seconds since 1970"},
		{"X-Svc-Signature", "", "sha256=<hex>: HMAC-SHA256 of the raw body with the secret of the subscription"},
		{"webhook-id", "uuid", "X-Svc-Delivery-Id, under the name of Standard Webhooks"},
		{"webhook-timestamp", "", "X-Svc-Timestamp, under the name of Standard Webhooks"},
		{"webhook-signature", "", "v1,<base64>: HMAC-SHA256 of webhook-id.webhook-timestamp.body"},
	}
}

// AsyncAPI returns the AsyncAPI 3.0 document of all events, as receivers of webhooks get them: one channel, one message per
// event, with its schema and an example.
func (r *Registry) AsyncAPI() ([]byte, error) {
	registry := jsontype.NewRegistry(components)
	messages, refs, all := map[string]any{}, map[string]any{}, make([]any, 0, len(r.types))
	for _, t := range r.types {
		example, err := r.Example(t)
		if err != nil {
			return nil, err
		}
		messages[t.Name] = map[string]any{
			"name": t.Name, "title": t.Name, "summary": t.Description, "contentType": "application/json",
			"tags":     []any{map[string]any{"name": t.Component}},
			"headers":  map[string]any{"$ref": components + "WebhookHeaders"},
			"payload":  t.envelope(registry),
			"examples": []any{map[string]any{"name": t.Name, "payload": json.RawMessage(example)}},
		}
		refs[t.Name] = map[string]any{"$ref": "#/components/messages/" + t.Name}
		all = append(all, map[string]any{"$ref": "#/channels/webhook/messages/" + t.Name})
	}
	jsontype.AllowMore(registry.Map())
	schemas := map[string]any{"WebhookHeaders": headerSchema()}
	for name, s := range registry.Map() {
		schemas[name] = s
	}
	return jsontype.Description(map[string]any{
		"asyncapi": "3.0.0",
		"info": map[string]any{
			"title": "Tradegrid webhooks", "version": "1.0.0",
			"description": "Events that a subscription delivers to its receiver, as signed POST requests. Answer 2xx within ten seconds; anything else is repeated. " +
				"Events can arrive more than once: skip an X-Svc-Delivery-Id that you have processed, and data with a version that is not newer than yours. Ignore fields that you do not know.",
		},
		"defaultContentType": "application/json",
		"channels": map[string]any{"webhook": map[string]any{
			"title": "The receiver URL of a subscription", "address": nil, "messages": refs,
		}},
		"operations": map[string]any{"deliver": map[string]any{
			"action": "send", "title": "Deliver an event", "summary": "POST to the receiver URL",
			"channel": map[string]any{"$ref": "#/channels/webhook"}, "messages": all,
			"bindings": map[string]any{"http": map[string]any{"method": "POST", "bindingVersion": "0.3.0"}},
		}},
		"components": map[string]any{"messages": messages, "schemas": schemas},
	})
}

func headerSchema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, h := range headers() {
		p := map[string]any{"type": "string", "description": h.description}
		if h.format != "" {
			p["format"] = h.format
		}
		properties[h.name] = p
		required = append(required, h.name)
	}
	properties["X-Svc-Signature-Previous"] = map[string]any{
		"type": "string", "description": "X-Svc-Signature with the previous secret, while a rotation overlaps",
	}
	return map[string]any{"type": "object", "required": required, "properties": properties, "description": "Headers of a delivery. Verify a signature over the raw body, in constant time, before you parse it."}
}
