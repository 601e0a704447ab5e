package clients_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A batch adds and removes tags and leaves the others as they are; an item that is refused changes nothing, and no other item.
func TestManyClientsAreTaggedAndArchived(t *testing.T) {
	t.Parallel()
	f := setup(t)
	made := func(tags string) string {
		return f.Do(t, "POST", "/clients", fmt.Sprintf(`{"kind":"individual","displayName":"Mira Voss","tags":[%s]}`, tags)).OK(201)["id"].(string)
	}
	regular, bare, gone := made(`"regular","prospect"`), made(""), made(`"old"`)
	var many []string
	for i := range 50 {
		many = append(many, fmt.Sprintf("%q", fmt.Sprint("tag ", i)))
	}
	full := made(strings.Join(many, ","))
	f.Do(t, "POST", "/clients/"+gone+"/anonymize", nil).OK(200)
	before, _ := f.events(t)
	got := f.Do(t, "POST", "/clients/changes/batch", fmt.Sprintf(`{"items":[
		{"body":{"clientId":%[1]q,"addTags":["club","regular"],"removeTags":["prospect","nobody has it"]}},
		{"body":{"clientId":%[2]q,"addTags":["club","club"],"status":"archived"}},
		{"body":{"clientId":%[1]q,"addTags":["regular"]}},
		{"body":{"clientId":%[3]q,"addTags":["club"],"status":"archived"}},
		{"body":{"clientId":%[4]q,"addTags":["club"],"status":"archived"}},
		{"body":{"clientId":%[5]q,"status":"archived"}},
		{"body":{"clientId":%[1]q}},
		{"body":{"clientId":%[1]q,"addTags":["a"],"removeTags":["b","a"]}},
		{"body":{"clientId":%[1]q,"addTags":[""]}},
		{"body":{"clientId":%[1]q,"status":"deleted"}}]}`, regular, bare, gone, full, uuid.NewString())).OK(200)
	var statuses, fields []any
	for _, r := range got["results"].([]any) {
		r := r.(map[string]any)
		statuses = append(statuses, r["status"])
		if errors, _ := r["errors"].([]any); len(errors) > 0 {
			fields = append(fields, errors[0].(map[string]any)["field"])
		}
	}
	require.Equal(t, []any{200.0, 200.0, 200.0, 409.0, 400.0, 404.0, 400.0, 400.0, 400.0, 400.0}, statuses)
	require.Equal(t, []any{"body.addTags", "body.addTags", "body.removeTags[1]", "body.addTags[0]", "body.status"}, fields)
	read := func(id string) (tags, status any) {
		c := f.Do(t, "GET", "/clients/"+id, nil).OK(200)
		return c["tags"], c["status"]
	}
	tags, status := read(regular)
	require.Equal(t, []any{[]any{"regular", "club"}, "active"}, []any{tags, status})
	tags, status = read(bare)
	require.Equal(t, []any{[]any{"club"}, "archived"}, []any{tags, status})
	tags, status = read(full)
	require.Len(t, tags, 50)
	require.Equal(t, "active", status, "what cannot be tagged is not archived either")

	f.Do(t, "POST", "/clients/changes/batch", fmt.Sprintf(`{"items":[{"body":{"clientId":%q,"removeTags":["club"],"status":"active"}}]}`, bare)).OK(200)
	tags, status = read(bare)
	require.Equal(t, []any{[]any{}, "active"}, []any{tags, status})
	names, _ := f.events(t)
	require.ElementsMatch(t, []string{"client.updated", "client.updated", "client.archived", "client.updated", "client.restored"}, names[len(before):])
}
