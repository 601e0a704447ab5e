package httpapi

import (
	"context"
	"net/netip"

	"github.com/gofiber/fiber/v2"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi/transport"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Insider is a caller whom another part of this process has let in, such as a person who is signed in to the console. All checks
// but that of a token hold for it: scopes, components, limits of lists, validation.
type Insider struct {
	Principal *access.Principal // in the admin API, one without a company is an operator, and others reach their company only
	Address   netip.Addr
	Record    func(tx *db.Tx, c AdminChange) error // keeps a record of each change in its transaction; nil = none is kept
}

// Do answers a request of an insider as the API answers one with a token. d names no caller; its path is below the root of the API.
func (a *API) Do(ctx context.Context, by Insider, d transport.Direct) *transport.Answer {
	d.Caller, d.Address = &by, by.Address
	return a.server.Do(ctx, d)
}

// DoWithToken answers a request of this process that carries a token in its header Authorization. It passes by the network alone: the
// token, its allowed addresses, scopes, limits and the request log apply as to any client. d names no caller.
func (a *API) DoWithToken(ctx context.Context, d transport.Direct) *transport.Answer {
	d.Caller = nil
	return a.server.Do(ctx, d)
}

// insiderOf returns who makes a direct request; nil for requests over connections.
func insiderOf(fc *fiber.Ctx) *Insider {
	by, _ := transport.CallerOf(fc).(*Insider)
	return by
}
