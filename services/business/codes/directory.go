package codes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/batchloader"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// maxEntries is how many entries of its own a company may have in a directory: reports have a row for each.
const maxEntries = 200

// Entry is an entry of a directory: built in, or of a company.
type Entry struct {
	ID        uuid.UUID  `json:"id" format:"uuid"`
	CompanyID *tenant.ID `json:"companyId" format:"uuid" doc:"null = built in"`
	Code      string     `json:"code" doc:"what documents name it by"`
	Name      string     `json:"name"`
	IsActive  bool       `json:"isActive"`
}

// Record is an entry of a company; see docs/reference/rules.md#channels-and-delivery-methods.
type Record struct {
	record.Key
	Fields
	record.Meta
}

// Fields are the fields that API clients set.
type Fields struct {
	Code     string `json:"code" required:"true" pattern:"^[a-z0-9_-]{1,64}$" patternDescription:"1 to 64 of a-z, 0-9, _ and -" doc:"what documents name it by; it stays for good"`
	Name     string `json:"name" required:"true" minLength:"1" maxLength:"255"`
	IsActive bool   `json:"isActive" default:"true" doc:"false = no new use; documents that have it keep it"`
}

// Directory is what the entries of one kind have in common.
type Directory struct {
	entity, path, noun           string
	table                        *resource.Table[Record]
	builtIn                      []Entry
	sqlSelect, sqlCount, sqlCode string
}

// The directories, with the codes of the specification.
var (
	channels = &Directory{
		entity: "CHANNEL", path: "/channels", noun: "channel",
		table:     resource.Of[Record]("channels", "CHANNEL").OnConstraint("channels_code_key", taken("CHANNEL")),
		builtIn:   []Entry{builtIn(1, "manual", "Entered by hand"), builtIn(2, "public_link", "Public link"), builtIn(3, "phone", "Phone")},
		sqlSelect: `SELECT id, company_id, code, name, is_active FROM channels WHERE company_id = $1 ORDER BY code`,
		sqlCount:  `SELECT count(*) FROM channels WHERE company_id = $1`,
		sqlCode:   `SELECT code FROM channels WHERE company_id = $1 AND is_active AND ($2::TEXT IS NULL OR code = $2::TEXT) ORDER BY code`,
	}
	methods = &Directory{
		entity: "DELIVERY_METHOD", path: "/delivery-methods", noun: "method of delivery",
		table:     resource.Of[Record]("delivery_methods", "DELIVERY_METHOD").OnConstraint("delivery_methods_code_key", taken("DELIVERY_METHOD")),
		builtIn:   []Entry{builtIn(1, "pickup", "Pickup"), builtIn(2, "courier", "Courier"), builtIn(3, "post", "Post")},
		sqlSelect: `SELECT id, company_id, code, name, is_active FROM delivery_methods WHERE company_id = $1 ORDER BY code`,
		sqlCount:  `SELECT count(*) FROM delivery_methods WHERE company_id = $1`,
		sqlCode:   `SELECT code FROM delivery_methods WHERE company_id = $1 AND is_active AND ($2::TEXT IS NULL OR code = $2::TEXT) ORDER BY code`,
	}
)

// builtIn returns an entry whose id is a UUIDv7 of the year 1970, which no record can have.
func builtIn(n byte, code, name string) Entry {
	id := uuid.MustParse("00000000-0000-7000-8000-000000000000")
	id[15] = n
	return Entry{ID: id, Code: code, Name: name, IsActive: true}
}

func taken(entity string) *apierr.Error {
	return apierr.StateConflict(entity+"_CODE_TAKEN", "code: another entry, built-in ones included, has this code; choose another code")
}

func (d *Directory) errTaken() error { return taken(d.entity) }

// Channel checks that a field names a channel that can be chosen, unless it did before; see [document.Codes].
func Channel(company tenant.ID, field string, before, now *string) []batchloader.Read {
	return channels.check(company, field, before, now)
}

// DeliveryMethod is [Channel] of methods of delivery.
func DeliveryMethod(company tenant.ID, field string, before, now *string) []batchloader.Read {
	return methods.check(company, field, before, now)
}

// check costs nothing for a built-in code, which nearly all documents have.
func (d *Directory) check(company tenant.ID, field string, before, now *string) []batchloader.Read {
	if now == nil || record.Same(before, now) || slices.ContainsFunc(d.builtIn, func(e Entry) bool { return e.Code == *now }) {
		return nil
	}
	return []batchloader.Read{func(ctx context.Context, q db.Querier) error {
		known, err := db.Collect(ctx, q, "look up a code", pgx.RowTo[string], d.sqlCode, company, now)
		if err != nil || len(known) > 0 {
			return err
		}
		return d.unknown(ctx, q, company, field, *now)
	}}
}

// shownCodes bounds the codes that an error lists.
const shownCodes = 20

// unknown is the error for a code that cannot be chosen.
func (d *Directory) unknown(ctx context.Context, q db.Querier, company tenant.ID, field, code string) error {
	own, err := db.Collect(ctx, q, "list codes", pgx.RowTo[string], d.sqlCode, company, nil)
	if err != nil {
		return err
	}
	var codes []string
	for _, e := range d.builtIn {
		codes = append(codes, e.Code)
	}
	codes = append(codes, own...)
	hint := "use one of " + strings.Join(codes[:min(len(codes), shownCodes)], ", ")
	if nearest := apierr.Nearest(code, codes); nearest != "" {
		hint = fmt.Sprintf("did you mean %q? U%s", nearest, hint[1:])
	}
	if len(codes) > shownCodes {
		hint += ", …"
	}
	return apierr.InvalidField(field, apierr.Enum, "%q is not an active %s of the company; %s, or add it with POST %s", code, d.noun, hint, d.path)
}
