package roles

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/api/ratelimit"
)

// endpoints is the promised interface: operations with their status of success, scope and component ("-" = none), then the
// query parameters that they must have, and after "|" the fields of their body. What is here and not in the code fails the test,
// so a row changes only together with a promise to clients. New operations need none: schemas/openapi has them.
const endpoints = `
GET /catalog/products 200 catalog catalog page pageSize search categoryId status priceMin priceMax brand attr sort order include
POST /catalog/products 201 catalog catalog | ` + productBody + `
GET /catalog/products/{id} 200 catalog catalog include
PATCH /catalog/products/{id} 200 catalog catalog | ` + productBody + `
DELETE /catalog/products/{id} 200 catalog catalog
GET /catalog/products/{id}/variants 200 catalog catalog
POST /catalog/products/batch 200 catalog catalog | items
POST /catalog/products/bulk-price 202 catalog catalog | filter rule
POST /catalog/products/bulk-price/preview 200 catalog catalog | filter rule
GET /catalog/services 200 catalog catalog page pageSize search categoryId status priceMin priceMax priceModel sort order include
POST /catalog/services 201 catalog catalog | ` + serviceBody + `
GET /catalog/services/{id} 200 catalog catalog
PATCH /catalog/services/{id} 200 catalog catalog | ` + serviceBody + `
DELETE /catalog/services/{id} 200 catalog catalog
POST /catalog/services/batch 200 catalog catalog | items
GET /catalog/categories 200 catalog catalog
POST /catalog/categories 201 catalog catalog | ` + categoryBody + `
GET /catalog/categories/{id} 200 catalog catalog
PATCH /catalog/categories/{id} 200 catalog catalog | ` + categoryBody + `
DELETE /catalog/categories/{id} 204 catalog catalog reassignTo
GET /catalog/attributes 200 catalog catalog categoryId primaryOnly
GET /catalog/units 200 catalog catalog
GET /clients 200 clients clients page pageSize search sort order kind status assignedToId tag
POST /clients 201 clients clients | ` + clientBody + `
GET /clients/{id} 200 clients clients
PATCH /clients/{id} 200 clients clients | ` + clientBody + `
POST /clients/{id}/archive 200 clients clients
POST /clients/{id}/restore 200 clients clients
POST /clients/{id}/anonymize 200 clients clients
POST /clients/batch 200 clients clients | items
POST /clients/changes/batch 200 clients clients | items
GET /clients/{id}/interactions 200 clients clients page pageSize
POST /clients/{id}/interactions 201 clients clients | type direction subject body occurredAt
GET /clients/{id}/addresses 200 clients clients page pageSize
POST /clients/{id}/addresses 201 clients clients | label text city postalCode lat lng isDefault
GET /clients/{id}/addresses/{addressId} 200 clients clients
PATCH /clients/{id}/addresses/{addressId} 200 clients clients | label text city postalCode lat lng isDefault
DELETE /clients/{id}/addresses/{addressId} 204 clients clients
GET /clients/{id}/assets/{assetId} 200 clients clients
PATCH /clients/{id}/assets/{assetId} 200 clients clients | name serialNumber note
DELETE /clients/{id}/assets/{assetId} 204 clients clients
GET /clients/{id}/assets 200 clients clients page pageSize
POST /clients/{id}/assets 201 clients clients | name serialNumber note
GET /clients/{id}/points 200 clients clients page pageSize
GET /clients/groups 200 clients clients
GET /clients/price-lists 200 clients clients
GET /leads 200 leads marketing page pageSize search sort order status source assignedToId
POST /leads 201 leads marketing | name phone email message source externalId utm
GET /leads/{id} 200 leads marketing
PATCH /leads/{id} 200 leads marketing | name phone email message channel utm
PATCH /leads/{id}/status 200 leads marketing | status
POST /leads/{id}/assign 200 leads marketing | assigneeId
POST /leads/{id}/convert 201 leads marketing
POST /leads/{id}/convert-deal 201 leads marketing | typeId
GET /orders 200 orders orders page pageSize search sort order status paymentStatus assignedToId createdById customerId dateFrom dateTo dueFrom dueTo include
POST /orders 201 orders orders | ` + orderBody + ` dealId warehouseId
POST /orders/changes/batch 200 orders orders | items
POST /orders/preview 200 orders orders | ` + orderBody + `
GET /orders/sums 200 orders orders search status paymentStatus assignedToId createdById customerId dateFrom dateTo dueFrom dueTo
GET /orders/{id} 200 orders orders
PATCH /orders/{id} 200 orders orders | ` + orderBody + ` warehouseId
POST /orders/{id}/status/{next} 200 orders orders
POST /orders/{id}/delivery-status/{next} 200 orders orders
GET /orders/{id}/history 200 orders orders
GET /orders/{id}/shipments 200 orders orders
POST /orders/{id}/shipments 201 orders orders | items warehouseId deliveryMethod carrier trackingNumber shippedAt deliveryCost deliveryAddressText note
GET /orders/{id}/shipments/{shipmentId} 200 orders orders
POST /orders/{id}/shipments/{shipmentId}/cancel 200 orders orders
GET /orders/{id}/payments 200 orders orders page pageSize search sort order kind method paidFrom paidTo externalId source reference
POST /orders/{id}/payments 201 orders orders | amount method paidAt methodExt source externalId metadata reference note
GET /orders/{id}/payments/{paymentId} 200 orders orders
PUT /orders/{id}/payments/by-external-id/{source}/{externalId} 200 orders orders | amount method paidAt methodExt source externalId metadata reference note
POST /orders/{id}/payments/{paymentId}/refund 201 orders orders | amount reason method paidAt methodExt source externalId metadata reference note
GET /payments 200 orders orders page pageSize search sort order kind method paidFrom paidTo externalId source reference orderId
POST /orders/{id}/cancel-unshipped 200 orders orders | items
GET /orders/{id}/returns 200 orders orders page pageSize search sort order status number returnedFrom returnedTo externalId source
POST /orders/{id}/returns 201 orders orders | items reason note restock warehouseId returnedAt deliveryAmount fee refunds source externalId metadata
GET /orders/{id}/returns/{returnId} 200 orders orders
POST /orders/{id}/returns/{returnId}/cancel 200 orders orders
GET /returns 200 orders orders page pageSize search sort order status number returnedFrom returnedTo externalId source orderId
GET /deals/lost-reasons 200 deals deals includeInactive
GET /deals/sources 200 deals deals includeInactive
GET /deals/types 200 deals deals includeInactive
GET /deals 200 deals deals page pageSize search sort order typeId stageId outcome openOnly assignedToId clientId addressId scheduledFrom scheduledTo sourceId dateFrom dateTo noTask overdue
POST /deals 201 deals deals | typeId ` + dealBody + `
GET /deals/{id} 200 deals deals
PATCH /deals/{id} 200 deals deals | ` + dealBody + ` checklistDone nextActionAt
PATCH /deals/{id}/stage 200 deals deals | stageId lostReasonId
POST /deals/{id}/stage 200 deals deals | stageId lostReasonId
GET /deals/{id}/history 200 deals deals
GET /sales 200 sales cashier page pageSize search sort order shiftId cashierId paymentMethod dateFrom dateTo kind customerId include
GET /sales 200 sales cashier refundStatus refundOfSaleId
POST /sales 201 sales cashier | shiftId items paymentMethod discountPercent paymentMethodExt receivedAmount customerId redeemPoints customerName customerPhone channel payments cashierId
POST /sales/preview 200 sales cashier | shiftId items paymentMethod discountPercent receivedAmount customerId redeemPoints payments cashierId
GET /sales/sums 200 sales cashier search kind shiftId customerId dateFrom dateTo
GET /sales/{id} 200 sales cashier
POST /sales/{id}/refund 200 sales cashier | items payments reason cashierId
POST /shifts/open 201 sales cashier | openingCash cashierId
GET /shifts/current 200 sales cashier
GET /shifts 200 sales cashier page pageSize status openedById dateFrom dateTo cashierId
GET /shifts/{id}/cash-movements 200 sales cashier page pageSize search sort order type
GET /shifts/{id}/cash-movements/{movementId} 200 sales cashier
POST /shifts/{id}/cash-movements 201 sales cashier | type amount reason cashierId externalId source metadata
GET /shifts/{id} 200 sales cashier
POST /shifts/{id}/close 200 sales cashier | closingCash
GET /warehouse/warehouses 200 warehouse warehouse page pageSize search sort order
POST /warehouse/warehouses 201 warehouse warehouse | name address managerUserId branchId
GET /warehouse/warehouses/{id} 200 warehouse warehouse
PATCH /warehouse/warehouses/{id} 200 warehouse warehouse | name address managerUserId branchId
DELETE /warehouse/warehouses/{id} 204 warehouse warehouse
GET /warehouse/suppliers 200 warehouse warehouse page pageSize search sort order
POST /warehouse/suppliers 201 warehouse warehouse | name contactName phone email inn address note
GET /warehouse/suppliers/{id} 200 warehouse warehouse
PATCH /warehouse/suppliers/{id} 200 warehouse warehouse | name contactName phone email inn address note
DELETE /warehouse/suppliers/{id} 204 warehouse warehouse
GET /warehouse/stocks 200 warehouse warehouse page pageSize search sort order warehouseId categoryId level groupBy
POST /warehouse/stocks/adjust 201 warehouse warehouse | productId variantId warehouseId targetQty reason expectedQty reorderPoint
POST /warehouse/stocks/adjust/batch 200 warehouse warehouse | items
GET /warehouse/movements 200 warehouse warehouse page pageSize productId variantId warehouseId type dateFrom dateTo
GET /warehouse/receipts 200 warehouse warehouse page pageSize search sort order status warehouseId supplierId dateFrom dateTo
POST /warehouse/receipts 201 warehouse warehouse | warehouseId items supplierId purchaseOrderId date note
GET /warehouse/receipts/{id} 200 warehouse warehouse
POST /warehouse/receipts/{id}/cancel 200 warehouse warehouse
GET /scheduling/resources 200 scheduling scheduling page pageSize search sort order type serviceId activeOnly
POST /scheduling/resources 201 scheduling scheduling | ` + resourceBody + `
GET /scheduling/resources/{id} 200 scheduling scheduling
PATCH /scheduling/resources/{id} 200 scheduling scheduling | ` + resourceBody + `
GET /scheduling/bookings/slots 200 scheduling scheduling resourceId date serviceId
GET /scheduling/bookings 200 scheduling scheduling page pageSize search sort order resourceId serviceId clientId status dateFrom dateTo
POST /scheduling/bookings 201 scheduling scheduling | resourceId serviceId startAt customerName customerPhone durationMinutes customerEmail clientId headcount note externalId
GET /scheduling/bookings/{id} 200 scheduling scheduling
PATCH /scheduling/bookings/{id} 200 scheduling scheduling | startAt resourceId serviceId durationMinutes customerName customerPhone customerEmail note
PATCH /scheduling/bookings/{id}/status 200 scheduling scheduling | status reason
POST /scheduling/bookings/{id}/confirm 200 scheduling scheduling
POST /scheduling/bookings/{id}/complete 200 scheduling scheduling
POST /scheduling/bookings/{id}/no-show 200 scheduling scheduling
POST /scheduling/bookings/{id}/cancel 200 scheduling scheduling | reason
GET /branches 200 company core
GET /users 200 company core
GET /token 200 - -
GET /events 200 events core cursor limit events dateFrom dateTo entityId
GET /events/{eventId} 200 events core include
GET /webhooks/subscriptions 200 webhooks core page pageSize
POST /webhooks/subscriptions 201 webhooks core | url events filter name isActive autoRedeliver ordered maxPerSecond excludeOwnEvents headers clientCertificate clientKey
GET /webhooks/subscriptions/{id} 200 webhooks core
PATCH /webhooks/subscriptions/{id} 200 webhooks core | url events filter name isActive autoRedeliver ordered maxPerSecond excludeOwnEvents headers clientCertificate clientKey
DELETE /webhooks/subscriptions/{id} 204 webhooks core
POST /webhooks/subscriptions/{id}/rotate-secret 200 webhooks core | overlapHours
POST /webhooks/subscriptions/{id}/test 202 webhooks core | event
GET /webhooks/subscriptions/{id}/deliveries 200 webhooks core status
POST /webhooks/subscriptions/{id}/replay 202 webhooks core | from to status events rate dryRun
GET /webhooks/subscriptions/{id}/explain 200 webhooks core eventId
GET /webhooks/subscriptions/{id}/held 200 webhooks core
POST /webhooks/deliveries/{id}/skip 200 webhooks core
GET /events/{eventId}/deliveries 200 webhooks core
GET /webhooks/deliveries 200 webhooks core cursor limit subscriptionId status answer events eventId entityId dateFrom dateTo
GET /webhooks/deliveries/{id} 200 webhooks core
GET /requests 200 company core cursor limit answer status code method operation tokenId address requestId entityId dateFrom dateTo
GET /requests/{id} 200 company core
POST /webhooks/deliveries/{id}/redeliver 201 webhooks core
GET /webhooks/event-types 200 webhooks core
POST /exports 202 exports core | resource filters format
GET /jobs/{id} 200 - -
GET /jobs/{id}/result 200 - -
POST /jobs/{id}/pause 200 - -
POST /jobs/{id}/resume 200 - -
POST /jobs/{id}/cancel 200 - -
`

