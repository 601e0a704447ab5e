package imports

import (
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/spreadsheet"
	"github.com/tradegrid/tradegrid/pkg/store/list"
)

// stocks is the resource whose rows are adjustments of stock: they set the quantity of a product in a warehouse.
const stocks = "stocks"

// stockKeys are columns of the list of stock that name what a row is about.
var stockKeys = []string{"productId", "variantId", "productSku", "variantSku", "sku", "warehouseName"}

// fieldName is the field of a body that a column is stored in.
func (t *table) fieldName(column string) string {
	if t.source.Resource != stocks {
		return column
	}
	switch column {
	case "qty":
		return "targetQty"
	case "productId", "variantId", "sku": // see stock
		return ""
	}
	return column
}

// skuColumn is the column that SKUs are in: an own one, or that of exports.
func (t *table) skuColumn() string {
	if t.has("sku") {
		return "sku"
	}
	return "productSku"
}

// sku is that of the variant of a row, or of its product.
func (t *table) sku(cells []spreadsheet.Value) string {
	if own := t.text(cells, "sku"); own != "" {
		return own
	}
	if of := t.text(cells, "variantSku"); of != "" {
		return of
	}
	return t.text(cells, "productSku")
}

// stockOf identifies the stock of a row.
func (t *table) stockOf(cells []spreadsheet.Value) string {
	at := strings.ToLower(t.text(cells, "warehouseId"))
	if name := t.text(cells, "warehouseName"); at == "" {
		at = name
		if id := t.warehouses[name]; id != uuid.Nil {
			at = id.String()
		}
	}
	if t.key == keySKU {
		return list.Key(t.sku(cells)) + "\x00" + at
	}
	return t.text(cells, "productId") + "\x00" + t.text(cells, "variantId") + "\x00" + at
}

// stock adds to the body of a row what it is about, and the reason of the movement.
func (t *table) stock(cells []spreadsheet.Value, faults *apierr.Fields) {
	add := func(field, text string) {
		if raw, wrong := quoted(text); text != "" && wrong == nil {
			t.put(field, raw)
		}
	}
	if t.key == keySKU {
		add("sku", t.sku(cells))
	} else {
		add("productId", t.text(cells, "productId"))
		add("variantId", t.text(cells, "variantId"))
	}
	if name := t.text(cells, "warehouseName"); name != "" && t.text(cells, "warehouseId") == "" {
		switch id, known := t.warehouses[name]; {
		case !known:
			faults.Add("warehouseName", apierr.Enum, "is not the name of a warehouse; use that of one, or warehouseId")
		case id == uuid.Nil:
			faults.Add("warehouseName", apierr.Conflict, "is the name of several warehouses; use warehouseId")
		default:
			add("warehouseId", id.String())
		}
	}
	if t.text(cells, "reason") == "" {
		add("reason", t.reason)
	}
}
