package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

func stocks() Resource {
	return Resource{
		Name: "stocks", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/stock/list", Title: "productName",
		List: "listStocks", Export: true,
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
		Address: "/movements", Title: "createdAt",
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
			text("warehouseName"), number("linesCount"), qty("totalQty"), amount("totalAmount"), text("createdByName").Less(),
			text("note").Less(), text("source").Less(), code("externalId").Less(), moment("createdAt").Less(),
			moment("cancelledAt").Less(), moment("updatedAt").Less(),
		},
		Tables: []Table{
			{
				Name: "lines", Field: "lines", Sums: []string{"amount"},
				Columns: []Column{
					text("productName").Of("products", "productId"), code("productSku"), code("variantSku"), qty("qty"),
					text("unit"), amount("unitCost"), amount("amount"), text("note"),
				},
			},
		},
		Commands: []Command{
			{Name: "cancel_receipt", Op: "cancelReceipt", Danger: true, When: is("posted")},
		},
	}
}

func suppliers() Resource {
	return Resource{
		Name: "suppliers", Area: web.Warehouse, Scope: "warehouse", Component: "warehouse",
		Address: "/suppliers", Page: "/suppliers", Title: "name",
		List: "listSuppliers", Get: "getSupplier", Export: true,
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
