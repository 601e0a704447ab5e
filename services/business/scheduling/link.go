package scheduling

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// LinkPath is the path of the page of a booking, before its token.
const LinkPath = "/b/"

// linkPurpose keeps signatures of links from being taken for others.
const linkPurpose = "booking link"

const (
	linkNameBytes = 16 + 16 + 4
	linkNameText  = linkNameBytes / 3 * 4
	maxLinkToken  = linkNameText + 1 + 120 // a signature names its key
)

// link names a booking, and which of its customers the link was made for. Its text holds no time: the booking itself says until when
// it works, so that a link goes on working when the booking is moved.
type link struct {
	company tenant.ID
	booking uuid.UUID
	number  int32
}

func (l link) name() string {
	raw := make([]byte, 0, linkNameBytes)
	raw = append(append(raw, l.company[:]...), l.booking[:]...)
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint32(raw, uint32(l.number)))
}

// token is the signature and the name. The name is last: it never ends in what mail programs leave out of a link, such as a hyphen.
func (s *Service) token(l link) (string, error) {
	signature, err := s.cfg.Keys.Sign(linkPurpose, l.name())
	return signature + "." + l.name(), err
}

// parseLink checks the token of a link, without the database; ok is false for one that no key of this platform has signed.
func (s *Service) parseLink(token string) (l link, ok bool, err error) {
	at := len(token) - linkNameText
	if s.cfg.Keys == nil || len(token) > maxLinkToken || at < 1 || token[at-1] != '.' {
		return l, false, nil
	}
	name := token[at:]
	if ok, err = s.cfg.Keys.Verify(linkPurpose, name, token[:at-1]); err != nil || !ok {
		return l, false, err
	}
	raw, err := base64.RawURLEncoding.DecodeString(name)
	if err != nil || len(raw) != linkNameBytes {
		return l, false, nil //nolint:nilerr // it has no right form
	}
	copy(l.company[:], raw)
	copy(l.booking[:], raw[16:])
	l.number = int32(binary.BigEndian.Uint32(raw[32:]))
	return l, true, nil
}

// linked fills in the link of a booking, for callers who may read customers.
func (s *Service) linked(by access.Caller, b Booking, err error) (Booking, error) {
	if err != nil || !by.Allows("clients", false) {
		return b, err
	}
	url, err := s.publicURL(by, b)
	if url != "" {
		b.PublicURL = &url
	}
	return b, err
}

// publicURL is the link of a booking; "" if the company has none, or the booking is over by its status.
func (s *Service) publicURL(by access.Caller, b Booking) (string, error) {
	if s.cfg.Keys == nil || by.Settings.Bookings.URL == "" || !b.isOpen() {
		return "", nil
	}
	token, err := s.token(link{b.CompanyID, b.ID, b.LinkNumber})
	if err != nil {
		return "", err
	}
	return by.Settings.Bookings.URL + LinkPath + token, nil
}

// isOfOther reports whether another phone number or address than before reaches the customer of the booking. Links that were made
// before may be in wrong hands, and end.
func (b *Booking) isOfOther(before Booking) bool {
	return b.CustomerPhone != before.CustomerPhone || !record.Same(b.CustomerEmail, before.CustomerEmail) ||
		b.CustomerEmail == nil && !record.Same(b.ClientID, before.ClientID)
}
