package httpapi

import (
	"cmp"
	"context"
	"net/netip"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// SignedURL decides whether a request without a token may have what its URL names, such as by a signature in it. param returns a parameter
// of the path or the query. It returns the company, false if the request has no signature, or the fault of a wrong one.
type SignedURL func(ctx context.Context, param func(in, name string) string) (company tenant.ID, signed bool, err error)

// signedInFlight is how many requests of a company may be in flight when one without a token is to begin, so that they leave room for
// those with a token.
const signedInFlight = 32

// admitSignedURL lets a request in without a token, if its URL is signed. Wrong signatures count as wrong tokens do, by address.
func (r *request) admitSignedURL(ctx context.Context, ip netip.Addr) (signed bool, err error) {
	company, signed, err := r.op.SignedURL(ctx, r.Param)
	if err != nil {
		return true, cmp.Or(r.countFailure(ip), err)
	}
	if !signed {
		return false, nil
	}
	r.signedURL = true
	r.call.Principal = &access.Principal{Company: company, Rate: access.Rate{Unlimited: true, InFlight: signedInFlight}}
	trace.SpanFromContext(ctx).SetAttributes(attribute.String("app.company.id", company.String()))
	return true, nil
}
