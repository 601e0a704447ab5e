package catalog

import (
	"fmt"
	"hash/fnv"
)

// stockDigits bounds the digits of an ETag behind the version.
const stockDigits = 1_000_000_000_000_000_000

// ResponseHeaders makes the ETag follow the stock that a read shows, which changes while the product does not.
func (p Product) ResponseHeaders() map[string]string {
	shown := []ProductVariant{{StockQty: p.StockQty, StockAvailable: p.StockAvailable, IsLowStock: p.IsLowStock}}
	if p.Variants != nil {
		shown = append(shown, *p.Variants...)
	}
	return etagWithStock(p.Version, shown...)
}

// ResponseHeaders does the same for a variant.
func (v ProductVariant) ResponseHeaders() map[string]string { return etagWithStock(v.Version, v) }

func etagWithStock(version int64, shown ...ProductVariant) map[string]string {
	digest, stocked := fnv.New64a(), false
	for _, v := range shown {
		if v.StockQty != nil {
			fmt.Fprintln(digest, *v.StockQty, *v.StockAvailable, *v.IsLowStock)
			stocked = true
		}
	}
	if !stocked {
		return nil
	}
	return map[string]string{"ETag": fmt.Sprintf(`"%d-%d"`, version, digest.Sum64()%stockDigits)}
}
