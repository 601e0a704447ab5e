package records

import "github.com/tradegrid/tradegrid/cmd/tradegrid/web"

// variantFields are those that the forms of a variant ask for, beside its attributes.
var variantFields = []string{"sku", "name", "price", "cost", "barcode", "status", "sortOrder"}

func products() resource {
	return resource{
		name: "products", area: web.Catalog, scope: "catalog", component: "catalog", at: "/products", page: "/products", list: "listProducts", get: "getProduct", create: "createProduct", asks: []string{"name", "sku", "price", "cost", "categoryId", "brand", "model", "barcode", "unit", "hasStock", "description"}, export: true, title: "name", state: "status",
		columns: []column{
			text("name"), code("sku"), state("status"), text("brand"), amount("price"), number("variantsCount"), text("unit"), amount("cost").less(), text("model").less(), code("barcode").less(), entry("categoryId").less(),
			yes("hasStock").less(), yes("isBundle").less(), qty("minOrderQty").less(), qty("orderStepQty").less(), qty("packQty").less(), text("source").less(), code("externalId").less(), moment("createdAt").less(), moment("updatedAt").less(),
		},
		facts: []column{text("description"), qty("stockQty"), qty("stockAvailable"), yes("isLowStock"), entry("defaultSupplierId")},
		tables: []table{
			{name: "variants", list: "listProductVariants", include: "attributes,stock", columns: []column{
				code("sku"), pairs("attributes"), text("name"), state("status"), amount("effectivePrice"), amount("cost"), code("barcode"), qty("stockQty"), qty("stockAvailable"),
			}},
			{name: "stocks", list: "listStocks", where: "productId", sees: web.Warehouse, all: "/stock/list", columns: []column{text("warehouseName"), code("variantSku"), qty("qty"), qty("reserved"), qty("available"), qty("reorderPoint")}},
			{name: "costs", field: "costComponents", columns: []column{text("label"), qty("qty"), amount("unitCost"), amount("amount")}, sums: []string{"amount"}},
		},
		commands: []command{
			{name: "edit", op: "updateProduct", form: true, fields: []string{"name", "sku", "price", "cost", "status", "categoryId", "brand", "model", "barcode", "unit", "description", "hasStock"}},
			{name: "delete", op: "deleteProduct", danger: true, ends: true},
			{name: "new_variant", op: "createProductVariant", adds: "variants", form: true, fields: variantFields, traits: &traitsInput{field: "attributes"}},
			{name: "variant_matrix", op: "createVariantMatrix", adds: "variants", form: true, fields: []string{"price", "cost", "status"}, traits: &traitsInput{field: "axes", matrix: true}},
			{name: "edit_variant", op: "updateProductVariant", table: "variants", param: "variantId", form: true, fields: variantFields, traits: &traitsInput{field: "attributes"}},
			{name: "hide_variant", op: "deleteProductVariant", table: "variants", param: "variantId", danger: true, when: is("active")},
		},
	}
}

func services() resource {
	return resource{
		name: "services", area: web.Catalog, scope: "catalog", component: "catalog", at: "/services", page: "/services", list: "listServices", get: "getService", create: "createService", asks: []string{"name", "sku", "price", "priceModel", "durationMinutes", "categoryId"}, export: true, title: "name", state: "status",
		columns: []column{
			text("name"), code("sku"), state("status"), word("priceModel"), amount("price"), amount("totalCost"), number("durationMinutes"), entry("categoryId").less(), text("source").less(), code("externalId").less(),
			moment("createdAt").less(), moment("updatedAt").less(),
		},
		tables: []table{{name: "costs", field: "costItems", columns: []column{text("label").of("products", "productId"), qty("qty"), amount("unitCost"), amount("amount")}, sums: []string{"amount"}}},
		commands: []command{
			{name: "edit", op: "updateService", form: true, fields: []string{"name", "sku", "price", "priceModel", "durationMinutes", "status", "categoryId"}},
			{name: "delete", op: "deleteService", danger: true, ends: true},
		},
	}
}

