package roles

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/tradegrid/tradegrid/pkg/kit/term"
	"github.com/tradegrid/tradegrid/services/delivery/egress"
)

// EgressCmd is about requests to receivers.
type EgressCmd struct {
	Test EgressTestCmd `cmd:"" help:"Show what the guard decides about a URL, and why. Nothing is sent."`
}

// EgressTestCmd asks the guard.
type EgressTestCmd struct {
	URL           string `arg:"" name:"url" help:"URL of a receiver."`
	JSON          bool   `name:"json" help:"Write JSON instead of a table."`
	AllowInsecure bool   `help:"Decide as a dispatcher with --allow-insecure."`
}

// EgressVerdict is what the guard decides, as JSON.
type EgressVerdict struct {
	Allowed   bool             `json:"allowed"`
	Fault     string           `json:"fault,omitempty"` // of the URL or its name
	Addresses []egress.Verdict `json:"addresses"`
}

var errRefusedURL = errors.New("the dispatcher would send nothing to this URL")

// Run shows what the sender's guard decides about a URL, by the functions that the sender asks. It sends nothing.
func (c *EgressTestCmd) Run(ctx context.Context, out io.Writer) error {
	v := EgressVerdict{Addresses: []egress.Verdict{}}
	addresses, err := egress.Decide(ctx, net.DefaultResolver, c.URL, c.AllowInsecure)
	if err != nil {
		v.Fault = err.Error()
	}
	rows := [][]any{}
	for _, a := range addresses {
		v.Addresses, v.Allowed = append(v.Addresses, a), v.Allowed || a.Refusal == ""
		decision := "allowed"
		if a.Refusal != "" {
			decision = "refused: " + a.Refusal
		}
		rows = append(rows, []any{a.Address, decision})
	}
	if c.JSON {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		err = enc.Encode(v)
	} else {
		if v.Fault != "" {
			fmt.Fprintln(out, term.Printable("refused: "+v.Fault))
		}
		err = term.Table(out, "ADDRESS DECISION", rows)
	}
	if err == nil && !v.Allowed {
		return errRefusedURL
	}
	return err
}
