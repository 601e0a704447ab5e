package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

func stocks() Resource {
	return Resource{
		Name: "stocks", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/stock/list", Title: "productName", Within: true,
		List: "listStocks", Export: true, Import: true,
		Columns: []Column{
			text("productName").Of("products", "productId"), code("productSku"), code("variantSku"), text("warehouseName"),
			qty("qty"), qty("reserved"), qty("available"), qty("reorderPoint"), yes("isLowStock"), text("categoryName").Less(),
			moment("updatedAt").Less(),
		},
	}
}

func movements() Resource {
	return Resource{
		Name: "movements", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/movements", Title: "createdAt", Within: true,
		List: "listStockMovements", Export: true,
		Columns: []Column{
			moment("createdAt"), word("type"), text("productName").Of("products", "productId"), code("productSku"),
			code("variantSku"), text("warehouseName"), qty("delta"), qty("qtyAfter"), text("reason"), qty("qtyBefore").Less(),
			word("documentType").Less(), number("documentNumber").Less(),
		},
	}
}

func receipts() Resource {
	return Resource{
		Name: "receipts", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/receipts", Page: "/receipts", Title: "number", State: "status",
		List: "listReceipts", Get: "getReceipt", Export: true,
		Find:   &Find{Also: []string{"supplierName"}, By: []string{"number", "externalId"}},
		Create: "createReceipt", Lines: &LinesInput{Field: "items", Ref: "productId", Price: "unitCost"},
		Asks: []string{"warehouseId", "supplierId", "date", "note"},
		Columns: []Column{
			number("number"), moment("date"), state("status"), text("supplierName").Of("suppliers", "supplierId"),
			text("warehouseName"), number("linesCount"), qty("totalQty"), amount("totalAmount"), number("purchaseOrderNumber").Of("purchase-orders", "purchaseOrderId").Less(),
			text("createdByName").Less(), text("note").Less(), text("source").Less(), code("externalId").Less(), moment("createdAt").Less(),
			moment("cancelledAt").Less(), moment("updatedAt").Less(),
		},
		Tables: []Table{
			{
				Name: "lines", Field: "lines", Sums: []string{"amount"},
				Columns: []Column{
					stocked(), qty("qty"),
					text("unit"), amount("unitCost"), amount("amount"), text("note"),
				},
			},
		},
		Commands: []Command{
			{Name: "cancel_receipt", Op: "cancelReceipt", Danger: true, When: is("posted")},
		},
	}
}

func transfers() Resource {
	return Resource{
		Name: "transfers", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Prints:  []string{"list"},
		Address: "/transfers", Page: "/transfers", Title: "number", State: "status",
		List: "listTransfers", Get: "getTransfer", Export: true,
		Find:   &Find{Also: []string{"toWarehouseName"}, By: []string{"number", "externalId"}},
		Create: "createTransfer", Lines: &LinesInput{Field: "items", Ref: "productId"},
		Asks:   []string{"warehouseId", "toWarehouseId", "note"},
		Stages: []string{"draft", "sent", "received"},
		Next:   []string{"send_transfer", "receive_transfer"},
		Gauges: []Gauge{{Name: "received", Part: received}},
		Columns: []Column{
			number("number"), moment("createdAt"), state("status"), text("warehouseName"), text("toWarehouseName"), number("linesCount"),
			qty("totalQty"), qty("receivedQty"), moment("sentAt"), moment("receivedAt").Less(), text("createdByName").Less(),
			text("note").Less(), text("source").Less(), code("externalId").Less(), moment("cancelledAt").Less(), moment("updatedAt").Less(),
		},
		Tables: []Table{goods(qty("qty"), qty("receivedQty"))},
		Commands: []Command{
			{Name: "send_transfer", Op: "sendTransfer", When: is("draft")},
			{
				Name: "receive_transfer", Op: "receiveTransfer", Form: true, Fields: []string{}, When: is("sent"),
				Rows: &RowsInput{Field: "items", ID: "lineId", Done: "receivedQty", Zero: true},
			},
			{Name: "cancel_transfer", Op: "cancelTransfer", Danger: true, When: is("draft", "sent")},
		},
	}
}

