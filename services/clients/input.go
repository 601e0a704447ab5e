package clients

import (
	"slices"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/money"
	"github.com/tradegrid/tradegrid/pkg/record"
	"github.com/tradegrid/tradegrid/pkg/wire"
)

// ClientInput is the body of a new client. An empty optional text counts as null.
type ClientInput struct {
	Kind             string        `json:"kind" enum:"individual,legal"`
	DisplayName      string        `json:"displayName" minLength:"1" maxLength:"255"`
	FirstName        *string       `json:"firstName,omitempty" nullable:"true" maxLength:"255"`
	LastName         *string       `json:"lastName,omitempty" nullable:"true" maxLength:"255"`
	MiddleName       *string       `json:"middleName,omitempty" nullable:"true" maxLength:"255"`
	CompanyName      *string       `json:"companyName,omitempty" nullable:"true" maxLength:"255"`
	Position         *string       `json:"position,omitempty" nullable:"true" maxLength:"255"`
	Phone            *string       `json:"phone,omitempty" nullable:"true" maxLength:"32"`
	Email            *string       `json:"email,omitempty" nullable:"true" maxLength:"254" format:"email"`
	TelegramChatID   *string       `json:"telegramChatId,omitempty" nullable:"true" maxLength:"64"`
	WhatsappPhone    *string       `json:"whatsappPhone,omitempty" nullable:"true" maxLength:"32" doc:"empty = phone is used"`
	Note             *string       `json:"note,omitempty" nullable:"true" maxLength:"4000"`
	Tags             []string      `json:"tags,omitempty" maxItems:"50" minLength:"1" maxLength:"64"`
	Birthday         *wire.Date    `json:"birthday,omitempty" nullable:"true"`
	AssignedToID     *uuid.UUID    `json:"assignedToId,omitempty" nullable:"true" format:"uuid"`
	INN              *string       `json:"inn,omitempty" nullable:"true" maxLength:"32"`
	KPP              *string       `json:"kpp,omitempty" nullable:"true" maxLength:"32"`
	LegalAddress     *string       `json:"legalAddress,omitempty" nullable:"true" maxLength:"1000"`
	BankDetails      *string       `json:"bankDetails,omitempty" nullable:"true" maxLength:"4000"`
	ContractNumber   *string       `json:"contractNumber,omitempty" nullable:"true" maxLength:"64"`
	PaymentTermsDays *int32        `json:"paymentTermsDays,omitempty" nullable:"true" minimum:"0" maximum:"3650"`
	CreditLimit      *money.Amount `json:"creditLimit,omitempty" nullable:"true" minimum:"0" doc:"minor units; 0 or null = no limit"`
	GroupID          *uuid.UUID    `json:"groupId,omitempty" nullable:"true" format:"uuid"`
	PriceListID      *uuid.UUID    `json:"priceListId,omitempty" nullable:"true" format:"uuid" doc:"goes before the price list of the group"`
	SLAHours         *int32        `json:"slaHours,omitempty" nullable:"true" minimum:"0" maximum:"87600"`
	Consent          bool          `json:"marketingConsent,omitempty"`
}

// client is the record of the input, still without what the platform adds.
func (in ClientInput) client() Client {
	c := Client{
		Kind: in.Kind, DisplayName: in.DisplayName, FirstName: text(in.FirstName), LastName: text(in.LastName), MiddleName: text(in.MiddleName),
		CompanyName: text(in.CompanyName), Position: text(in.Position), Phone: text(in.Phone), Email: text(in.Email),
		TelegramChatID: text(in.TelegramChatID), WhatsappPhone: text(in.WhatsappPhone), Note: text(in.Note), Tags: distinct(in.Tags),
		Birthday: in.Birthday, AssignedToID: in.AssignedToID, INN: text(in.INN), KPP: text(in.KPP), LegalAddress: text(in.LegalAddress),
		BankDetails: text(in.BankDetails), ContractNumber: text(in.ContractNumber), PaymentTermsDays: in.PaymentTermsDays,
		GroupID: in.GroupID, PriceListID: in.PriceListID, SLAHours: in.SLAHours, Status: StatusActive,
	}
	if in.CreditLimit != nil {
		c.CreditLimit = *in.CreditLimit
	}
	return c
}

// text is nil for an empty text.
func text(s *string) *string {
	if s == nil || *s == "" {
		return nil
	}
	return s
}

