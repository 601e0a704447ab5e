package company

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/fileuse"
)

func TestLetterhead(t *testing.T) {
	t.Parallel()
	s, _ := setup(t)
	c, err := s.Create(t.Context(), NewCompany{Name: "Nordic", Letterhead: Letterhead{DocumentFooter: new("Thanks")}})
	require.NoError(t, err)
	require.Equal(t, Letterhead{DocumentFooter: new("Thanks"), DocumentPaper: PaperA4}, c.Letterhead)
	_, err = s.Configure(t.Context(), c.ID, Settings{Letterhead: Letterhead{DocumentPaper: "a5"}}, "documentPaper")
	require.ErrorContains(t, err, "documentPaper")
	file := uuid.New()
	_, err = s.Configure(t.Context(), c.ID, Settings{Letterhead: Letterhead{DocumentLogoID: &file}}, "documentLogoId")
	require.True(t, apierr.Is(err, "FILE_NOT_FOUND"), "%v", err)
	_, err = s.cfg.DB.Exec(t.Context(), `INSERT INTO files (company_id, id, name, media_type, size, width, height, sha256, thumbnails, search_text, version, ev_pos, created_at, updated_at)
VALUES ($1, $2, 'logo.png', 'image/png', 1, 1, 1, '', '[]', '', 1, 1, now(), now())`, c.ID, file)
	require.NoError(t, err)

	change := Settings{Letterhead: Letterhead{
		DocumentName: new("Nordic GmbH"), DocumentAddress: new("Kai 1\nHamburg"), DocumentContact: new("+49 40 1"), DocumentTaxID: new("DE1"), DocumentBank: new("DE02"), DocumentPaper: PaperLetter, DocumentLogoID: &file, MailReplyTo: new("shop@nordic.example"),
	}}
	_, err = s.Configure(t.Context(), c.ID, change, "documentName", "documentAddress", "documentContact", "documentTaxId", "documentBank", "documentPaper", "documentLogoId", "mailReplyTo")
	require.NoError(t, err)
	change.DocumentFooter = new("Thanks")
	got, err := s.Header(t.Context(), s.cfg.DB, c.ID)
	require.NoError(t, err)
	require.Equal(t, change.Letterhead, got.Letterhead)
	uses, err := fileuse.Of(t.Context(), s.cfg.DB, c.ID, file, 2)
	require.NoError(t, err)
	require.Equal(t, []fileuse.Use{{Entity: "company", ID: uuid.UUID(c.ID)}}, uses)

	_, err = s.Configure(t.Context(), c.ID, Settings{}, "documentLogoId")
	require.NoError(t, err)
	uses, err = fileuse.Of(t.Context(), s.cfg.DB, c.ID, file, 2)
	require.NoError(t, err)
	require.Empty(t, uses, "it is removed a day later")
}
