package files

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/events/resource"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

var group = httpapi.Group{Tag: "Files", About: "Images with thumbnails, and documents, which records refer to.", Scope: "files", Component: "core"}

// Domain declares the domain. Files raise no events: the records that refer to them do.
func Domain() domain.Domain {
	return domain.Domain{
		Name:     "files",
		Scopes:   []access.Resource{{Name: "files"}},
		Entities: []string{"FILE"},
		Errors: []apierr.Doc{
			{Status: 403, Code: "FILE_URL_INVALID", Advice: "The signature does not belong to the URL. Read the file for its URLs, and use them unchanged."},
			{Status: 403, Code: "FILE_URL_EXPIRED", Advice: "Signed URLs last about an hour. Read the file again for new ones."},
			{Status: 404, Code: "FILE_CONTENT_MISSING", Advice: "The store has lost the content, such as by a restore from a backup. Upload the file again."},
			{Status: 409, Code: "FILE_IN_USE", Advice: "The records in meta.usedBy refer to the file. Remove it from them first."},
			{Status: 409, Code: "IMAGE_FETCH_FAILED", Advice: "meta.reason says why there is no image: address_refused, dns, connect, tls, timeout, connection_broken, http_status, redirects, too_large, not_an_image or file_deleted. Correct the URL, or make the image public; after timeout, connect, connection_broken and file_deleted a repeat may succeed."},
			{Status: 409, Code: "FILE_QUOTA_EXCEEDED", Advice: "The files of the company have reached their quota. Delete files, or ask for a larger quota."},
		},
		Tables: []resource.Described{table},
		Lists:  []domain.Statements{items},
	}
}
