package httpapi

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/fault"
)

// errorDocs are the codes that any operation may return; domains declare their own in [Config].
var errorDocs = []fault.Doc{
	{Status: 400, Code: "VALIDATION_ERROR", Advice: "The body, a parameter or a header is not valid. errors lists up to 100 fields with the rule that each breaks; meta.unlistedErrors counts the rest. Correct them and retry."},
	{Status: 401, Code: "AUTH_API_TOKEN_INVALID", Advice: "The token is missing, unknown or revoked, or the client's address is not on the token's allow-list. Send Authorization: Bearer with a valid token."},
	{Status: 401, Code: "AUTH_API_TOKEN_EXPIRED", Advice: "The token has expired. Request a new one from the company."},
	{Status: 401, Code: "COMPANY_ARCHIVED", Advice: "The company is archived; its data is no longer accessible."},
	{Status: 403, Code: "AUTH_API_SCOPE_INSUFFICIENT", Advice: "The token lacks the scope in meta.scopes. Use a token that has it."},
	{Status: 403, Code: "MODULE_ACCESS_INACTIVE", Advice: "The component in meta.alias is not enabled for the company. Enable it."},
	{Status: 403, Code: "PLAN_API_DISABLED", Advice: "The company's plan does not include API access. Upgrade the plan."},
	{Status: 404, Code: "ROUTE_NOT_FOUND", Advice: "The path does not exist. Check it against the API description."},
	{Status: 405, Code: "METHOD_NOT_ALLOWED", Advice: "The path does not support this method. The Allow header lists the methods that it supports."},
	{Status: 409, Code: "IDEMPOTENCY_IN_FLIGHT", Advice: "The first request with this key is still in progress. Retry after about a second to get its response."},
	{Status: 409, Code: "SKU_TAKEN", Advice: "Another product, service or variant, possibly a hidden one, has this SKU; meta identifies it. Choose another SKU."},
	{Status: 409, Code: "BARCODE_TAKEN", Advice: "Another active product or variant has this barcode. Choose another barcode."},
	{Status: 409, Code: "CATEGORY_IN_USE", Advice: "The category has child categories or active products or services. Move them first, or set reassignTo."},
	{Status: 409, Code: "CATEGORY_CYCLE", Advice: "A category cannot be moved below itself. Choose another parent."},
	{Status: 409, Code: "CATEGORY_DEPTH_EXCEEDED", Advice: "Categories can be nested at most ten levels deep. Choose a parent closer to the root."},
	{Status: 409, Code: "PRODUCT_VARIANT_REQUIRED", Advice: "The product has variants. Set variantId."},
	{Status: 409, Code: "CATALOG_ITEM_HIDDEN", Advice: "A hidden product or service cannot be added to an order. Make it active, or choose another."},
	{Status: 409, Code: "CLIENT_ARCHIVED", Advice: "An archived client cannot be used in a new record. Restore it first."},
	{Status: 409, Code: "CREDIT_LIMIT_EXCEEDED", Advice: "This order would take the client's open orders over the credit limit; meta has the amounts. Raise the limit, or reduce the order."},
	{Status: 409, Code: "ORDER_STATUS_TRANSITION_INVALID", Advice: "The order cannot change to this status from its current one; meta.allowed lists the allowed statuses."},
	{Status: 409, Code: "ORDER_ITEMS_LOCKED", Advice: "Items can be replaced only while the order is new or confirmed. Omit items."},
	{Status: 409, Code: "ORDER_FINALIZED", Advice: "Only note, assignedToId and prepaidAmount of a completed or cancelled order can be changed. Omit the other fields."},
	{Status: 409, Code: "ORDER_OVERPAID", Advice: "prepaidAmount exceeds the amount payable; meta has both amounts."},
	{Status: 409, Code: "ORDER_EXTERNAL_ID_TAKEN", Advice: "Another order from this source has the same externalId; meta.orderId identifies it."},
	{Status: 409, Code: "ORDER_HAS_SHIPMENTS", Advice: "Part of the order has been shipped. Cancel its shipment notes before cancelling the order."},
	{Status: 409, Code: "ORDER_DELIVERY_TRANSITION_INVALID", Advice: "The delivery cannot change to this status from its current one; a delivery method can be cleared only before anything is shipped."},
	{Status: 409, Code: "CLIENT_BALANCE_OUT_OF_RANGE", Advice: "The client's balance would exceed the largest amount that can be stored. Check the amounts of the order."},
	{Status: 409, Code: "UNIT_CODE_TAKEN", Advice: "Another unit has this code. Choose another code."},
	{Status: 409, Code: "BRANCH_WAREHOUSE_EXISTS", Advice: "The branch already has a warehouse; a branch can have only one."},
	{Status: 409, Code: "STOCK_ACCOUNTING_DISABLED", Advice: "Stock tracking is disabled for the product. Set hasStock to true first."},
	{Status: 409, Code: "STOCK_CHANGED", Advice: "The stock has changed since it was read. Read it again and retry."},
	{Status: 409, Code: "STOCK_INSUFFICIENT", Advice: "The company does not allow negative stock; meta.lines lists the lines that exceed it. Reduce the quantities."},
	{Status: 409, Code: "WEBHOOK_SUBSCRIPTION_EXISTS", Advice: "A subscription with this url and these events already exists."},
	{Status: 409, Code: "WEBHOOK_LIMIT_REACHED", Advice: "A company can have at most 20 subscriptions. Delete one first."},
	{Status: 408, Code: "REQUEST_INCOMPLETE", Advice: "The request did not arrive completely in time. Retry it with the same idempotency key."},
	{Status: 410, Code: "EVENTS_CURSOR_EXPIRED", Advice: "The cursor is older than the 30 days of events that are kept. Read the resources again, then start without a cursor."},
	{Status: 412, Code: "PRECONDITION_FAILED", Advice: "The record has changed since it was read; meta.currentVersion is its current version. Read it again and retry the change."},
	{Status: 413, Code: "PAYLOAD_TOO_LARGE", Advice: "The body exceeds the size limit of the operation. Split the request."},
	{Status: 415, Code: "UNSUPPORTED_MEDIA_TYPE", Advice: "Send the body as Content-Type: application/json."},
	{Status: 422, Code: "IDEMPOTENCY_KEY_REUSED", Advice: "The key was used with another request in the last 7 days. Use a new key for each change."},
	{Status: 431, Code: "HEADERS_TOO_LARGE", Advice: "The request line and headers together exceed 8 KiB. Shorten the query, or send fewer headers."},
	{Status: 429, Code: "RATE_LIMIT_EXCEEDED", Advice: "The token's rate limit is exceeded, the company has too many requests in flight, or the address has too many authentication failures or open connections. Retry after Retry-After seconds."},
	{Status: 500, Code: "INTERNAL_ERROR", Advice: "Internal error. Retry later with the same idempotency key, and quote the request ID to support if it persists."},
	{Status: 503, Code: "SERVICE_UNAVAILABLE", Advice: "The service is temporarily unavailable; meta.reason says why. Nothing was stored. Retry after Retry-After seconds."},
	{Status: 504, Code: "REQUEST_TIMEOUT", Advice: "The request timed out. Retry it with the same idempotency key."},
}

