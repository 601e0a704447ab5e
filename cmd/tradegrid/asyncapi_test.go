package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
)

// The document that a node serves without a token is the committed one, and the index leads to it.
func TestNodesServeTheDescriptionOfEvents(t *testing.T) {
	t.Parallel()
	all := newDomains(nil, domainConfig{})
	n := &node{domains: all, api: all.newAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})})}
	got := n.ask(t, "", "GET", "/asyncapi.json", "")
	require.Equal(t, 200, got.status, got.raw)
	files, err := generated()
	require.NoError(t, err)
	require.Equal(t, string(files["openapi/asyncapi.json"]), got.raw)
	var doc struct {
		Components struct{ Messages map[string]any }
	}
	require.NoError(t, json.Unmarshal([]byte(got.raw), &doc))
	require.Len(t, doc.Components.Messages, len(all.events.All()))
	require.Equal(t, httpapi.BasePath+"/asyncapi.json", n.ask(t, "", "GET", "", "").body["links"].(map[string]any)["events"])
}
