package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/services/platform/company"
)

func (a admin) tokens(v any, list ...company.Token) error {
	rows := make([][]any, len(list))
	for i, t := range list {
		rows[i] = []any{t.ID, t.Name, t.Prefix, t.Scopes, t.RateTier, t.ExpiresAt, t.LastUsedAt, t.RevokedAt}
	}
	return a.write(v, "ID NAME PREFIX SCOPES TIER EXPIRES LAST-USED REVOKED", rows...)
}

func (a admin) issued(t company.Issued, err error) error {
	if err != nil {
		return err
	}
	return a.write(t, "ID NAME SCOPES TIER EXPIRES TOKEN", []any{t.ID, t.Name, t.Scopes, t.RateTier, t.ExpiresAt, t.Text})
}

type tokenIssueCmd struct {
	ofCompany
	Name         string   `help:"Name of the integration that uses the token." required:""`
	Scopes       []string `help:"Scopes, such as orders:write,catalog:read." required:""`
	Lifetime     lifetime `help:"Lifetime, such as 365d or 36h, or never." default:"365d"`
	IPAllowlist  []string `name:"ip-allowlist" help:"Addresses or CIDR ranges that may use the token; any by default."`
	RateTier     string   `help:"standard, high or custom." default:"standard"`
	RateRefill   float64  `help:"Tier custom: sustained requests per second; 0 = unlimited."`
	RateBurst    int32    `help:"Tier custom: burst; 0 = unlimited."`
	RateInFlight int32    `help:"Tier custom: maximum number of concurrent requests of the company; 0 = unlimited."`
}

func (c *tokenIssueCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	in := company.NewToken{
		Name: c.Name, Scopes: c.Scopes, Lifetime: time.Duration(c.Lifetime), NeverExpires: c.Lifetime == never, IPAllowlist: c.IPAllowlist,
		RateTier:   c.RateTier,
		CustomRate: company.CustomRate{RefillMilli: int64(math.Round(c.RateRefill * 1000)), Burst: c.RateBurst, InFlight: c.RateInFlight},
	}
	return all.do(ctx, out, log, func(a admin) error {
		return a.issued(auditedWith(ctx, a, "issueToken", c, c.Company, a.IssueToken, in))
	})
}

// Check refuses what would stand for the default.
func (c *tokenIssueCmd) Check() error {
	if c.Lifetime <= 0 {
		return fmt.Errorf("--lifetime %s: must be above 0, such as 365d, 36h or 10s, or never", time.Duration(c.Lifetime))
	}
	return nil
}

// lifetime is a time in days, 365d, or as a Go duration; never is its own value.
type lifetime time.Duration

const never = lifetime(math.MaxInt64)

// UnmarshalText reads the flag.
func (l *lifetime) UnmarshalText(b []byte) error {
	text := string(b)
	if text == "never" {
		*l = never
		return nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			*l = lifetime(n) * lifetime(24*time.Hour)
			return nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a time: use days such as 365d, hours such as 36h, or never", text)
	}
	*l = lifetime(d)
	return nil
}

// MarshalText writes what [lifetime.UnmarshalText] reads.
func (l lifetime) MarshalText() ([]byte, error) {
	if l == never {
		return []byte("never"), nil
	}
	return []byte(time.Duration(l).String()), nil
}

type tokenListCmd struct {
	ofCompany
	Revoked bool `help:"Include revoked tokens."`
}

func (c *tokenListCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		list, err := a.Tokens(ctx, access.System(c.Company), c.Revoked)
		if err != nil {
			return err
		}
		return a.tokens(list, list...)
	})
}

type ofToken struct {
	ofCompany
	Token uuid.UUID `help:"Id of the token." required:"" placeholder:"UUID"`
}

type tokenRevokeCmd struct{ ofToken }

func (c *tokenRevokeCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		t, err := auditedWith(ctx, a, "revokeToken", c, c.Company, a.RevokeToken, c.Token)
		if err != nil {
			return err
		}
		return a.tokens(t, t)
	})
}