// ClientPatch is the body of a change: what is absent stays.
type ClientPatch struct {
	Kind             wire.Optional[string]       `json:"kind,omitzero" enum:"individual,legal"`
	DisplayName      wire.Optional[string]       `json:"displayName,omitzero" minLength:"1" maxLength:"255"`
	FirstName        wire.Optional[string]       `json:"firstName,omitzero" nullable:"true" maxLength:"255"`
	LastName         wire.Optional[string]       `json:"lastName,omitzero" nullable:"true" maxLength:"255"`
	MiddleName       wire.Optional[string]       `json:"middleName,omitzero" nullable:"true" maxLength:"255"`
	CompanyName      wire.Optional[string]       `json:"companyName,omitzero" nullable:"true" maxLength:"255"`
	Position         wire.Optional[string]       `json:"position,omitzero" nullable:"true" maxLength:"255"`
	Phone            wire.Optional[string]       `json:"phone,omitzero" nullable:"true" maxLength:"32"`
	Email            wire.Optional[string]       `json:"email,omitzero" nullable:"true" maxLength:"254" format:"email"`
	TelegramChatID   wire.Optional[string]       `json:"telegramChatId,omitzero" nullable:"true" maxLength:"64"`
	WhatsappPhone    wire.Optional[string]       `json:"whatsappPhone,omitzero" nullable:"true" maxLength:"32"`
	Note             wire.Optional[string]       `json:"note,omitzero" nullable:"true" maxLength:"4000"`
	Tags             wire.Optional[[]string]     `json:"tags,omitzero" maxItems:"50" minLength:"1" maxLength:"64"`
	Birthday         wire.Optional[wire.Date]    `json:"birthday,omitzero" nullable:"true"`
	AssignedToID     wire.Optional[uuid.UUID]    `json:"assignedToId,omitzero" nullable:"true" format:"uuid"`
	INN              wire.Optional[string]       `json:"inn,omitzero" nullable:"true" maxLength:"32"`
	KPP              wire.Optional[string]       `json:"kpp,omitzero" nullable:"true" maxLength:"32"`
	LegalAddress     wire.Optional[string]       `json:"legalAddress,omitzero" nullable:"true" maxLength:"1000"`
	BankDetails      wire.Optional[string]       `json:"bankDetails,omitzero" nullable:"true" maxLength:"4000"`
	ContractNumber   wire.Optional[string]       `json:"contractNumber,omitzero" nullable:"true" maxLength:"64"`
	PaymentTermsDays wire.Optional[int32]        `json:"paymentTermsDays,omitzero" nullable:"true" minimum:"0" maximum:"3650"`
	CreditLimit      wire.Optional[money.Amount] `json:"creditLimit,omitzero" nullable:"true" minimum:"0" doc:"minor units; 0 or null = no limit"`
	GroupID          wire.Optional[uuid.UUID]    `json:"groupId,omitzero" nullable:"true" format:"uuid"`
	PriceListID      wire.Optional[uuid.UUID]    `json:"priceListId,omitzero" nullable:"true" format:"uuid"`
	SLAHours         wire.Optional[int32]        `json:"slaHours,omitzero" nullable:"true" minimum:"0" maximum:"87600"`
	Consent          wire.Optional[bool]         `json:"marketingConsent,omitzero"`
}

// apply changes all fields but the consent, whose stamps need the time.
func (p ClientPatch) apply(c *Client) record.Changes {
	var ch record.Changes
	ch.If(wire.Apply(&c.Kind, p.Kind), "kind")
	ch.If(wire.Apply(&c.DisplayName, p.DisplayName), "displayName")
	for _, f := range []struct {
		dst  **string
		in   wire.Optional[string]
		name string
	}{
		{&c.FirstName, p.FirstName, "firstName"},
		{&c.LastName, p.LastName, "lastName"},
		{&c.MiddleName, p.MiddleName, "middleName"},
		{&c.CompanyName, p.CompanyName, "companyName"},
		{&c.Position, p.Position, "position"},
		{&c.Phone, p.Phone, "phone"},
		{&c.Email, p.Email, "email"},
		{&c.TelegramChatID, p.TelegramChatID, "telegramChatId"},
		{&c.WhatsappPhone, p.WhatsappPhone, "whatsappPhone"},
		{&c.Note, p.Note, "note"},
		{&c.INN, p.INN, "inn"},
		{&c.KPP, p.KPP, "kpp"},
		{&c.LegalAddress, p.LegalAddress, "legalAddress"},
		{&c.BankDetails, p.BankDetails, "bankDetails"},
		{&c.ContractNumber, p.ContractNumber, "contractNumber"},
	} {
		f.in.Null = f.in.Null || f.in.Value == ""
		ch.If(wire.ApplyNullable(f.dst, f.in), f.name)
	}
	if tags := distinct(p.Tags.Value); p.Tags.Set && !slices.Equal(c.Tags, tags) {
		c.Tags = tags
		ch.If(true, "tags")
	}
	ch.If(wire.ApplyNullable(&c.Birthday, p.Birthday), "birthday")
	ch.If(wire.ApplyNullable(&c.AssignedToID, p.AssignedToID), "assignedToId")
	ch.If(wire.ApplyNullable(&c.PaymentTermsDays, p.PaymentTermsDays), "paymentTermsDays")
	p.CreditLimit.Null = false // its value is 0 then, which means the same
	ch.If(wire.Apply(&c.CreditLimit, p.CreditLimit), "creditLimit")
	ch.If(wire.ApplyNullable(&c.GroupID, p.GroupID), "groupId")
	ch.If(wire.ApplyNullable(&c.PriceListID, p.PriceListID), "priceListId")
	ch.If(wire.ApplyNullable(&c.SLAHours, p.SLAHours), "slaHours")
	return ch
}
