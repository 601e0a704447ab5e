package bookinglink

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/services/business/scheduling"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// A letter is in the language that is nearest to the locale of the company.
func TestLettersAreInTheLanguageOfTheCompany(t *testing.T) {
	t.Parallel()
	texts, err := web.NewCustomerTexts()
	require.NoError(t, err)
	l := scheduling.Letter{
		Company: "Nordic Cycles", Customer: "Ada", Service: "Check", Resource: "Ann", URL: "https://book.example.com/b/x",
		StartAt: time.Date(2026, time.March, 4, 9, 5, 0, 0, time.UTC),
	}
	for locale, want := range map[string][2]string{
		"": {
			"Your booking at Nordic Cycles was moved",
			"Hello Ada,\n\nyour booking at Nordic Cycles was moved:\n\nWednesday, 4 March 2026, 09:05 UTC\nCheck\nAnn\n\nConfirm, move or cancel the booking here:\nhttps://book.example.com/b/x\n\nNordic Cycles",
		},
		"ru-RU": {
			"Ваша запись в «Nordic Cycles» перенесена",
			"Здравствуйте, Ada!\n\nВаша запись в «Nordic Cycles» перенесена:\n\nсреда, 4 марта 2026 г., 09:05 UTC\nCheck\nAnn\n\nПодтвердить, перенести или отменить запись можно здесь:\nhttps://book.example.com/b/x\n\nNordic Cycles",
		},
	} {
		l.Locale = locale
		subject, text := NewLetters(texts).Write("moved", l)
		require.Equal(t, want, [2]string{subject, text}, locale)
	}
}
