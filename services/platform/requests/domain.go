package requests

import (
	"time"

	"github.com/tradegrid/tradegrid/pkg/api/domain"
	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/store/cleanup"
	"github.com/tradegrid/tradegrid/pkg/store/db"
)

const apiRequests = db.Table("api_requests")

var group = httpapi.Group{Tag: "Requests", About: "The log of requests of the company.", Scope: "company", Component: "core"}

// Domain declares the domain.
func Domain() domain.Domain {
	return domain.Domain{Name: "requests", Entities: []string{"REQUEST"}, Cleanup: []cleanup.Job{requestsExpire}}
}

// requestsExpire deletes requests after their time.
var requestsExpire = cleanup.Job{
	Keep: Kept, Every: time.Hour,
	Delete: apiRequests.Delete(`WHERE (company_id, id) IN (SELECT company_id, id FROM api_requests WHERE created_at < $1 LIMIT 1000)`),
}