const (
	productBody = "sku barcode name description nameI18n descriptionI18n categoryId price cost unit unitId packUnitId packQty minOrderQty orderStepQty " +
		"costComponents isBundle modifierGroups status hasStock defaultSupplierId emoji brand model attributes"
	serviceBody  = "sku name nameI18n categoryId priceModel price durationMinutes status costItems"
	categoryBody = "name parentId icon color bg sortOrder prefix"
	clientBody   = "kind displayName firstName lastName middleName companyName position phone email telegramChatId whatsappPhone note tags birthday assignedToId " +
		"inn kpp legalAddress bankDetails contractNumber paymentTermsDays creditLimit groupId priceListId slaHours marketingConsent"
	orderBody = "items customerId assetId addressId customerName customerPhone customerEmail customerNote channel source dueAt readyBy payDueAt note discountPercent " +
		"prepaidAmount assignedToId externalId deliveryMethod deliveryCost deliveryAddressText"
	dealBody = "items clientId assetId addressId customerName customerPhone customerEmail customerNote channel source sourceId budget assignedToId address " +
		"venueResourceId scheduledAt dueAt headcount note discountPercent intake"
	resourceBody = "type name description branchId userId serviceIds capacity parallelBookings slotStepMinutes timeZone workingHours isActive color sortOrder"
)

