package scheduling

import (
	"context"
	"fmt"

	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

// sqlChangeToken reads the last change of a booking and the newest hold, each by an index.
const sqlChangeToken = `SELECT COALESCE((SELECT updated_at::TEXT || id::TEXT || version::TEXT FROM bookings WHERE company_id = $1 ORDER BY company_id DESC, updated_at DESC, id DESC LIMIT 1), '')
 || COALESCE((SELECT id::TEXT FROM booking_holds WHERE company_id = $1 ORDER BY company_id DESC, id DESC LIMIT 1), '')`

// ChangeToken is another text after a change of the bookings of a company. It says nothing else, so it needs no scope; whoever asks for it
// has checked that the caller may see them.
func (s *Service) ChangeToken(ctx context.Context, company tenant.ID) (token string, err error) {
	if err := s.cfg.DB.QueryRow(ctx, sqlChangeToken, company).Scan(&token); err != nil {
		return "", fmt.Errorf("read the change token of bookings: %w", err)
	}
	return token, nil
}
