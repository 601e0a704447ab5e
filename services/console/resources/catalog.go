package resources

import (
	"github.com/tradegrid/tradegrid/services/console/web"
)

// variantFields are those that the forms of a variant ask for, beside its attributes.
var variantFields = []string{"sku", "name", "price", "cost", "barcode", "status", "sortOrder", "photoFileId"}

func variants() Resource {
	return Resource{
		Name: "variants", Area: web.Catalog, Scope: "catalog", Component: "catalog",
		Address: "/variants", Title: "sku", State: "status",
		List: "listVariants", Export: true, Picture: "photoFileId",
		Find: &Find{Also: []string{"sku"}, By: []string{"externalId", "sku", "barcode"}, Names: true, Page: "/products", ID: "productId"},
		Columns: []Column{
			code("sku").Of("products", "productId"), text("name"), state("status"), amount("effectivePrice"), amount("cost"), code("barcode"),
			text("source").Less(), code("externalId").Less(), moment("createdAt").Less(), moment("updatedAt").Less(),
		},
	}
}

func products() Resource {
	return Resource{
		Name: "products", Area: web.Catalog, Scope: "catalog", Component: "catalog",
		Prints:  []string{"labels"},
		Address: "/products", Page: "/products", Title: "name", State: "status",
		List: "listProducts", Get: "getProduct", Export: true, Import: true, Pictures: "photoFileIds",
		Find:   &Find{Also: []string{"sku"}, By: []string{"externalId", "sku", "barcode"}, Names: true},
		Create: "createProduct",
		Asks: []string{
			"name", "sku", "price", "cost", "taxRateId", "categoryId", "brand", "model", "barcode", "unit", "hasStock", "description",
		},
		Yes:     []string{"hasStock"},
		Picture: "photoFileId",
		Views:   []View{{"hidden", "status=hidden"}},
		Bulk: []Bulk{
			{Name: "reprice", Op: "repriceProducts", Reprice: true, When: is("active")},
			{Name: "category", Op: "batchProducts", Field: "categoryId", Undo: true},
			{Name: "hide", Op: "batchProducts", Field: "status", Value: "hidden", When: is("active"), Undo: true},
			{Name: "show", Op: "batchProducts", Field: "status", Value: "active", When: is("hidden"), Undo: true},
			{Name: "labels", Paper: "/paper/products/labels"},
		},
		Columns: []Column{
			text("name"), code("sku"), state("status"), text("brand"), amount("price"), number("variantsCount"), text("unit"),
			amount("cost").Less(), text("model").Less(), code("barcode").Less(), entry("taxRateId").Less(), entry("categoryId").Less(), yes("hasStock").Less(),
			yes("isBundle").Less(), qty("minOrderQty").Less(), qty("orderStepQty").Less(), qty("packQty").Less(),
			text("source").Less(), code("externalId").Less(), moment("createdAt").Less(), moment("updatedAt").Less(),
		},
		Tables: []Table{
			{
				Name: "variants", List: "listProductVariants", Include: "attributes,stock",
				Columns: []Column{
					code("sku"), pairs("attributes"), text("name"), state("status"), amount("effectivePrice"), amount("cost"),
					code("barcode"), qty("stockQty"), qty("stockAvailable"),
				},
				Picture: "photoFileId",
				Brief:   []string{"sku", "attributes", "effectivePrice", "stockAvailable"},
			},
			{
				Name: "stocks", List: "listStocks", Where: "productId", Sees: web.Warehouse, All: "/stock/list",
				Columns: []Column{
					text("warehouseName"), code("variantSku"), qty("qty"), qty("reserved"), qty("available"), qty("reorderPoint"),
				},
				Brief: []string{"warehouseName", "variantSku", "qty", "available", "reorderPoint"},
			},
			{
				Name: "costs", Field: "costComponents",
				Columns: []Column{text("label"), qty("qty"), amount("unitCost"), amount("amount")},
				Sums:    []string{"amount"},
			},
		},
		Commands: []Command{
			{
				Name: "edit", Op: "updateProduct", Form: true,
			},
			{Name: "delete", Op: "deleteProduct", Danger: true, Ends: true},
			{
				Name: "new_variant", Op: "createProductVariant", AddsTo: "variants", Form: true, Fields: variantFields,
				Attributes: &AttributesInput{Field: "attributes"}, Picture: "photoFileId",
			},
			{
				Name: "variant_matrix", Op: "createVariantMatrix", AddsTo: "variants", Form: true,
				Fields: []string{"price", "cost", "status"}, Attributes: &AttributesInput{Field: "axes", Matrix: true},
			},
			{
				Name: "edit_variant", Op: "updateProductVariant", Table: "variants", Param: "variantId", Form: true,
				Fields: variantFields, Attributes: &AttributesInput{Field: "attributes"}, Picture: "photoFileId",
			},
			{
				Name: "hide_variant", Op: "deleteProductVariant", Table: "variants", Param: "variantId", Danger: true,
				When: is("active"),
			},
		},
	}
}

func services() Resource {
	return Resource{
		Name: "services", Area: web.Catalog, Scope: "catalog", Component: "catalog",
		Address: "/services", Page: "/services", Title: "name", State: "status",
		List: "listServices", Get: "getService", Export: true, Import: true,
		Find:   &Find{Also: []string{"sku"}, By: []string{"externalId", "sku"}, Names: true},
		Create: "createService",
		Asks:   []string{"name", "sku", "price", "taxRateId", "priceModel", "durationMinutes", "categoryId"},
		Columns: []Column{
			text("name"), code("sku"), state("status"), word("priceModel"), amount("price"), amount("totalCost"),
			number("durationMinutes"), entry("taxRateId").Less(), entry("categoryId").Less(), text("source").Less(), code("externalId").Less(),
			moment("createdAt").Less(), moment("updatedAt").Less(),
		},
		Tables: []Table{
			{
				Name: "costs", Field: "costItems",
				Columns: []Column{text("label").Of("products", "productId"), qty("qty"), amount("unitCost"), amount("amount")},
				Sums:    []string{"amount"},
			},
		},
		Commands: []Command{
			{
				Name: "edit", Op: "updateService", Form: true,
			},
			{Name: "delete", Op: "deleteService", Danger: true, Ends: true},
		},
	}
}

func categories() Resource {
	return Resource{
		Name: "categories", Area: web.Catalog, Scope: "catalog", Component: "catalog",
		Address: "/categories", Page: "/categories", Title: "name",
		List: "listCategories", Get: "getCategory", Whole: true,
		Create: "createCategory",
		Asks:   []string{"name", "parentId", "prefix", "sortOrder", "color", "icon"},
		Columns: []Column{
			text("name"), entries("path"), number("productsCount"), number("sortOrder"), text("prefix").Less(), text("source").Less(),
			code("externalId").Less(), moment("createdAt").Less(), moment("updatedAt").Less(),
		},
		Facts: []Column{entry("parentId").Of("categories", "parentId"), entries("path")},
		Tables: []Table{
			{
				Name: "products", List: "listProducts", Where: "categoryId", All: "/products",
				Columns: []Column{text("name").Of("products", "id"), code("sku"), state("status"), amount("price")},
			},
		},
		Commands: []Command{
			{
				Name: "edit", Op: "updateCategory", Form: true,
			},
			{Name: "delete", Op: "deleteCategory", Danger: true, Ends: true},
		},
	}
}