// endpoint is one row of the table.
type endpoint struct {
	op               string // "GET /orders"
	status           int
	scope, component string
	query, body      []string
}

func parseEndpoints(t *testing.T) []endpoint {
	t.Helper()
	var all []endpoint
	for line := range strings.Lines(strings.TrimSpace(endpoints)) {
		front, body, _ := strings.Cut(line, "|")
		fields := strings.Fields(front)
		e := endpoint{op: fields[0] + " " + fields[1], scope: strings.Trim(fields[3], "-"), component: strings.Trim(fields[4], "-"), query: fields[5:], body: strings.Fields(body)}
		_, err := fmt.Sscan(fields[2], &e.status)
		require.NoError(t, err, line)
		all = append(all, e)
	}
	return all
}

// described is the part of the API description that the table is compared with.
type described struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name, In string
		}
		RequestBody struct {
			Content map[string]struct{ Schema schemaNode }
		}
		Responses map[string]any
		Scope     any `json:"x-required-scope"`
		Component any `json:"x-required-component"`
	}
	Components struct{ Schemas map[string]schemaNode }
}

type schemaNode struct {
	Ref        string `json:"$ref"`
	Required   []string
	Properties map[string]json.RawMessage
	Items      *schemaNode
}

// resolve follows references.
func (d *described) resolve(s schemaNode) schemaNode {
	for s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	return s
}

