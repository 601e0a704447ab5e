package admin

import (
	"context"
	"io"
	"log/slog"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

type stockCheckCmd struct {
	Company tenant.ID `help:"Company." required:"" placeholder:"UUID"`
}

func (c *stockCheckCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		if _, err := a.Get(ctx, c.Company); err != nil {
			return err
		}
		found, err := a.all.NewPlatform(nil, log).CheckStock(ctx, c.Company)
		return a.differences(found, err)
	})
}

type stockRepairCmd struct {
	Company tenant.ID `help:"Company." required:"" placeholder:"UUID"`
}

func (c *stockRepairCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		if _, err := a.Get(ctx, c.Company); err != nil {
			return err
		}
		return a.differences(a.all.NewPlatform(nil, log).RepairStock(ctx, c.Company, a.recorded(c)))
	})
}

func (a admin) differences(found []warehouse.Difference, err error) error {
	if err != nil {
		return err
	}
	rows := make([][]any, len(found))
	for i, d := range found {
		rows[i] = []any{d.WarehouseID, d.ProductID, d.VariantID, d.Field, d.Stored, d.Expected}
	}
	return a.write(found, "WAREHOUSE PRODUCT VARIANT FIELD STORED EXPECTED", rows...)
}
