package company

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
	"github.com/tradegrid/tradegrid/pkg/store/reference"
)

// Letterhead is what documents and e-mails to customers say of the company; see docs/reference/documents.md#letterhead.
type Letterhead struct {
	DocumentName    *string    `json:"documentName" maxLength:"255" doc:"name of the company on documents; null = name"`
	DocumentAddress *string    `json:"documentAddress" maxLength:"1000" doc:"postal address, in lines"`
	DocumentContact *string    `json:"documentContact" maxLength:"1000" doc:"phone, email and website, in lines"`
	DocumentTaxID   *string    `json:"documentTaxId" maxLength:"255" doc:"numbers of the company with the tax office and in registers"`
	DocumentBank    *string    `json:"documentBank" maxLength:"1000" doc:"bank account, in lines"`
	DocumentFooter  *string    `json:"documentFooter" maxLength:"1000" doc:"text below every document, such as terms of payment or thanks"`
	DocumentMail    *string    `json:"documentMail" maxLength:"2000" doc:"text of e-mails that carry documents; null = a sentence that names the document"`
	DocumentPaper   string     `json:"documentPaper" enum:"a4,letter" default:"a4" doc:"size of the paper that documents are printed on"`
	MailReplyTo     *string    `json:"mailReplyTo" format:"email" maxLength:"254" doc:"address that answers to e-mails to customers go to; null = there is none"`
	DocumentLogoID  *uuid.UUID `json:"documentLogoId" format:"uuid" doc:"image above documents; null = none"`
}

// Sizes of paper.
const (
	PaperA4     = "a4"
	PaperLetter = "letter"
)

// usedByCompany is how the use of a file names the company.
const usedByCompany = "company"

// keepLogo checks the logo of a company that is being changed, and keeps that it is used.
func (c *Company) keepLogo(ctx context.Context, tx *db.Tx, before *uuid.UUID) error {
	var refs reference.Set
	fileuse.CheckImage(&refs, "documentLogoId", before, c.DocumentLogoID)
	if err := refs.Check(ctx, tx, c.ID); err != nil {
		return err
	}
	fileuse.Record(tx, c.ID, usedByCompany, "documentLogoId", uuid.UUID(c.ID), fileuse.One(before), fileuse.One(c.DocumentLogoID))
	return nil
}

// Header reads the name and the settings of a company, for what it sends its customers.
func (s *Service) Header(ctx context.Context, q db.Querier, id tenant.ID) (Settings, error) {
	c, err := getCompany(ctx, q, id)
	return c.Settings, err
}
