package httpapi

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// errorDocs are the codes that any operation may return; domains declare their own in [Config].
var errorDocs = []apierr.Doc{
	{Status: 400, Code: "VALIDATION_ERROR", Advice: "The body, a parameter or a header is not valid. errors lists up to 100 fields with the rule that each breaks; meta.unlistedErrors is at least 1 if there are more. Correct them and retry."},
	{Status: 401, Code: "AUTH_API_TOKEN_INVALID", Advice: "The token is missing, unknown or revoked, or the client's address is not on the token's allow-list. Send Authorization: Bearer with a valid token."},
	{Status: 401, Code: "AUTH_API_TOKEN_EXPIRED", Advice: "The token has expired. Request a new one from the company."},
	{Status: 401, Code: "COMPANY_ARCHIVED", Advice: "The company is archived; its data is no longer accessible."},
	{Status: 403, Code: "AUTH_API_SCOPE_INSUFFICIENT", Advice: "The token lacks the scope in meta.scopes. Use a token that has it."},
	{Status: 403, Code: "MODULE_ACCESS_INACTIVE", Advice: "The component in meta.alias is not enabled for the company. Enable it."},
	{Status: 403, Code: "PLAN_API_DISABLED", Advice: "The company's plan does not include API access. Upgrade the plan."},
	{Status: 404, Code: "ROUTE_NOT_FOUND", Advice: "The path does not exist. Check it against the API description."},
	{Status: 404, Code: "EXTERNAL_ID_NOT_FOUND", Advice: "An item of a batch names a record by an external id that no record has. Create it, or use upsert."},
	{Status: 405, Code: "METHOD_NOT_ALLOWED", Advice: "The path does not support this method. The Allow header lists the methods that it supports."},
	{Status: 409, Code: "IDEMPOTENCY_IN_FLIGHT", Advice: "The first request with this key is still in progress. Retry after about a second to get its response."},
	{Status: 408, Code: "REQUEST_INCOMPLETE", Advice: "The request did not arrive completely in time. Retry it with the same idempotency key."},
	{Status: 412, Code: "PRECONDITION_FAILED", Advice: "The record has changed since it was read; meta.currentVersion is its current version. Read it again and retry the change."},
	{Status: 413, Code: "PAYLOAD_TOO_LARGE", Advice: "The body exceeds the size limit of the operation. Split the request."},
	{Status: 415, Code: "UNSUPPORTED_MEDIA_TYPE", Advice: "Send the body as Content-Type: application/json."},
	{Status: 422, Code: "IDEMPOTENCY_KEY_REUSED", Advice: "The key was used with another request in the last 7 days. Use a new key for each change."},
	{Status: 431, Code: "HEADERS_TOO_LARGE", Advice: "The request line and headers together exceed 8 KiB. Shorten the query, or send fewer headers."},
	{Status: 429, Code: "RATE_LIMIT_EXCEEDED", Advice: "The token's rate limit is exceeded, the company has too many requests in flight, or the address has too many authentication failures or open connections. Retry after Retry-After seconds."},
	{Status: 429, Code: "IDEMPOTENCY_QUOTA_EXCEEDED", Advice: "The stored answers of the company have reached their quota. Repeats of known keys are answered; new keys are accepted again when older answers have expired. Ask the operator for a larger quota."},
	{Status: 500, Code: "INTERNAL_ERROR", Advice: "Internal error. Retry later with the same idempotency key, and quote the request ID to support if it persists."},
	{Status: 503, Code: "SERVICE_UNAVAILABLE", Advice: "The service is temporarily unavailable; meta.reason says why. Nothing was stored. Retry after Retry-After seconds."},
	{Status: 503, Code: list.TooExpensive, Advice: "The list would take more than a second with these filters and this sort. Narrow the filters, use another sort, or read by cursor without total. Retrying soon does not help."},
	{Status: 504, Code: "REQUEST_TIMEOUT", Advice: "The request timed out. Retry it with the same idempotency key."},
}

// errorDocs returns the rows of the page. Every code has one, so that every docUrl resolves.
func (a *API) errorDocs() []apierr.Doc {
	docs := slices.Concat(errorDocs, a.variant.errors, a.cfg.Errors)
	for _, entity := range a.cfg.Entities {
		docs = append(docs, apierr.Doc{Status: 404, Code: entity + "_NOT_FOUND", Advice: "The company has no such record. If a field of the body refers to it, meta.field and meta.id identify the reference."})
	}
	slices.SortStableFunc(docs, func(x, y apierr.Doc) int { return cmp.Or(cmp.Compare(x.Status, y.Status), cmp.Compare(x.Code, y.Code)) })
	return slices.CompactFunc(docs, func(x, y apierr.Doc) bool { return x.Code == y.Code })
}

// pages are the paths about the API that are not operations.
var pages = []string{"", "/", "/openapi.json", "/asyncapi.json", "/changelog", "/health"} //nolint:gochecknoglobals // a constant list

// isPage reports whether a path below the root is that of a page about the API.
func isPage(path string) bool {
	return slices.Contains(pages, path) || strings.HasPrefix(path, "/docs")
}