func describedAPI(t *testing.T) *described {
	t.Helper()
	raw, err := NewDomains(nil, DomainConfig{}).NewAPI(httpapi.Config{Limiter: ratelimit.New(ratelimit.Config{})}).Description()
	require.NoError(t, err)
	var d described
	require.NoError(t, json.Unmarshal(raw, &d))
	return &d
}

func TestEveryPromisedEndpointExists(t *testing.T) {
	t.Parallel()
	d := describedAPI(t)
	for _, e := range parseEndpoints(t) {
		method, path, _ := strings.Cut(e.op, " ")
		op, ok := d.Paths[path][strings.ToLower(method)]
		if !ok {
			t.Errorf("%s does not exist", e.op)
			continue
		}
		access := "read"
		if method != "GET" {
			access = "write"
		}
		var scope, component any
		if e.scope != "" {
			scope = e.scope + ":" + access
		}
		if e.component != "" {
			component = e.component
		}
		require.Equal(t, scope, op.Scope, "scope of %s", e.op)
		require.Equal(t, component, op.Component, "component of %s", e.op)
		require.Contains(t, op.Responses, fmt.Sprint(e.status), "status of %s", e.op)
		var query []string
		for _, p := range op.Parameters {
			if p.In == "query" {
				query = append(query, p.Name)
			}
		}
		for _, name := range e.query {
			if !slices.Contains(query, name) {
				t.Errorf("%s lacks the query parameter %s", e.op, name)
			}
		}
		properties := d.resolve(op.RequestBody.Content["application/json"].Schema).Properties
		for _, name := range e.body {
			if _, ok := properties[name]; !ok {
				t.Errorf("%s lacks the body field %s", e.op, name)
			}
		}
	}
}