type tokenRotateCmd struct {
	ofToken
	Overlap lifetime `help:"How long the old secret stays valid: 0s to 7d." default:"24h"`
}

func (c *tokenRotateCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	in := company.Rotation{TokenID: c.Token, Overlap: time.Duration(c.Overlap)}
	return all.do(ctx, out, log, func(a admin) error {
		return a.issued(auditedWith(ctx, a, "rotateToken", c, c.Company, a.RotateToken, in))
	})
}

func (a admin) branches(v any, list ...company.Branch) error {
	rows := make([][]any, len(list))
	for i, b := range list {
		rows[i] = []any{b.ID, b.Name, b.IsActive, b.IsDefault}
	}
	return a.write(v, "ID NAME ACTIVE DEFAULT", rows...)
}

type branchCreateCmd struct {
	ofCompany
	Name string `help:"Name." required:""`
}

func (c *branchCreateCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		b, err := auditedWith(ctx, a, "createBranch", c, c.Company, a.CreateBranch, company.BranchFields{Name: c.Name})
		if err != nil {
			return err
		}
		return a.branches(b, b)
	})
}

type branchListCmd struct{ ofCompany }

func (c *branchListCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		list, err := a.Branches(ctx, access.System(c.Company))
		if err != nil {
			return err
		}
		return a.branches(list, list...)
	})
}

func (a admin) users(v any, list ...company.User) error {
	rows := make([][]any, len(list))
	for i, u := range list {
		rows[i] = []any{u.ID, u.Name, u.Email, u.Status, u.Role, u.IsTechnical}
	}
	return a.write(v, "ID NAME EMAIL STATUS ROLE TECHNICAL", rows...)
}

func (a admin) user(u company.User, err error) error {
	if err != nil {
		return err
	}
	return a.users(u, u)
}

type userInviteCmd struct {
	ofCompany
	Email string `help:"Email address." required:""`
	Name  string `help:"Name."`
	Role  string `help:"Role."`
}

func (c *userInviteCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	in := company.Invitation{Email: c.Email, Name: c.Name, Role: c.Role}
	return all.do(ctx, out, log, func(a admin) error {
		return a.user(auditedWith(ctx, a, "inviteUser", c, c.Company, a.InviteUser, in))
	})
}

type ofUser struct {
	ofCompany
	User uuid.UUID `help:"Id of the user." required:"" placeholder:"UUID"`
}

type userActivateCmd struct{ ofUser }

func (c *userActivateCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		return a.user(auditedWith(ctx, a, "activateUser", c, c.Company, a.ActivateUser, c.User))
	})
}

type userUpdateCmd struct {
	ofUser
	Name *string `help:"Name."`
	Role *string `help:"Role: owner, admin, developer and viewer may sign in to the console."`
}

func (c *userUpdateCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	var names []string
	if c.Name != nil {
		names = append(names, "name")
	}
	if c.Role != nil {
		names = append(names, "role")
	}
	if len(names) == 0 {
		return errors.New("nothing to change: give --name, --role or both")
	}
	patch := record.PatchOf(company.UserFields{Name: c.Name, Role: c.Role}, names...)
	return all.do(ctx, out, log, func(a admin) error {
		return a.user(auditedWith(ctx, a, "updateUser", c, c.Company, func(ctx context.Context, tx *db.Tx, by access.Caller, in record.Patch[company.UserFields]) (company.User, error) {
			return a.UpdateUser(ctx, tx, by, c.User, in)
		}, patch))
	})
}

type userBlockCmd struct{ ofUser }

func (c *userBlockCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		return a.user(auditedWith(ctx, a, "blockUser", c, c.Company, a.BlockUser, c.User))
	})
}

type userListCmd struct {
	ofCompany
	Technical bool `help:"Include the technical users of tokens."`
}

func (c *userListCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	return all.do(ctx, out, log, func(a admin) error {
		list, err := a.Users(ctx, access.System(c.Company), c.Technical)
		if err != nil {
			return err
		}
		return a.users(list, list...)
	})
}
