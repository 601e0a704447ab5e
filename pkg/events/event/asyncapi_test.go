package event_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/events/event"
)

func TestAsyncAPIDescribesEveryEvent(t *testing.T) {
	t.Parallel()
	raw, err := event.NewRegistry([]event.Type{created, updated}).AsyncAPI()
	require.NoError(t, err)
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("asyncapi.json", parsed))

	var doc struct {
		AsyncAPI string
		Channels map[string]struct {
			Messages map[string]struct {
				Ref string `json:"$ref"`
			}
		}
		Operations map[string]struct{ Messages []any }
		Components struct {
			Messages map[string]struct {
				Examples []struct{ Payload map[string]any }
			}
		}
	}
	require.NoError(t, json.Unmarshal(raw, &doc))
	require.Equal(t, "3.0.0", doc.AsyncAPI)
	require.Len(t, doc.Operations["deliver"].Messages, 2)
	for _, name := range []string{"thing.created", "thing.updated"} {
		require.Equal(t, "#/components/messages/"+name, doc.Channels["webhook"].Messages[name].Ref)
		payload, err := c.Compile("asyncapi.json#/components/messages/" + name + "/payload")
		require.NoError(t, err)
		example := doc.Components.Messages[name].Examples[0].Payload
		require.Equal(t, name, example["event"])
		require.NoError(t, payload.Validate(example), name)
		example["data"].(map[string]any)["id"] = 7
		require.Error(t, payload.Validate(example), "the schema must say what data is")
		_, err = c.Compile("asyncapi.json#/components/messages/" + name + "/headers")
		require.NoError(t, err)
	}
}