func categories() resource {
	return resource{
		name: "categories", area: web.Catalog, scope: "catalog", component: "catalog", at: "/categories", page: "/categories", list: "listCategories", get: "getCategory", create: "createCategory", asks: []string{"name", "parentId", "prefix", "sortOrder", "color", "icon"}, whole: true, title: "name",
		columns: []column{text("name"), words("path"), number("productsCount"), number("sortOrder"), text("prefix").less(), text("source").less(), code("externalId").less(), moment("createdAt").less(), moment("updatedAt").less()},
		facts:   []column{code("parentId").of("categories", "parentId"), text("color"), text("icon")},
		tables: []table{
			{name: "products", list: "listProducts", where: "categoryId", all: "/products", columns: []column{text("name").of("products", "id"), code("sku"), state("status"), amount("price")}},
		},
		commands: []command{
			{name: "edit", op: "updateCategory", form: true, fields: []string{"name", "parentId", "sortOrder", "color", "icon", "prefix"}},
			{name: "delete", op: "deleteCategory", danger: true, ends: true},
		},
	}
}

func clients() resource {
	return resource{
		name: "clients", area: web.Clients, scope: "clients", component: "clients", at: "/clients", page: "/clients", list: "listClients", get: "getClient", about: aboutClient, create: "createClient", asks: []string{"kind", "displayName", "firstName", "lastName", "companyName", "phone", "email", "birthday", "groupId", "assignedToId", "creditLimit", "note"}, export: true, title: "displayName", state: "status",
		columns: []column{
			text("displayName"), word("kind"), state("status"), text("phone"), text("email"), amount("balance"), number("points"), words("tags"), text("assignedToName").less(), text("companyName").less(), text("inn").less(),
			amount("creditLimit").less(), entry("groupId").less(), entry("priceListId").less(), text("source").less(), code("externalId").less(), moment("createdAt").less(), moment("updatedAt").less(),
		},
		facts: []column{
			entry("assignedToId"), date("birthday"), text("legalAddress"), text("kpp"), text("bankDetails"), text("contractNumber"), number("paymentTermsDays"), number("slaHours"), yes("marketingConsent"), text("note"),
			moment("anonymizedAt"), entry("createdById"),
		},
		tables: []table{
			{name: "orders", list: "listOrders", where: "customerId", sees: web.Orders, all: "/orders", columns: []column{number("number").of("orders", "id"), moment("createdAt"), state("status"), state("paymentStatus"), amount("total")}},
			{name: "deals", list: "listDeals", where: "clientId", sees: web.Deals, all: "/deals/list", columns: []column{number("number").of("deals", "id"), moment("createdAt"), text("stageName"), amount("total")}},
			{name: "sales", list: "listSales", where: "customerId", sees: web.Sales, all: "/sales", columns: []column{number("number").of("sales", "id"), moment("createdAt"), state("kind"), word("paymentMethod"), amount("total")}},
			{name: "bookings", list: "listBookings", where: "clientId", sees: web.Bookings, all: "/bookings/list", columns: []column{number("number").of("bookings", "id"), moment("startAt"), state("status"), text("serviceName"), text("resourceName")}},
			{name: "interactions", list: "listClientInteractions", columns: []column{moment("occurredAt"), word("type"), word("direction"), text("subject"), text("body")}},
			{name: "addresses", list: "listClientAddresses", columns: []column{text("label"), text("text"), text("city"), text("postalCode"), yes("isDefault")}},
			{name: "points", list: "listClientPoints", columns: []column{moment("createdAt"), text("reason"), number("delta"), number("balance")}},
		},
		commands: []command{
			{name: "interaction", op: "createClientInteraction", form: true, when: is("active")},
			{name: "edit", op: "updateClient", form: true, when: is("active"), fields: []string{
				"displayName", "firstName", "lastName", "companyName", "phone", "email", "birthday", "groupId", "priceListId", "assignedToId", "creditLimit", "paymentTermsDays", "marketingConsent", "note",
			}},
			{name: "archive", op: "archiveClient", when: is("active")},
			{name: "restore", op: "restoreClient", when: is("archived")},
			{name: "anonymize", op: "anonymizeClient", danger: true, when: func(r record) bool { return !r.has("anonymizedAt") }},
		},
	}
}

