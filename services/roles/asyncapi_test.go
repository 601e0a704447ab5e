package roles_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
	"github.com/tradegrid/tradegrid/services/roles"
	"github.com/tradegrid/tradegrid/services/roles/rolestest"
)

// The document that a node serves without a token is the committed one, and the index leads to it.
func TestNodesServeTheDescriptionOfEvents(t *testing.T) {
	t.Parallel()
	all := roles.NewDomains(nil, roles.DomainConfig{})
	n := &rolestest.Node{Domains: all, API: all.NewAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})})}
	got := n.Ask(t, "", "GET", "/asyncapi.json", "")
	require.Equal(t, 200, got.Status, got.Raw)
	files, err := roles.Generated()
	require.NoError(t, err)
	require.Equal(t, string(files["openapi/asyncapi.json"]), got.Raw)
	var doc struct {
		Components struct{ Messages map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(got.Raw), &doc))
	require.Len(t, doc.Components.Messages, len(all.Events.All()))
	require.Equal(t, httpapi.BasePath+"/asyncapi.json", n.Ask(t, "", "GET", "", "").Body["links"].(map[string]any)["events"])
}

// A filter may name each field that an event has.
func TestEventsHaveNoOtherFields(t *testing.T) {
	t.Parallel()
	registry := roles.NewDomains(nil, roles.DomainConfig{}).Events
	for _, typ := range registry.All() {
		raw, err := registry.Example(typ)
		require.NoError(t, err)
		var envelope struct{ Data map[string]any }
		require.NoError(t, json.Unmarshal(raw, &envelope))
		require.Subset(t, typ.Fields(), slices.Collect(maps.Keys(envelope.Data)), typ.Name)
	}
}
