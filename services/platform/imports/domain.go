package imports

import (
	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
)

// An import needs the scope and the component of the records, which the request names.
var group = httpapi.Group{Tag: "Imports", About: "Records from tables."}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{Name: "imports", Errors: []apierr.Doc{
		{Status: 409, Code: "IMPORT_NOT_CHECKED", Advice: "Only a dry run that is done can be run. Wait until it is, or start the import with its file."},
		{Status: 409, Code: "IMPORT_NOT_KEPT", Advice: "The rows of a dry run are kept for a day, those of the last five of a company, and can be run once. Send the file again."},
		{Status: 409, Code: "IMPORT_HAS_NO_REFUSED_ROWS", Advice: "No row was refused, so that there is no file of refused rows."},
	}}
}
