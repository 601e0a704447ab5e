package demodata

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/money"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/services/business/clients"
	"github.com/tradegrid/tradegrid/services/business/trade"
)

// client is a client as documents refer to it.
type client struct {
	id          uuid.UUID
	address     *uuid.UUID
	bike        *uuid.UUID
	name, phone string
	legal       bool
}

func phone(i int) string { return fmt.Sprintf(phoneRanges[i/1000%len(phoneRanges)], i%1000) }

// email is an address that leads nowhere.
func email(name string, i int) string {
	plain := strings.NewReplacer(" ", ".", "ü", "ue", "ß", "ss", "-", "").Replace(strings.ToLower(name))
	if i >= len(firstNames)*len(surnames) {
		plain = fmt.Sprintf("%s%d", plain, i/(len(firstNames)*len(surnames))+1)
	}
	return plain + "@example.com"
}

// person is the name of the i-th private client; no name comes twice among the first 480.
func person(i int) (first, last string) {
	return firstNames[i%len(firstNames)], surnames[(i+i/len(firstNames)*3)%len(surnames)]
}

// directories are the groups that clients belong to and the price lists.
type directories struct{ club, fleet, regulars, clubPrices, fleetPrices uuid.UUID }

func (s *shop) makeClients(ctx context.Context) error {
	var dirs directories
	err := s.setup.tx(ctx, "groups", func(ctx context.Context, tx *db.Tx) (err error) {
		dirs, err = s.makeGroups(ctx, tx)
		return err
	})
	s.prices = dirs
	for i := 0; i < s.scale.clients && err == nil; i += perTx {
		err = s.setup.tx(ctx, "clients", func(ctx context.Context, tx *db.Tx) error {
			for n := i; n < min(i+perTx, s.scale.clients); n++ {
				if err := s.makeClient(ctx, tx, n); err != nil {
					return err
				}
			}
			return nil
		})
		s.setup.tick()
	}
	if err != nil {
		return err
	}
	return s.setup.tx(ctx, "duplicate", s.mergeDuplicate)
}

// mergeDuplicate makes a client that gave another name on the phone, and merges it into the one that it is.
func (s *shop) mergeDuplicate(ctx context.Context, tx *db.Tx) error {
	in, _ := s.describe(0)
	in.DisplayName, in.FirstName, in.External = *in.LastName, nil, elsewhere("telephone", "caller-17", "list", "callers")
	made, err := s.setup.Clients.Create(ctx, tx, s.cfg.Office, in)
	if err != nil {
		return err
	}
	_, err = s.setup.Clients.Merge(ctx, tx, s.cfg.Office, made.ID, clients.MergeInput{IntoID: s.clients[0].id})
	return err
}

func (s *shop) makeGroups(ctx context.Context, tx *db.Tx) (d directories, err error) {
	for _, list := range []struct {
		to   *uuid.UUID
		name string
	}{{&d.clubPrices, "Club prices"}, {&d.fleetPrices, "Fleet prices"}} {
		made, err := s.setup.Clients.CreatePriceList(ctx, tx, s.cfg.Office, clients.PriceListFields{Name: list.name})
		if err != nil {
			return d, err
		}
		*list.to = made.ID
	}
	for _, group := range []struct {
		to   *uuid.UUID
		name string
		list *uuid.UUID
	}{{&d.regulars, "Regulars", nil}, {&d.club, "Cycling clubs", &d.clubPrices}, {&d.fleet, "Companies with a fleet", &d.fleetPrices}} {
		made, err := s.setup.Clients.CreateGroup(ctx, tx, s.cfg.Office, clients.GroupFields{Name: group.name, PriceListID: group.list})
		if err != nil {
			return d, err
		}
		*group.to = made.ID
	}
	return d, nil
}

func (s *shop) makeClient(ctx context.Context, tx *db.Tx, i int) error {
	in, c := s.describe(i)
	made, err := s.setup.Clients.Create(ctx, tx, s.cfg.Office, in)
	if err != nil {
		return err
	}
	c.id = made.ID
	if i%3 != 2 {
		if err := s.furnish(ctx, tx, &c, i); err != nil {
			return err
		}
	}
	s.clients = append(s.clients[:i], c)
	return nil
}

// describe is the card of the i-th client. Each fifth is a firm.
func (s *shop) describe(i int) (clients.Fields, client) {
	c := client{legal: i%5 == 4, phone: phone(100 + i)}
	in := clients.Fields{Card: clients.Card{Kind: "individual", Phone: &c.phone, Tags: []string{}, AssignedToID: &s.cfg.Staff[i%len(s.cfg.Staff)]}}
	in.External = elsewhere("newsletter", fmt.Sprint("subscriber-", 4001+i*7), "list", []string{"news", "offers"}[i%2])
	first, last := person(i)
	in.FirstName, in.LastName = &first, &last
	if c.legal {
		c.name = firms[i/5%len(firms)]
		if n := i / 5 / len(firms); n > 0 {
			c.name = fmt.Sprintf("%s %d", c.name, n+1)
		}
		in.Kind, in.CompanyName, in.Position, in.Tags = "legal", &c.name, new("Office manager"), []string{"fleet"}
		in.GroupID, in.CreditLimit, in.PaymentTermsDays = &s.prices.fleet, 50_000_00, new(int32(14))
		in.INN, in.ContractNumber = new(fmt.Sprintf("DE%09d", 999_000_000+i)), new(fmt.Sprintf("F-%04d", i+1))
		in.LegalAddress = new(street(i) + ", Berlin")
	} else {
		c.name = first + " " + last
		in.Birthday = new(jsontype.Date(time.Date(1958+i*7%47, time.Month(1+i%12), 1+i%28, 0, 0, 0, 0, time.UTC)))
		in.Consent = i%2 == 0
		switch i % 7 {
		case 0:
			in.GroupID, in.Tags = &s.prices.regulars, []string{"regular"}
		case 1:
			in.GroupID, in.Tags = &s.prices.club, []string{"club", "road"}
		case 3:
			in.PriceListID, in.Note = &s.prices.clubPrices, new("Trainer of the juniors; club prices without a membership")
		}
	}
	in.DisplayName, in.Email = c.name, new(email(c.name, i))
	return in, c
}