// shapes are the fields that answers always have, by operation; "items" stands for the records of a list.
const shapes = `
GET /catalog/products/{id}: id companyId sku barcode name description nameI18n descriptionI18n categoryId brand model price cost unit unitId packQty packUnitId minOrderQty orderStepQty costComponents isBundle modifierGroups status hasStock defaultSupplierId emoji photoFileId thumbnailFileId attributeValues createdAt updatedAt version
GET /catalog/products/{id}/variants: id productId sku barcode name attributes price cost effectivePrice photoFileId status sortOrder createdAt updatedAt
GET /catalog/services/{id}: id companyId sku name nameI18n categoryId priceModel price durationMinutes totalCost status createdAt updatedAt version
GET /catalog/categories/{id}: id companyId parentId name icon color bg sortOrder prefix createdAt updatedAt path depth productsCount version
GET /catalog/attributes: id companyId code name nameI18n type unit categoryIds isPrimary isRequired isFilterable isVariant sortOrder options createdAt updatedAt
GET /catalog/units: id companyId code name nameI18n shortName precision isActive
GET /clients/{id}: id companyId kind displayName firstName lastName middleName companyName position phone email telegramChatId whatsappPhone inn kpp legalAddress bankDetails note contractNumber tags birthday status balance points groupId priceListId paymentTermsDays creditLimit slaHours marketingConsent marketingConsentAt marketingConsentSource anonymizedAt assignedToId createdById createdAt updatedAt version
GET /clients items: id companyId kind displayName firstName lastName middleName companyName position phone email inn tags status balance points groupId priceListId creditLimit assignedToId assignedToName createdAt updatedAt
GET /clients/{id}/interactions items: id clientId type direction subject body occurredAt createdById createdAt
GET /clients/{id}/addresses items: id clientId label text city postalCode lat lng isDefault
GET /clients/{id}/assets items: id clientId name serialNumber note
GET /clients/{id}/points items: id delta balance reason saleId createdAt
GET /clients/groups: id name priceListId
GET /clients/price-lists: id name
GET /leads/{id}: id source channel name phone email message status externalId raw clientId dealId assignedToId assignedToName utm createdAt
POST /leads/{id}/convert: clientId created
POST /leads/{id}/convert-deal: dealId clientId
GET /orders/{id}: id companyId number status paymentStatus customerId assetId addressId addressLabel customerName customerPhone customerEmail customerNote channel source deliveryStatus deliveryMethod deliveryCost deliveryAddressText dueAt readyBy payDueAt note subtotal discountPercent total prepaidAmount createdById assignedToId createdAt updatedAt lines dealId discountAmount amountDue allowedTransitions completedAt cancelledAt externalId version
GET /orders items: id companyId number status paymentStatus customerId total linesCount assignedToName
GET /orders/{id} lines: id kind refId variantId sku name unit qty unitPrice amount discountAmount total reservedQty shippedQty modifiers note sortOrder
GET /orders/{id}/history: field from to actorId at
GET /orders/{id}/shipments: id companyId orderId number status warehouseId warehouseName deliveryMethod carrier trackingNumber shippedAt note totalQty createdById createdAt updatedAt lines
GET /orders/{id}/payments/{paymentId}: id companyId orderId kind amount refundedAmount refundOfId method methodExt paidAt source externalId metadata reference note reason createdById version createdAt updatedAt
GET /orders/{id}/payments items: id orderId orderNumber kind amount method paidAt createdById createdByName
GET /payments items: id orderId orderNumber kind amount method paidAt createdById createdByName
GET /deals/lost-reasons: id companyId name alias isActive sortOrder
GET /deals/sources: id companyId name alias isActive sortOrder
GET /deals/types: id companyId alias name component isDefault isLeadType isActive sortOrder stages
GET /deals/types stages: id typeId name color sortOrder isInitial isTerminal outcome probability slaHours checklist isActive
GET /deals/{id}: id companyId number typeId stageId checklistDone outcome clientId assetId addressId venueResourceId addressLabel customerName customerPhone customerEmail customerNote channel source sourceId address scheduledAt dueAt note subtotal discountPercent total cost budget budgetExceededAt headcount lostReasonId nextActionAt stageEnteredAt createdById assignedToId createdAt updatedAt lines intake version
GET /deals/{id} lines: id kind refId variantId sku name unit qty perGuest effectiveQty unitPrice unitCost amount discountAmount total cost modifiers note sortOrder
GET /deals items: id number typeId stageId typeName stageName stageColor assignedToName linesCount boardOrder total
GET /sales/{id}: id companyId shiftId number subtotal discountPercent total paymentMethod paymentMethodExt receivedAmount cashierId refundOfSaleId customerId customerName customerPhone channel createdAt lines payments kind refundedBySaleId discountAmount redeemedPoints earnedPoints changeAmount warehouseId cashierName createdById refundStatus refundedTotal reason
GET /sales/{id} lines: id kind refId variantId sku name unit qty unitPrice amount discountAmount total modifiers sortOrder refundedQty refundOfLineId
GET /sales/{id} payments: id paymentMethod paymentMethodExt amount refundedAmount createdAt
GET /sales items: id number total cashierName linesCount
GET /shifts/{id}: id companyId number openedAt closedAt openingCash status openedById closedById closingCash expectedCash cashDifference salesCount refundsCount salesTotal refundsTotal totalsByMethod cashIn cashOut cashierId cashierName
GET /warehouse/warehouses/{id}: id companyId name address isDefault managerUserId branchId createdAt updatedAt version
GET /warehouse/warehouses items: id name branchId branchName managerName
GET /warehouse/suppliers/{id}: id companyId name contactName phone email inn address note createdAt updatedAt
POST /warehouse/stocks/adjust: id productId productName productSku variantId variantSku variantAttributes categoryId categoryName warehouseId warehouseName qty reserved available reorderPoint isLowStock updatedAt
GET /warehouse/stocks items: id productId productName productSku variantId variantSku variantAttributes categoryId categoryName warehouseId warehouseName qty reserved available reorderPoint isLowStock updatedAt
GET /warehouse/movements items: id companyId type productId productName productSku variantId warehouseId warehouseName delta qtyBefore qtyAfter documentType documentId documentNumber reason createdById createdAt
GET /warehouse/receipts/{id}: id companyId number status date warehouseId warehouseName supplierId supplierName purchaseOrderId note totalQty totalAmount createdById createdByName createdAt updatedAt lines
GET /warehouse/receipts/{id} lines: id productId productName productSku variantId variantSku variantAttributes unit qty unitCost amount note sortOrder
GET /warehouse/receipts items: id number status totalQty totalAmount linesCount
GET /scheduling/resources/{id}: id companyId type name description branchId userId serviceIds capacity parallelBookings slotStepMinutes timeZone workingHours isActive color photoFileId sortOrder createdAt updatedAt
GET /scheduling/bookings/slots: startAt endAt free remaining resourceId
GET /scheduling/bookings/{id}: id companyId number resourceId resourceName serviceId serviceName clientId customerName customerPhone customerEmail startAt endAt durationMinutes status headcount price note source cancelReason externalId createdById confirmedAt completedAt cancelledAt createdAt updatedAt
GET /branches: id name isActive
GET /users: id name isActive
GET /token: id name companyId companyName isTest scopes modules plan expiresAt rateLimit
GET /webhooks/subscriptions/{id}: id companyId name url events filter isActive status disabledReason autoRedeliver ordered maxPerSecond excludeOwnEvents headers secretHint clientCertificate lastSuccessAt lastFailureAt health createdById createdAt updatedAt
GET /requests/{id}: id requestId createdAt method route operation path status code durationMs tokenId tokenName address entityId represents error body bodyBytes eventIds
GET /webhooks/deliveries/{id}: id subscriptionId eventId event status attempt maxAttempts nextAttemptAt waitingFor expiresAt httpCode responseBody errorMessage durationMs isTest redeliveryOfId createdAt completedAt payload attempts
GET /jobs/{id}: id type status progress processed total summary resultUrl expiresAt error
`