// errorEntities are the records that an <ENTITY>_NOT_FOUND can be about.
var errorEntities = []string{
	"ADDRESS", "ASSET", "BRANCH", "CATEGORY", "CLIENT", "CLIENT_GROUP", "DEAL", "EVENT", "ORDER", "PRICE_LIST", "PRODUCT", "PRODUCT_VARIANT",
	"SERVICE", "SUPPLIER", "UNIT", "USER", "WAREHOUSE", "WEBHOOK_DELIVERY", "WEBHOOK_SUBSCRIPTION",
}

// errorDocs returns the rows of the page. Every code has one, so that every docUrl resolves.
func (a *API) errorDocs() []fault.Doc {
	docs := slices.Concat(errorDocs, a.cfg.Errors)
	for _, entity := range slices.Concat(errorEntities, a.cfg.Entities) {
		docs = append(docs, fault.Doc{Status: 404, Code: entity + "_NOT_FOUND", Advice: "The company has no such record. If a field of the body refers to it, meta.field and meta.id identify the reference."})
	}
	slices.SortStableFunc(docs, func(x, y fault.Doc) int { return cmp.Or(cmp.Compare(x.Status, y.Status), cmp.Compare(x.Code, y.Code)) })
	return slices.CompactFunc(docs, func(x, y fault.Doc) bool { return x.Code == y.Code })
}

var fiberParam = regexp.MustCompile(`:([A-Za-z]+)`)

// describedPath turns a Fiber route into the path of the API description;
// the pages about the API are not part of it.
func describedPath(route string) (string, bool) {
	path, ok := strings.CutPrefix(route, BasePath)
	if !ok || path == "" || path == "/" || path == "/openapi.json" || path == "/health" || strings.HasPrefix(path, "/docs") {
		return "", false
	}
	return fiberParam.ReplaceAllString(path, "{$1}"), true
}
