package resources

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnshippedOrders(t *testing.T) {
	t.Parallel()
	of := func(kind string, shipped string) Record {
		line := map[string]any{"kind": kind, "qty": json.Number("2"), "shippedQty": json.Number(shipped)}
		return Record{"status": "new", "lines": []any{line}}
	}
	require.True(t, unshipped(of("product", "0.5")))
	require.False(t, unshipped(of("product", "2")))
	require.False(t, unshipped(of("service", "0")))
	cancelled := of("product", "0.5")
	cancelled["status"] = "cancelled"
	require.False(t, unshipped(cancelled))
}

// What the find field needs is there for each list that it looks through.
func TestFoundResourcesHavePages(t *testing.T) {
	t.Parallel()
	for _, r := range Found() {
		require.NotEmpty(t, r.Find.Title, r.Name)
		require.NotEmpty(t, r.Find.Page, r.Name)
		require.True(t, len(r.Find.By) > 0 || r.Find.Names, r.Name)
	}
}

// opposites are names of commands that take each other back.
var opposites = [][2]string{
	{"archive", "restore"},
	{"deactivate", "activate"},
	{"disable", "enable"},
	{"hide", "show"},
	{"pause", "resume"},
	{"close", "reopen"},
	{"block", "unblock"},
	{"hide_variant", "show_variant"},
}

// A command that another command of the record takes back names it, and so does one that sets a field, which takes itself back.
func TestCommandsNameWhatTakesThemBack(t *testing.T) {
	t.Parallel()
	undone := 0
	for _, res := range All() {
		undo := map[string]string{}
		for _, c := range res.Commands {
			undo[c.Name] = c.Undo
			if c.Undo != "" {
				undone++
			}
			require.Equal(t, c.Sets != "", c.Undo == c.Name, "%s %s: what it sets and what takes it back", res.Name, c.Name)
			if c.ForEach != "" || c.Name == "assign" || c.Name == "stage" {
				require.Equal(t, c.Name, c.Undo, "%s %s sets a field, and can set it back", res.Name, c.Name)
			}
		}
		for name, of := range undo {
			if of != "" {
				require.Contains(t, undo, of, "%s %s", res.Name, name)
			}
		}
		for _, pair := range opposites {
			one, other := pair[0], pair[1]
			_, hasOne := undo[one]
			if _, hasOther := undo[other]; hasOne && hasOther {
				require.Equal(t, [2]string{other, one}, [2]string{undo[one], undo[other]}, "%s: %s and %s take each other back", res.Name, one, other)
			}
		}
	}
	require.Equal(t, 6, undone)
}
