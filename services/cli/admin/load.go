package admin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/catalog"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/platform/company"
	"github.com/tradegrid/tradegrid/services/roles"
)

// loadDataCmd makes test companies for load runs.
type loadDataCmd struct {
	Companies int    `help:"Number of test companies." default:"20"`
	Products  int    `help:"Products per company, half of them with stock." default:"50"`
	Clients   int    `help:"Clients per company." default:"50"`
	Out       string `help:"File to write the ids and tokens of the companies to; readable by its owner only." required:"" type:"path" placeholder:"FILE"`
	Archive   bool   `help:"Archive the companies in the file, instead of creating new ones."`
}

// LoadCompany is one company in the file; the load scripts read it.
type LoadCompany struct {
	ID           tenant.ID `json:"id"`
	Name         string    `json:"name"`
	Token        string    `json:"token"`        // all scopes, no rate limit
	LimitedToken string    `json:"limitedToken"` // all scopes, standard rate
}

const (
	maxLoadCompanies = 10_000
	maxLoadRecords   = 5_000
	loadStock        = 1_000_000 // pieces of each product: a load run should not sell out
)

// Check names everything that is wrong at once.
func (c *loadDataCmd) Check() error {
	var errs []error
	for _, n := range []struct {
		flag        string
		value, most int
	}{{"--companies", c.Companies, maxLoadCompanies}, {"--products", c.Products, maxLoadRecords}, {"--clients", c.Clients, maxLoadRecords}} {
		if n.value < 1 || n.value > n.most {
			errs = append(errs, fmt.Errorf("%s %d must be between 1 and %d", n.flag, n.value, n.most))
		}
	}
	return errors.Join(errs...)
}

func (c *loadDataCmd) Run(ctx context.Context, out io.Writer, log *slog.Logger, all *Cmd) error {
	cfg := all.DatabaseConfig()
	cfg.MaxConns, cfg.Log = 4, log
	d, err := db.Open(ctx, cfg)
	if err != nil {
		return err
	}
	defer d.Close()
	maker := loadMaker{cmd: c, domains: roles.NewDomains(d, roles.DomainConfig{Policy: all.Policy, Log: log, Cell: all.Cell})}
	if c.Archive {
		return maker.archive(ctx, out)
	}
	// Nothing but the file knows which companies an earlier run made.
	if _, err := os.Stat(c.Out); err == nil {
		return fmt.Errorf("--out %s exists: close its companies with --archive and move it away, or give another name", c.Out)
	}
	made := make([]LoadCompany, 0, c.Companies)
	for i := range c.Companies {
		one, err := maker.company(ctx, i)
		if !one.ID.IsZero() {
			made = append(made, one) // half made it can still be archived
		}
		if err != nil {
			return errors.Join(fmt.Errorf("make company %d: %w", i+1, flagFault(err)), c.write(made))
		}
	}
	if err := c.write(made); err != nil {
		return err
	}
	fmt.Fprintf(out, "Made %d companies with %d products and %d clients each; their tokens are in %s.\n", len(made), c.Products, c.Clients, c.Out)
	return nil
}

// write replaces the file as a whole, so that no load script reads half of it.
func (c *loadDataCmd) write(made []LoadCompany) error {
	raw, err := json.MarshalIndent(map[string]any{"companies": made}, "", "  ")
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.Out), 0o750); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	part := c.Out + ".part"
	if err := os.WriteFile(part, raw, 0o600); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	if err := os.Rename(part, c.Out); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// loadMaker fills companies.
type loadMaker struct {
	cmd     *loadDataCmd
	domains *roles.Domains
}