func leads() resource {
	return resource{
		name: "leads", area: web.Leads, scope: "leads", component: "marketing", at: "/leads", page: "/leads", list: "listLeads", get: "getLead", about: aboutLead, create: "createLead", asks: []string{"name", "phone", "email", "message"}, export: true, title: "name", state: "status",
		columns: []column{
			text("name"), state("status"), text("phone"), text("email"), text("source"), text("assignedToName"), moment("createdAt"), word("channel").less(), text("message").less(), moment("updatedAt").less(),
		},
		facts: []column{code("clientId").of("clients", "clientId"), code("dealId").of("deals", "dealId")},
		commands: []command{
			{name: "lead_deal", op: "convertLeadToDeal", form: true, when: open, to: "deals", idOf: "dealId"},
			{name: "lead_client", op: "convertLead", when: open},
			{name: "assign", op: "assignLead", form: true},
			{name: "lead_status", op: "setLeadStatus", form: true, when: open},
			{name: "edit", op: "updateLead", form: true},
		},
	}
}

// open reports whether a lead has not become anything yet.
func open(r record) bool { return r.text("status") != "converted" }

func stocks() resource {
	return resource{
		name: "stocks", area: web.Warehouse, scope: "warehouse", component: "warehouse", at: "/stock/list", list: "listStocks", export: true, title: "productName",
		columns: []column{
			text("productName").of("products", "productId"), code("productSku"), code("variantSku"), text("warehouseName"), qty("qty"), qty("reserved"), qty("available"), qty("reorderPoint"), yes("isLowStock"),
			text("categoryName").less(), moment("updatedAt").less(),
		},
	}
}

func movements() resource {
	return resource{
		name: "movements", area: web.Warehouse, scope: "warehouse", component: "warehouse", at: "/movements", list: "listStockMovements", export: true, title: "createdAt",
		columns: []column{
			moment("createdAt"), word("type"), text("productName").of("products", "productId"), code("productSku"), code("variantSku"), text("warehouseName"), qty("delta"), qty("qtyAfter"), text("reason"),
			qty("qtyBefore").less(), word("documentType").less(), number("documentNumber").less(),
		},
	}
}

func receipts() resource {
	return resource{
		name: "receipts", area: web.Warehouse, scope: "warehouse", component: "warehouse", at: "/receipts", page: "/receipts", list: "listReceipts", get: "getReceipt", create: "createReceipt", lines: &linesInput{field: "items", ref: "productId", price: "unitCost"}, asks: []string{"warehouseId", "supplierId", "date", "note"}, export: true, title: "number", state: "status",
		columns: []column{
			number("number"), moment("date"), state("status"), text("supplierName").of("suppliers", "supplierId"), text("warehouseName"), number("linesCount"), qty("totalQty"), amount("totalAmount"), text("createdByName").less(),
			text("note").less(), text("source").less(), code("externalId").less(), moment("createdAt").less(), moment("cancelledAt").less(), moment("updatedAt").less(),
		},
		tables: []table{
			{name: "lines", field: "lines", sums: []string{"amount"}, columns: []column{
				text("productName").of("products", "productId"), code("productSku"), code("variantSku"), qty("qty"), text("unit"), amount("unitCost"), amount("amount"), text("note"),
			}},
		},
		commands: []command{{name: "cancel_receipt", op: "cancelReceipt", danger: true, when: is("posted")}},
	}
}

func suppliers() resource {
	return resource{
		name: "suppliers", area: web.Warehouse, scope: "warehouse", component: "warehouse", at: "/suppliers", page: "/suppliers", list: "listSuppliers", get: "getSupplier", create: "createSupplier", asks: []string{"name", "contactName", "phone", "email", "address", "inn", "note"}, export: true, title: "name",
		columns: []column{text("name"), text("contactName"), text("phone"), text("email"), text("inn"), text("address").less(), text("note").less(), text("source").less(), code("externalId").less(), moment("createdAt").less(), moment("updatedAt").less()},
		tables: []table{
			{name: "receipts", list: "listReceipts", where: "supplierId", all: "/receipts", columns: []column{number("number").of("receipts", "id"), moment("date"), state("status"), qty("totalQty"), amount("totalAmount")}},
		},
		commands: []command{{name: "edit", op: "updateSupplier", form: true}, {name: "delete", op: "deleteSupplier", danger: true, ends: true}},
	}
}
