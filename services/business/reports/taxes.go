package reports

import (
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// OfTax is the tax rate of a row.
type OfTax struct {
	TaxRateID *uuid.UUID     `json:"taxRateId" format:"uuid" nullable:"true" doc:"null without groupBy=tax, and for lines without tax; documents with several rates count in the row of each"`
	TaxRate   *money.Percent `json:"taxRate" nullable:"true" doc:"percent that the lines have"`
}

// tax is [row.text] for a key that is the id of a rate and its basis points.
func (r *row) tax(key int) OfTax {
	text, points, ok := strings.Cut(r.keys[key], " ")
	id, idErr := uuid.Parse(text)
	bp, err := strconv.ParseInt(points, 10, 32)
	if !ok || idErr != nil || err != nil {
		return OfTax{} // none
	}
	return OfTax{&id, new(money.Percent(bp))}
}
