package lines

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/services/console/resources"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// Customer has the fields of a document about somebody without a record, and those of a client.
var Customer = map[string]string{"customerName": "displayName", "customerPhone": "phone", "customerEmail": "email"}

// MakeClient makes a record of somebody whose name, phone and e-mail address were typed into a form, which then has none of them. The key
// of the form makes it once, however often the button is pressed.
func MakeClient(ctx context.Context, q *web.Request, form url.Values) (id string, err error) {
	body := map[string]any{"kind": "individual"}
	for field, of := range Customer {
		if text := strings.TrimSpace(form.Get(field)); text != "" {
			body[of] = text
		}
	}
	made, err := web.Call[web.JSON](ctx, q, "createClient", web.Input{Key: KeyFor(form, body), Body: body})
	if err != nil {
		return "", renamed(err)
	}
	var r resources.Record
	if err := resources.Decode(made, &r); err != nil {
		return "", err
	}
	for field := range Customer {
		form.Del(field)
	}
	return r.Text("id"), nil
}

// KeyFor is the key of what is made of a part of a form, before the form itself is sent.
func KeyFor(form url.Values, body map[string]any) string {
	key, err := uuid.Parse(form.Get("key"))
	raw, failed := json.Marshal(body)
	if err != nil || failed != nil {
		return uuid.NewString()
	}
	return uuid.NewSHA1(key, raw).String()
}

// renamed is an error about a client with the names of the fields of a document.
func renamed(err error) error {
	known, ok := apierr.As(err)
	if !ok {
		return err
	}
	of := *known
	of.Fields = slices.Clone(known.Fields)
	for i := range of.Fields {
		for field, name := range Customer {
			if of.Fields[i].Field == name {
				of.Fields[i].Field = field
			}
		}
	}
	return &of
}