func street(i int) string { return fmt.Sprintf("%s %d", streets[i%len(streets)], 1+i*13%90) }

// furnish adds an address, a bicycle and what was talked about.
func (s *shop) furnish(ctx context.Context, tx *db.Tx, c *client, i int) error {
	label := "Home"
	if c.legal {
		label = "Office"
	}
	address, err := s.setup.Clients.CreateAddress(ctx, tx, s.cfg.Office, c.id, clients.AddressFields{
		Label: label, Text: street(i) + ", Berlin", City: new("Berlin"), PostalCode: new(fmt.Sprintf("%d", 10115+i*37%3000)), IsDefault: true,
	})
	if err != nil {
		return err
	}
	bikes := []string{"Harbour 7, blue", "Ridge 29", "Volta City", "Old steel racer", "Quay Single Speed, red"}
	bike, err := s.setup.Clients.CreateAsset(ctx, tx, s.cfg.Office, c.id, clients.AssetFields{
		Name: bikes[i%len(bikes)], SerialNumber: new(fmt.Sprintf("WTU%06d", 120_431+i*7919%800_000)), Note: new("Frame number is below the bottom bracket"),
	})
	if err != nil {
		return err
	}
	c.address, c.bike = &address.ID, &bike.ID
	talk := talkTable[i%len(talkTable)]
	_, err = s.setup.Clients.CreateInteraction(ctx, tx, s.cfg.Office, c.id, clients.InteractionInput{InteractionFields: clients.InteractionFields{
		Type: talk.kind, Direction: &talk.direction, Subject: &talk.subject, Body: &talk.body,
	}})
	return err
}

// makePrices sets what groups of clients pay.
func (s *shop) makePrices(ctx context.Context) error {
	return s.setup.tx(ctx, "prices", func(ctx context.Context, tx *db.Tx) error {
		var seen []uuid.UUID
		for _, g := range s.goods[:s.described] {
			if slices.Contains(seen, g.product) {
				continue
			}
			seen = append(seen, g.product)
			for _, list := range []struct {
				id      uuid.UUID
				percent money.Amount
			}{{s.prices.clubPrices, 93}, {s.prices.fleetPrices, 88}} {
				in := clients.PriceFields{Kind: trade.KindProduct, RefID: g.product, Price: g.price * list.percent / 100}
				if _, err := s.setup.Clients.SetPrice(ctx, tx, s.cfg.Office, list.id, in); err != nil {
					return err
				}
			}
		}
		in := clients.PriceFields{Kind: trade.KindService, RefID: s.jobs[1].id, Price: s.jobs[1].price * 85 / 100}
		_, err := s.setup.Clients.SetPrice(ctx, tx, s.cfg.Office, s.prices.fleetPrices, in)
		return err
	})
}

// Names are invented: first names of Germany with surnames that nobody has.
//
//nolint:gochecknoglobals // constants
var (
	firstNames = []string{
		"Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hannes", "Ida", "Jakob", "Klara", "Leon", "Marie", "Noah", "Olga", "Peter",
		"Rosa", "Simon", "Tilda", "Ulrich", "Vera", "Willi", "Yara", "Zeno",
	}
	surnames = []string{
		"Ashdene", "Birkholt", "Corvane", "Dellmark", "Eastergard", "Fennwick", "Grauberg", "Hollmere", "Isendorn", "Jostrand", "Kaltwasen",
		"Lindmoor", "Marquell", "Nordhave", "Ostrander-Wies", "Pellworth", "Quendt", "Ravenstedt", "Sandhagen", "Tannmark",
	}
	firms = []string{
		"Parcel Pigeon Couriers", "Bakery Morgenlicht", "Hotel Speichenhof", "City Tours on Wheels", "Architects Ostflügel", "Green Street Delivery",
		"Co-working Kontor 9", "Day Nursery Sonnenrad", "Physio am Kanal", "Print Shop Letterpress",
	}
	streets = []string{"Lindenweg", "Kanalstraße", "Am Speicher", "Gartenring", "Mühlgasse", "Uferpromenade", "Schulstraße", "Am Rondell"}
	// Numbers that German networks keep free for films and books.
	phoneRanges = []string{"+49 30 23125 %03d", "+49 40 66969 %03d", "+49 221 4710 %03d", "+49 89 99998 %03d", "+49 69 90009 %03d"}
)

//nolint:gochecknoglobals // constants
var talkTable = []struct{ kind, direction, subject, body string }{
	{"call", "in", "Noise from the bottom bracket", "Creaks under load. Offered a safety check next week."},
	{"email", "out", "Your bicycle is ready", "Full service is done; the chain was worn and was replaced."},
	{"meeting", "in", "Test ride of the Volta City", "Liked size M. Wants to think about the battery."},
	{"message", "in", "Winter tyres", "Asked for studded tyres in 28 inches."},
	{"call", "out", "Reminder of the service", "Will come by after the holidays."},
}