// archive closes the companies of the file. What they stored stays.
func (m loadMaker) archive(ctx context.Context, out io.Writer) error {
	raw, err := os.ReadFile(m.cmd.Out)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	var file struct {
		Companies []LoadCompany `json:"companies"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		return fmt.Errorf("--out %s: %w", m.cmd.Out, err)
	}
	for _, co := range file.Companies {
		if _, err := roles.Change(ctx, m.domains.DB, "company.archive", co.ID, m.domains.Company.Archive); err != nil {
			return fmt.Errorf("archive company %s: %w", co.ID, flagFault(err))
		}
	}
	fmt.Fprintf(out, "Archived %d companies of %s.\n", len(file.Companies), m.cmd.Out)
	return nil
}

func (m loadMaker) company(ctx context.Context, i int) (LoadCompany, error) {
	made := LoadCompany{Name: fmt.Sprintf("Load %04d", i+1)}
	co, err := m.domains.CreateCompany(ctx, company.NewCompany{Name: made.Name, Plan: "enterprise", IsTest: true, Currency: "EUR", CountryPrefix: "+49"})
	if err != nil {
		return made, err
	}
	made.ID = co.ID
	for _, t := range []struct {
		to   *string
		name string
		tier string
	}{{&made.Token, "load", company.TierCustom}, {&made.LimitedToken, "load, standard rate", company.TierStandard}} {
		in := company.NewToken{Name: t.name, Scopes: []string{"*:write"}, RateTier: t.tier}
		issued, err := roles.ChangeWith(ctx, m.domains.DB, "company.token.issue", co.ID, m.domains.Company.IssueToken, in)
		if err != nil {
			return made, err
		}
		*t.to = issued.Text
	}
	return made, m.fill(ctx, co.ID)
}

// fill makes catalog, stock and clients; one transaction each, because a company may have thousands of them.
func (m loadMaker) fill(ctx context.Context, id tenant.ID) error {
	by := roles.DemoCaller(id)
	run := func(name string, fn func(context.Context, *db.Tx) error) error {
		return m.domains.DB.RunTx(ctx, "load."+name, fn)
	}
	var category catalog.Category
	err := run("category", func(ctx context.Context, tx *db.Tx) (err error) {
		category, err = m.domains.Catalog.CreateCategory(ctx, tx, by, catalog.CategoryFields{CategoryCard: catalog.CategoryCard{Name: "Goods", Icon: "folder"}})
		return err
	})
	if err != nil {
		return err
	}
	for i := range m.cmd.Products {
		if err := m.product(ctx, by, i, category.ID); err != nil {
			return err
		}
	}
	for i := range m.cmd.Clients {
		if err := run("client", func(ctx context.Context, tx *db.Tx) error {
			_, err := m.domains.Clients.Create(ctx, tx, by, loadClient(i))
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

func (m loadMaker) product(ctx context.Context, by access.Caller, i int, category uuid.UUID) error {
	in := loadProduct(i)
	in.CategoryID = &category
	return m.domains.DB.RunTx(ctx, "load.product", func(ctx context.Context, tx *db.Tx) error {
		p, err := m.domains.Catalog.CreateProduct(ctx, tx, by, in)
		if err != nil || !in.HasStock {
			return err
		}
		return m.domains.SetStock(ctx, tx, by.Company, p.ID, loadStock, "load test")
	})
}

// loadProduct is the i-th product: prices spread as in a shop, every second one with stock.
func loadProduct(i int) catalog.ProductInput {
	kinds := []string{"Espresso beans", "Filter papers", "Hand grinder", "Milk jug", "Cup, white", "Tea, loose", "Kettle", "Scale", "Cleaning tabs", "Gift card"}
	brands := []string{"Nord", "Alba", "Kanto", "Vela"}
	price := money.Amount(190 + (i*i*37+i*410)%19_800)
	brand := brands[i%len(brands)]
	text := fmt.Sprintf("%s, item %d of the %s range.", kinds[i%len(kinds)], i+1, brand)
	return catalog.ProductInput{ProductFields: catalog.ProductFields{
		Name: fmt.Sprintf("%s %d", kinds[i%len(kinds)], i+1), Description: &text, Brand: &brand, Price: price, Cost: price * 6 / 10, HasStock: i%2 == 0,
	}}
}

func loadClient(i int) clients.Fields {
	first := []string{"Erika", "Max", "Anna", "Jonas", "Lea", "Paul", "Mia", "Ben"}[i%8]
	last := []string{"Example", "Sample", "Specimen", "Muster", "Tester"}[i%5]
	phone, email := fmt.Sprintf("+49 30 555%04d", i%10_000), fmt.Sprintf("%s.%s.%d@example.com", first, last, i+1)
	return clients.Fields{Card: clients.Card{Kind: "individual", DisplayName: fmt.Sprintf("%s %s %d", first, last, i+1), Phone: &phone, Email: &email}}
}
