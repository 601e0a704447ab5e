package httpapi

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/tradegrid/tradegrid/pkg/fault"
)

// errorDocs are the codes that any operation may answer. Those of one domain are declared there.
var errorDocs = []fault.Doc{
	{Status: 400, Code: "VALIDATION_ERROR", Advice: "The body, a parameter or a header is not valid. errors names each field with its rule, up to 100 of them; meta.unlistedErrors counts the others. Correct them and repeat."},
	{Status: 401, Code: "AUTH_API_TOKEN_INVALID", Advice: "The token is missing, unknown or revoked, or the call comes from an address outside its allow-list. Send Authorization: Bearer with a valid token."},
	{Status: 401, Code: "AUTH_API_TOKEN_EXPIRED", Advice: "The token has expired. Ask the company for a new one."},
	{Status: 401, Code: "COMPANY_ARCHIVED", Advice: "The company is archived; its data can no longer be reached."},
	{Status: 403, Code: "AUTH_API_SCOPE_INSUFFICIENT", Advice: "The token lacks the scope that meta.scopes names. Use a token that has it."},
	{Status: 403, Code: "MODULE_ACCESS_INACTIVE", Advice: "The component that meta.alias names is not enabled for the company."},
	{Status: 403, Code: "PLAN_API_DISABLED", Advice: "The company's plan has no API access."},
	{Status: 404, Code: "ROUTE_NOT_FOUND", Advice: "There is no such address. Compare it with the API description."},
	{Status: 405, Code: "METHOD_NOT_ALLOWED", Advice: "The address exists, but not with this method. The header Allow names those it takes."},
	{Status: 409, Code: "IDEMPOTENCY_IN_FLIGHT", Advice: "The first request with this key is unfinished. Wait about a second and repeat it to collect the answer."},
	{Status: 409, Code: "SKU_TAKEN", Advice: "Another product, service or variant has this SKU, hidden ones included; meta says which."},
	{Status: 409, Code: "BARCODE_TAKEN", Advice: "Another active product or variant has this barcode."},
	{Status: 409, Code: "CATEGORY_IN_USE", Advice: "The category has child categories or active products or services. Move them first, or send reassignTo."},
	{Status: 409, Code: "CATEGORY_CYCLE", Advice: "A category cannot lie below itself."},
	{Status: 409, Code: "CATEGORY_DEPTH_EXCEEDED", Advice: "Categories may be nested ten levels deep."},
	{Status: 409, Code: "PRODUCT_VARIANT_REQUIRED", Advice: "The product has variants: name one in variantId."},
	{Status: 409, Code: "CATALOG_ITEM_HIDDEN", Advice: "A hidden product or service cannot enter a new order."},
	{Status: 409, Code: "CLIENT_ARCHIVED", Advice: "An archived client cannot be used in a new record. Restore it first."},
	{Status: 409, Code: "CREDIT_LIMIT_EXCEEDED", Advice: "The client's open orders with this one exceed the credit limit; meta has the sums."},
	{Status: 409, Code: "ORDER_STATUS_TRANSITION_INVALID", Advice: "The order cannot move there from its status; meta.allowed lists where it can go."},
	{Status: 409, Code: "ORDER_ITEMS_LOCKED", Advice: "Items can be replaced only while the order is new or confirmed."},
	{Status: 409, Code: "ORDER_FINALIZED", Advice: "A completed or cancelled order takes only note, assignedToId and prepaidAmount."},
	{Status: 409, Code: "ORDER_OVERPAID", Advice: "prepaidAmount exceeds what is payable; meta has both sums."},
	{Status: 409, Code: "ORDER_EXTERNAL_ID_TAKEN", Advice: "Another order of this source has the externalId; meta.orderId names it."},
	{Status: 409, Code: "ORDER_HAS_SHIPMENTS", Advice: "Part of the order has been shipped. Cancel its shipment notes before the order."},
	{Status: 409, Code: "ORDER_DELIVERY_TRANSITION_INVALID", Advice: "The delivery cannot move there from its status; a method can be cleared only before anything was shipped."},
	{Status: 409, Code: "CLIENT_BALANCE_OUT_OF_RANGE", Advice: "The client's balance would pass the greatest amount that the platform keeps. Check the sums of the order."},
	{Status: 409, Code: "UNIT_CODE_TAKEN", Advice: "Another unit has this code."},
	{Status: 409, Code: "BRANCH_WAREHOUSE_EXISTS", Advice: "The branch has a warehouse already; a branch may have one."},
	{Status: 409, Code: "STOCK_ACCOUNTING_DISABLED", Advice: "No stock is kept of the product. Set hasStock first."},
	{Status: 409, Code: "STOCK_CHANGED", Advice: "The stock has changed since it was read. Read it again and repeat."},
	{Status: 409, Code: "STOCK_INSUFFICIENT", Advice: "The company blocks sales beyond stock; meta.lines names what is short."},
	{Status: 409, Code: "WEBHOOK_SUBSCRIPTION_EXISTS", Advice: "There is a subscription with this url and these events."},
	{Status: 409, Code: "WEBHOOK_LIMIT_REACHED", Advice: "A company may have 20 subscriptions."},
	{Status: 408, Code: "REQUEST_INCOMPLETE", Advice: "The request did not arrive in full in time. Send it again, with the same idempotency key."},
	{Status: 410, Code: "EVENTS_CURSOR_EXPIRED", Advice: "The cursor points before the 30 days that are kept. Re-read the resources, then start without a cursor."},
	{Status: 412, Code: "PRECONDITION_FAILED", Advice: "The record has changed since it was read; meta.currentVersion is its version. Read it again and repeat the change."},
	{Status: 413, Code: "PAYLOAD_TOO_LARGE", Advice: "The body exceeds the limit of the operation. Split it."},
	{Status: 415, Code: "UNSUPPORTED_MEDIA_TYPE", Advice: "Send the body as Content-Type: application/json."},
	{Status: 422, Code: "IDEMPOTENCY_KEY_REUSED", Advice: "The key was used with another request within 7 days. Use a new key for each change."},
	{Status: 431, Code: "HEADERS_TOO_LARGE", Advice: "Request line and headers together may have 8 KiB. Shorten the query, or send fewer headers."},
	{Status: 429, Code: "RATE_LIMIT_EXCEEDED", Advice: "The rate of the token is used up, the company has too many requests in flight, or the address has too many failures or open connections. Wait Retry-After seconds."},
	{Status: 500, Code: "INTERNAL_ERROR", Advice: "The request failed for a reason that is not yours. Repeat it later, with the same idempotency key."},
	{Status: 503, Code: "SERVICE_UNAVAILABLE", Advice: "The platform cannot take the request now; meta.reason says why. Nothing was stored. Wait Retry-After seconds and repeat."},
	{Status: 504, Code: "REQUEST_TIMEOUT", Advice: "The request took too long. Repeat it with the same idempotency key."},
}

// errorEntities are the records that an <ENTITY>_NOT_FOUND can be about.
var errorEntities = []string{
	"ADDRESS", "ASSET", "BRANCH", "CATEGORY", "CLIENT", "CLIENT_GROUP", "DEAL", "EVENT", "ORDER", "PRICE_LIST", "PRODUCT", "PRODUCT_VARIANT",
	"SERVICE", "SUPPLIER", "UNIT", "USER", "WAREHOUSE", "WEBHOOK_DELIVERY", "WEBHOOK_SUBSCRIPTION",
}

// errorDocs are the rows of the page: every code has one, so that every docUrl leads somewhere.
func (a *API) errorDocs() []fault.Doc {
	docs := slices.Concat(errorDocs, a.cfg.Errors)
	for _, entity := range slices.Concat(errorEntities, a.cfg.Entities) {
		docs = append(docs, fault.Doc{Status: 404, Code: entity + "_NOT_FOUND", Advice: "There is no such record in the company; for a reference in a body meta.field and meta.id name it."})
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
