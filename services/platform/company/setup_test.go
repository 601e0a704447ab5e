package company

import (
	"cmp"
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/pkg/testkit/dbtest"
	"github.com/tradegrid/tradegrid/services/business/warehouse"
)

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// office is a service whose changes are made one by one, each in a transaction of its own.
type office struct{ *Service }

func newService(d *db.DB) office {
	return office{New(Config{DB: d, Warehouses: warehouse.New(warehouse.Config{DB: d}), Access: apitest.Registry()})}
}

func setup(t *testing.T) (office, *clock) {
	t.Helper()
	c := &clock{at: time.Date(2026, 11, 20, 9, 30, 0, 123_456_000, time.UTC)}
	return newService(dbtest.Open(t).WithClock(c.now)), c
}

func run[T any](ctx context.Context, o office, change func(context.Context, *db.Tx) (T, error)) (v T, err error) {
	err = o.cfg.DB.RunTx(ctx, "test", func(ctx context.Context, tx *db.Tx) (err error) {
		v, err = change(ctx, tx)
		return err
	})
	return v, err
}

// runAs is [run] for a change of a company by an actor; uuid.Nil is the system.
func runAs[F, T any](
	ctx context.Context, o office, company tenant.ID, actor uuid.UUID, change func(context.Context, *db.Tx, access.Caller, F) (T, error), in F,
) (T, error) {
	by := access.System(company)
	by.Actor = actor
	return run(ctx, o, func(ctx context.Context, tx *db.Tx) (T, error) { return change(ctx, tx, by, in) })
}

func (o office) Authenticate(ctx context.Context, bearer string, ip netip.Addr) (*access.Principal, error) {
	return o.Service.Authenticate(ctx, bearer, ip, true)
}

func (o office) Create(ctx context.Context, in NewCompany) (Company, error) {
	return run(ctx, o, func(ctx context.Context, tx *db.Tx) (Company, error) { return o.Service.Create(ctx, tx, in) })
}

func (o office) Archive(ctx context.Context, id tenant.ID) (Company, error) {
	return run(ctx, o, func(ctx context.Context, tx *db.Tx) (Company, error) {
		return o.Service.Archive(ctx, tx, access.System(id))
	})
}

func (o office) Unarchive(ctx context.Context, id tenant.ID) (Company, error) {
	return run(ctx, o, func(ctx context.Context, tx *db.Tx) (Company, error) {
		return o.Service.Unarchive(ctx, tx, access.System(id))
	})
}

func (o office) SetPlan(ctx context.Context, id tenant.ID, plan string) (Company, error) {
	return runAs(ctx, o, id, uuid.Nil, o.Service.SetPlan, plan)
}

func (o office) Configure(ctx context.Context, id tenant.ID, in Settings, names ...string) (Company, error) {
	return runAs(ctx, o, id, uuid.Nil, o.Service.Configure, record.PatchOf(in, names...))
}

func (o office) SetComponent(ctx context.Context, id tenant.ID, alias string, on bool) (Company, error) {
	return runAs(ctx, o, id, uuid.Nil, o.Service.SetComponent, Switch{alias, on})
}

func (o office) CreateBranch(ctx context.Context, id tenant.ID, name string) (Branch, error) {
	return runAs(ctx, o, id, uuid.Nil, o.Service.CreateBranch, BranchFields{Name: name})
}

func (o office) SetBranchActive(ctx context.Context, company tenant.ID, id uuid.UUID, active bool) (Branch, error) {
	return run(ctx, o, func(ctx context.Context, tx *db.Tx) (Branch, error) {
		return o.Service.SetBranchActive(ctx, tx, access.System(company), id, active)
	})
}

func (o office) Branches(ctx context.Context, id tenant.ID) ([]Branch, error) {
	return o.Service.Branches(ctx, access.System(id))
}

func (o office) InviteUser(ctx context.Context, company tenant.ID, by uuid.UUID, in Invitation) (User, error) {
	return runAs(ctx, o, company, by, o.Service.InviteUser, in)
}

func (o office) ActivateUser(ctx context.Context, company tenant.ID, id, by uuid.UUID) (User, error) {
	return runAs(ctx, o, company, by, o.Service.ActivateUser, id)
}

func (o office) UpdateUser(ctx context.Context, company tenant.ID, id uuid.UUID, in UserFields, names ...string) (User, error) {
	return run(ctx, o, func(ctx context.Context, tx *db.Tx) (User, error) {
		return o.Service.UpdateUser(ctx, tx, access.System(company), id, record.PatchOf(in, names...))
	})
}

func (o office) UpdatePerson(ctx context.Context, company tenant.ID, who Editor, id uuid.UUID, in UserFields, names ...string) (User, error) {
	return run(ctx, o, func(ctx context.Context, tx *db.Tx) (User, error) {
		return o.Service.UpdatePerson(ctx, tx, access.System(company), who, id, record.PatchOf(in, names...))
	})
}

func (o office) BlockUser(ctx context.Context, company tenant.ID, id, by uuid.UUID) (User, error) {
	return runAs(ctx, o, company, by, o.Service.BlockUser, id)
}

func (o office) BlockPerson(ctx context.Context, company tenant.ID, who Editor, id uuid.UUID) (User, error) {
	return run(ctx, o, func(ctx context.Context, tx *db.Tx) (User, error) {
		return o.Service.BlockPerson(ctx, tx, access.System(company), who, id)
	})
}

func (o office) Users(ctx context.Context, id tenant.ID, withTechnical bool) ([]User, error) {
	return o.Service.Users(ctx, access.System(id), withTechnical)
}

func (o office) IssueToken(ctx context.Context, id tenant.ID, in NewToken) (Issued, error) {
	return runAs(ctx, o, id, uuid.Nil, o.Service.IssueToken, in)
}

func (o office) RevokeToken(ctx context.Context, company tenant.ID, id uuid.UUID) (Token, error) {
	return runAs(ctx, o, company, uuid.Nil, o.Service.RevokeToken, id)
}

func (o office) RotateToken(ctx context.Context, company tenant.ID, id uuid.UUID, overlap time.Duration) (Issued, error) {
	return runAs(ctx, o, company, uuid.Nil, o.Service.RotateToken, Rotation{id, overlap})
}

func (o office) Tokens(ctx context.Context, id tenant.ID, withRevoked bool) ([]Token, error) {
	return o.Service.Tokens(ctx, access.System(id), withRevoked)
}

func (o office) Token(ctx context.Context, company tenant.ID, id uuid.UUID) (Token, error) {
	return o.Service.Token(ctx, access.System(company), id)
}

func create(t *testing.T, s office, in NewCompany) Company {
	t.Helper()
	in.Name = cmp.Or(in.Name, "Nordic Tools")
	c, err := s.Create(t.Context(), in)
	require.NoError(t, err)
	return c
}