func writeOffs() Resource {
	return Resource{
		Name: "write-offs", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/write-offs", Page: "/write-offs", Title: "number", State: "status",
		List: "listWriteOffs", Get: "getWriteOff", Export: true,
		Find:   &Find{Also: []string{"warehouseName"}, By: []string{"number", "externalId"}},
		Create: "createWriteOff", Lines: &LinesInput{Field: "items", Ref: "productId", Price: "unitCost"},
		Asks: []string{"warehouseId", "reason", "note"},
		Columns: []Column{
			number("number"), moment("createdAt"), state("status"), word("reason"), text("warehouseName"), number("linesCount"), qty("totalQty"),
			amount("totalAmount"), text("createdByName").Less(), text("note").Less(), text("source").Less(), code("externalId").Less(),
			moment("cancelledAt").Less(), moment("updatedAt").Less(),
		},
		Tables:   []Table{costs()},
		Commands: []Command{{Name: "cancel_write_off", Op: "cancelWriteOff", Danger: true, When: is("posted")}},
	}
}

func counts() Resource {
	return Resource{
		Name: "counts", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/counts", Page: "/counts", Title: "number", State: "status",
		List: "listCounts", Get: "getCount", Export: true,
		Find:   &Find{Also: []string{"warehouseName"}, By: []string{"number", "externalId"}},
		Create: "createCount", Lines: &LinesInput{Field: "items", Ref: "productId", NoQty: true, Optional: true},
		Asks:   []string{"warehouseId", "note"},
		Stages: []string{"counting", "posted"},
		Next:   []string{"scan_count"},
		Columns: []Column{
			number("number"), moment("createdAt"), state("status"), text("warehouseName"), number("linesCount"), number("countedLines"), moment("postedAt"),
			text("createdByName").Less(), text("note").Less(), text("source").Less(), code("externalId").Less(), moment("cancelledAt").Less(),
			moment("updatedAt").Less(),
		},
		Tables: []Table{goods(qty("expectedQty"), qty("countedQty"), qty("differenceQty"), moment("countedAt"))},
		Commands: []Command{
			{Name: "scan_count", Op: "recordCount", Page: "/scan", When: is("counting")},
			{
				Name: "record_count", Op: "recordCount", Form: true, Fields: []string{}, When: is("counting"),
				Rows: &RowsInput{Field: "items", ID: "lineId", Of: "expectedQty", Zero: true, Blank: true},
			},
			{Name: "post_count", Op: "postCount", When: is("counting")},
			{Name: "cancel_count", Op: "cancelCount", Danger: true, When: is("counting")},
		},
	}
}

// received is how much of what was ordered or sent has come.
func received(r Record) (done, whole float64) { return r.Float("receivedQty"), r.Float("totalQty") }

func purchaseOrders() Resource {
	return Resource{
		Name: "purchase-orders", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Prints:  []string{"order"},
		Address: "/purchase-orders", Page: "/purchase-orders", Title: "number", State: "status",
		List: "listPurchaseOrders", Get: "getPurchaseOrder", Export: true,
		Find:   &Find{Also: []string{"supplierName"}, By: []string{"number", "externalId"}},
		Create: "createPurchaseOrder", Lines: &LinesInput{Field: "items", Ref: "productId", Price: "unitCost"},
		Asks:   []string{"supplierId", "warehouseId", "expectedAt", "note"},
		Stages: []string{"draft", "sent", "partly_received", "received"},
		Next:   []string{"send_purchase_order"},
		Gauges: []Gauge{{Name: "received", Part: received}},
		Columns: []Column{
			number("number"), moment("createdAt"), state("status"), text("supplierName").Of("suppliers", "supplierId"), text("warehouseName"),
			number("linesCount"), qty("totalQty"), qty("receivedQty"), amount("totalAmount"), moment("expectedAt"), moment("sentAt").Less(),
			text("createdByName").Less(), text("note").Less(), text("source").Less(), code("externalId").Less(), moment("closedAt").Less(),
			moment("cancelledAt").Less(), moment("updatedAt").Less(),
		},
		Tables: []Table{
			costs(qty("receivedQty")),
			{
				Name: "receipts", List: "listReceipts", Where: "purchaseOrderId", All: "/receipts",
				Columns: []Column{
					number("number").Of("receipts", "id"), moment("date"), state("status"), qty("totalQty"), amount("totalAmount"),
				},
			},
		},
		Commands: []Command{
			{Name: "send_purchase_order", Op: "sendPurchaseOrder", When: is("draft")},
			{Name: "close_purchase_order", Op: "closePurchaseOrder", Danger: true, When: is("partly_received")},
			{Name: "cancel_purchase_order", Op: "cancelPurchaseOrder", Danger: true, When: is("draft", "sent")},
		},
	}
}