func TestAnswersHaveThePromisedFields(t *testing.T) {
	t.Parallel()
	d := describedAPI(t)
	for line := range strings.Lines(strings.TrimSpace(shapes)) {
		name, fields, _ := strings.Cut(strings.TrimSpace(line), ": ")
		parts := strings.Fields(name)
		op, ok := d.Paths[parts[1]][strings.ToLower(parts[0])]
		if !ok {
			t.Errorf("%s does not exist", name)
			continue
		}
		var s schemaNode
		for _, status := range []string{"200", "201"} {
			if res, ok := op.Responses[status]; ok {
				raw, err := json.Marshal(res)
				require.NoError(t, err)
				var body struct {
					Content map[string]struct{ Schema schemaNode }
				}
				require.NoError(t, json.Unmarshal(raw, &body))
				s = d.element(body.Content["application/json"].Schema)
			}
		}
		if len(parts) > 2 {
			var inner schemaNode
			require.NoError(t, json.Unmarshal(s.Properties[parts[2]], &inner), name)
			s = d.element(inner)
		}
		for _, field := range strings.Fields(fields) {
			if !slices.Contains(s.Required, field) {
				t.Errorf("%s: the field %s is missing or not always present", name, field)
			}
		}
	}
}

// element is the schema of one record of an array, or the schema itself.
func (d *described) element(s schemaNode) schemaNode {
	s = d.resolve(s)
	if s.Items != nil {
		return d.resolve(*s.Items)
	}
	return s
}
