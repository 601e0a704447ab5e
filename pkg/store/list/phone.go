package list

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/kit/phone"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

// Phone adds the condition that a column of the table of the list has a phone number, in any spelling, as a company with the calling code
// writes it; "" adds none. An index of the digits finds those of its spellings, and which texts with them mean the number is decided
// here: that depends on the country and the extension. See docs/reference/rules.md#phone-numbers.
func (q *Query) Phone(ctx context.Context, d db.Querier, table db.Table, column, callingCode, number string) error {
	if number == "" {
		return nil
	}
	home := phone.CountryOf(callingCode)
	digits := home.Spellings(number)
	column = "r." + column
	from := " FROM " + string(table) + " AS r WHERE " + column + " IS NOT NULL AND regexp_replace(" + column + ", '[^0-9]', '', 'g') = ANY("
	texts, err := db.Collect(ctx, d, "select spellings of a phone number", pgx.RowTo[string],
		"SELECT DISTINCT "+column+from+"$2::TEXT[]) AND r.company_id = $1", q.company, digits)
	if err != nil {
		return err
	}
	key := home.Key(number)
	texts = slices.DeleteFunc(texts, func(text string) bool { return home.Key(text) != key })
	// Few have the number. As a condition of the list, PostgreSQL takes them for many, and looks for them along its order (BenchmarkFind).
	q.Reading(table).WhereFound(number, "id = ANY(ARRAY(SELECT r.id"+from+"?::TEXT[]) AND "+column+" = ANY(?::TEXT[]) AND r.company_id = ?))", digits, texts, q.company)
	return nil
}
