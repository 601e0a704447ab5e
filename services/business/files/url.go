package files

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/kit/jsontype"
	"github.com/tradegrid/tradegrid/pkg/kit/tenant"
)

const (
	// urlsKept is how long URLs are valid at least. They are the same for [urlsSame], so that browsers keep what they have loaded.
	urlsKept = time.Hour
	urlsSame = 15 * time.Minute
)

// sign fills in the URLs of a file.
func (s *Service) sign(f *File) error {
	expires := s.cfg.DB.Now().UTC().Truncate(urlsSame).Add(urlsSame + urlsKept)
	f.URLs.ExpiresAt = jsontype.At(expires)
	all := map[string]*string{original: &f.URLs.Original}
	if isImage(f.MediaType) {
		all["large"], all["medium"], all["small"] = &f.URLs.Large, &f.URLs.Medium, &f.URLs.Small
	}
	for name, to := range all {
		var err error
		if *to, err = s.signed(f.CompanyID, f.ID, name, expires); err != nil {
			return err
		}
	}
	return nil
}

// purpose keeps signatures of URLs from being taken for others.
const purpose = "file url"

// signedText is what a signature is of.
func signedText(company tenant.ID, id uuid.UUID, size, expires string) string {
	return strings.Join([]string{company.String(), id.String(), size, expires}, "/")
}

func (s *Service) signed(company tenant.ID, id uuid.UUID, size string, at time.Time) (string, error) {
	expires := strconv.FormatInt(at.Unix(), 10)
	signature, err := s.cfg.Keys.Sign(purpose, signedText(company, id, size, expires))
	if err != nil {
		return "", err
	}
	return s.cfg.Root + "/files/" + id.String() + "/content?size=" + size + "&company=" + company.String() + "&expires=" + expires +
		"&signature=" + url.QueryEscape(signature), nil
}

var (
	errSignature = apierr.New(http.StatusForbidden, "FILE_URL_INVALID", "the signature does not belong to this URL; read the file for its URLs, and do not change them")
	errExpired   = apierr.New(http.StatusForbidden, "FILE_URL_EXPIRED", "the URL has expired; read the file again for its URLs")
)

// guest lets requests in that have a signed URL.
func (s *Service) guest(_ context.Context, param func(in, name string) string) (company tenant.ID, signed bool, err error) {
	signature := param("query", "signature")
	if signature == "" {
		return company, false, nil
	}
	id, err := uuid.Parse(param("path", "id"))
	company, err2 := tenant.Parse(param("query", "company"))
	size, expires := param("query", "size"), param("query", "expires")
	until, err3 := strconv.ParseInt(expires, 10, 64)
	if err != nil || err2 != nil || err3 != nil || !slices.Contains(parts(), size) {
		return company, true, errSignature
	}
	ok, err := s.cfg.Keys.Verify(purpose, signedText(company, id, size, expires), signature)
	switch {
	case err != nil:
		return company, true, err
	case !ok:
		return company, true, errSignature
	case s.cfg.DB.Now().Unix() >= until:
		return company, true, errExpired
	}
	return company, true, nil
}
