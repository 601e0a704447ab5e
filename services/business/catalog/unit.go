package catalog

import (
	"context"
	"slices"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/kit/translation"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const unitPieces = "pcs"

// Unit is a unit of measure: built in, or of a company.
type Unit struct {
	ID        uuid.UUID         `json:"id" format:"uuid"`
	CompanyID *tenant.ID        `json:"companyId" format:"uuid" doc:"null = built in"`
	Code      string            `json:"code"`
	Name      string            `json:"name"`
	NameI18n  translation.Names `json:"nameI18n"`
	ShortName string            `json:"shortName"`
	Precision int16             `json:"precision" minimum:"0" maximum:"3" doc:"decimal places of quantities"`
	IsActive  bool              `json:"isActive"`
}

// UnitRecord is a unit of a company.
type UnitRecord struct {
	record.Key
	UnitFields
	record.Meta
}

// UnitFields are the fields that operators set.
type UnitFields struct {
	Code      string            `json:"code" required:"true" pattern:"^[a-z0-9_]{1,16}$" patternDescription:"1 to 16 of a-z, 0-9 and _"`
	Name      string            `json:"name" required:"true" minLength:"1" maxLength:"255"`
	NameI18n  translation.Names `json:"nameI18n" maxProperties:"30"`
	ShortName string            `json:"shortName" required:"true" minLength:"1" maxLength:"16"`
	Precision int16             `json:"precision" minimum:"0" maximum:"3" db:"decimals"`
	IsActive  bool              `json:"isActive" default:"true" doc:"false = no new use; records that have it keep it"`
}

var (
	errUnitCode      = apierr.StateConflict("UNIT_CODE_TAKEN", "code: another unit has this code; choose another code")
	errUnitCodeFixed = apierr.StateConflict("UNIT_CODE_FIXED", "code: a unit keeps its code, because records are stored with it; create another unit")
	units            = resource.Of[UnitRecord]("units", "UNIT").OnConstraint("units_code_key", errUnitCode)
)

// builtInUnits are the same for every company; their ids never change.
var builtInUnits = []Unit{ //nolint:gochecknoglobals // a constant table
	builtIn(1, unitPieces, "Piece", "pcs", 0),
	builtIn(2, "kg", "Kilogram", "kg", 3),
	builtIn(3, "g", "Gram", "g", 0),
	builtIn(4, "l", "Litre", "l", 3),
	builtIn(5, "ml", "Millilitre", "ml", 0),
	builtIn(6, "m", "Metre", "m", 3),
	builtIn(7, "m2", "Square metre", "m²", 3),
	builtIn(8, "h", "Hour", "h", 2),
	builtIn(9, "min", "Minute", "min", 0),
	builtIn(10, "pack", "Pack", "pack", 0),
}

// builtIn returns a unit whose id is a UUIDv7 of the year 1970, which no record can have.
func builtIn(n byte, code, name, short string, precision int16) Unit {
	id := uuid.MustParse("00000000-0000-7000-8000-000000000000")
	id[15] = n
	return Unit{ID: id, Code: code, Name: name, NameI18n: translation.Names{}, ShortName: short, Precision: precision, IsActive: true}
}

const sqlSelectUnits = `SELECT id, company_id, code, name, name_i18n, short_name, decimals, is_active FROM units WHERE company_id = $1 ORDER BY code`

// Units returns the built-in units, followed by those of the company sorted by code.
func (s *Service) Units(ctx context.Context, by access.Caller) ([]Unit, error) {
	own, err := db.Collect(ctx, s.cfg.DB, "select units", pgx.RowToStructByPos[Unit], sqlSelectUnits, by.Company)
	if err != nil {
		return nil, err
	}
	return slices.Concat(builtInUnits, own), nil
}

// CreateUnit creates a unit of the company. A code in use is 409 UNIT_CODE_TAKEN.
func (s *Service) CreateUnit(ctx context.Context, tx *db.Tx, by access.Caller, in UnitFields) (UnitRecord, error) {
	v := UnitRecord{UnitFields: in}
	if err := v.check(); err != nil {
		return UnitRecord{}, err
	}
	return units.Create(ctx, tx, by, v)
}

// UpdateUnit changes a unit of the company; records that have it keep its code, which therefore does not change.
func (s *Service) UpdateUnit(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID, in record.Patch[UnitFields]) (UnitRecord, error) {
	return units.Change(ctx, tx, by, id, func(before UnitRecord, v *UnitRecord) error {
		in.Apply(&v.UnitFields)
		if v.Code != before.Code {
			return errUnitCodeFixed
		}
		return v.check()
	})
}

func (f *UnitFields) check() error {
	var faults apierr.Fields
	if err := faults.Err(); err != nil {
		return err
	}
	if slices.ContainsFunc(builtInUnits, func(b Unit) bool { return b.Code == f.Code }) {
		return errUnitCode
	}
	return nil
}
