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
	{400, "VALIDATION_ERROR", "The body, a parameter or a header is not valid. errors names each field with its rule, up to 100 of them; meta.unlistedErrors counts the others. Correct them and repeat."},
	{401, "AUTH_API_TOKEN_INVALID", "The token is missing, unknown or revoked, or the call comes from an address outside its allow-list. Send Authorization: Bearer with a valid token."},
	{401, "AUTH_API_TOKEN_EXPIRED", "The token has expired. Ask the company for a new one."},
	{401, "COMPANY_ARCHIVED", "The company is archived; its data can no longer be reached."},
	{403, "AUTH_API_SCOPE_INSUFFICIENT", "The token lacks the scope that meta.scopes names. Use a token that has it."},
	{403, "MODULE_ACCESS_INACTIVE", "The component that meta.alias names is not enabled for the company."},
	{403, "PLAN_API_DISABLED", "The company's plan has no API access."},
	{404, "ROUTE_NOT_FOUND", "There is no such address. Compare it with the API description."},
	{405, "METHOD_NOT_ALLOWED", "The address exists, but not with this method. The header Allow names those it takes."},
	{409, "IDEMPOTENCY_IN_FLIGHT", "The first request with this key is unfinished. Wait about a second and repeat it to collect the answer."},
	{409, "SKU_TAKEN", "Another product, service or variant has this article, hidden ones included; meta says which."},
	{409, "BARCODE_TAKEN", "Another active product or variant has this barcode."},
	{409, "CATEGORY_IN_USE", "The category has child categories or active products or services. Move them first, or send reassignTo."},
	{409, "CATEGORY_CYCLE", "A category cannot lie below itself."},
	{409, "CATEGORY_DEPTH_EXCEEDED", "Categories may be nested ten levels deep."},
	{409, "PRODUCT_VARIANT_REQUIRED", "The product has variants: name one in variantId."},
	{409, "CATALOG_ITEM_HIDDEN", "A hidden product or service cannot enter a new order."},
	{409, "CLIENT_ARCHIVED", "An archived client cannot be used in a new record. Restore it first."},
	{409, "CREDIT_LIMIT_EXCEEDED", "The client's open orders with this one exceed the credit limit; meta has the sums."},
	{409, "ORDER_STATUS_TRANSITION_INVALID", "The order cannot move there from its status; meta.allowed lists where it can go."},
	{409, "ORDER_ITEMS_LOCKED", "Items can be replaced only while the order is new or confirmed."},
	{409, "ORDER_FINALIZED", "A completed or cancelled order takes only note, assignedToId and prepaidAmount."},
	{409, "ORDER_OVERPAID", "prepaidAmount exceeds what is payable; meta has both sums."},
	{409, "ORDER_EXTERNAL_ID_TAKEN", "Another order of this source has the externalId; meta.orderId names it."},
	{409, "ORDER_HAS_SHIPMENTS", "Part of the order has been shipped. Cancel its shipment notes before the order."},
	{409, "ORDER_DELIVERY_TRANSITION_INVALID", "The delivery cannot move there from its status; a method can be cleared only before anything was shipped."},
	{409, "CLIENT_BALANCE_OUT_OF_RANGE", "The client's balance would pass the greatest amount that the platform keeps. Check the sums of the order."},
	{409, "UNIT_CODE_TAKEN", "Another unit has this code."},
	{409, "BRANCH_WAREHOUSE_EXISTS", "The branch has a warehouse already; a branch may have one."},
	{409, "STOCK_ACCOUNTING_DISABLED", "No stock is kept of the product. Set hasStock first."},
	{409, "STOCK_CHANGED", "The stock has changed since it was read. Read it again and repeat."},
	{409, "STOCK_INSUFFICIENT", "The company blocks sales beyond stock; meta.lines names what is short."},
	{409, "WEBHOOK_SUBSCRIPTION_EXISTS", "There is a subscription with this url and these events."},
	{409, "WEBHOOK_LIMIT_REACHED", "A company may have 20 subscriptions."},
	{408, "REQUEST_INCOMPLETE", "The request did not arrive in full in time. Send it again, with the same idempotency key."},
	{410, "EVENTS_CURSOR_EXPIRED", "The cursor points before the 30 days that are kept. Re-read the resources, then start without a cursor."},
	{412, "PRECONDITION_FAILED", "The record has changed since it was read; meta.currentVersion is its version. Read it again and repeat the change."},
	{413, "PAYLOAD_TOO_LARGE", "The body exceeds the limit of the operation. Split it."},
	{415, "UNSUPPORTED_MEDIA_TYPE", "Send the body as Content-Type: application/json."},
	{422, "IDEMPOTENCY_KEY_REUSED", "The key was used with another request within 7 days. Use a new key for each change."},
	{431, "HEADERS_TOO_LARGE", "Request line and headers together may have 8 KiB. Shorten the query, or send fewer headers."},
	{429, "RATE_LIMIT_EXCEEDED", "The rate of the token is used up, the company has too many requests in flight, or the address has too many failures or open connections. Wait Retry-After seconds."},
	{500, "INTERNAL_ERROR", "The request failed for a reason that is not yours. Repeat it later, with the same idempotency key."},
	{503, "SERVICE_UNAVAILABLE", "The platform cannot take the request now; meta.reason says why. Nothing was stored. Wait Retry-After seconds and repeat."},
	{504, "REQUEST_TIMEOUT", "The request took too long. Repeat it with the same idempotency key."},
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