func supplierReturns() Resource {
	return Resource{
		Name: "supplier-returns", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/supplier-returns", Page: "/supplier-returns", Title: "number", State: "status",
		List: "listSupplierReturns", Get: "getSupplierReturn", Export: true,
		Find:   &Find{Also: []string{"supplierName"}, By: []string{"number", "externalId"}},
		Create: "createSupplierReturn", Lines: &LinesInput{Field: "items", Ref: "productId", Price: "unitCost"},
		Asks: []string{"supplierId", "warehouseId", "reason", "note"},
		Columns: []Column{
			number("number"), moment("createdAt"), state("status"), text("supplierName").Of("suppliers", "supplierId"), text("warehouseName"),
			number("linesCount"), qty("totalQty"), amount("totalAmount"), text("reason"), code("receiptId").Of("receipts", "receiptId").Less(),
			text("createdByName").Less(), text("note").Less(), text("source").Less(), code("externalId").Less(), moment("cancelledAt").Less(),
			moment("updatedAt").Less(),
		},
		Tables:   []Table{costs()},
		Commands: []Command{{Name: "cancel_supplier_return", Op: "cancelSupplierReturn", Danger: true, When: is("posted")}},
	}
}

// costs are the columns of lines of goods with their costs.
func costs(own ...Column) Table {
	t := goods(append([]Column{qty("qty"), amount("unitCost"), amount("amount")}, own...)...)
	t.Sums = []string{"amount"}
	return t
}

// stocked is the product of a line, with the SKU of what is on stock.
func stocked() Column {
	return Column{Name: "productName", To: "products", ID: "productId", Under: []string{"variantSku", "productSku"}}
}

// goods are the columns of the lines of documents about stock.
func goods(own ...Column) Table {
	columns := append([]Column{stocked()}, own...)
	return Table{Name: "lines", Field: "lines", Columns: append(columns, text("unit"), text("note"))}
}

func suppliers() Resource {
	return Resource{
		Name: "suppliers", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/suppliers", Page: "/suppliers", Title: "name",
		List: "listSuppliers", Get: "getSupplier", Export: true, Import: true,
		Find:   &Find{Also: []string{"phone", "email"}, By: []string{"externalId"}, Names: true, Contacts: true},
		Create: "createSupplier",
		Asks:   []string{"name", "contactName", "phone", "email", "address", "inn", "note"},
		Columns: []Column{
			text("name"), text("contactName"), text("phone"), text("email"), text("inn"), text("address").Less(),
			text("note").Less(), text("source").Less(), code("externalId").Less(), moment("createdAt").Less(),
			moment("updatedAt").Less(),
		},
		Tables: []Table{
			{
				Name: "receipts", List: "listReceipts", Where: "supplierId", All: "/receipts",
				Columns: []Column{
					number("number").Of("receipts", "id"), moment("date"), state("status"), qty("totalQty"), amount("totalAmount"),
				},
			},
		},
		Commands: []Command{
			{Name: "edit", Op: "updateSupplier", Form: true},
			{Name: "delete", Op: "deleteSupplier", Danger: true, Ends: true},
		},
	}
}
