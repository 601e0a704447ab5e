package records

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/job"
	"github.com/tradegrid/tradegrid/services/console/web"
)

// maxNoticed is how many jobs a page asks for at once; the script of the notices keeps as many.
const maxNoticed = 5

// noticed is what a page hears of a job that was started in it. A job that is not there, or that the person may not see, is left out.
type noticed struct {
	ID   uuid.UUID `json:"id"`
	Text string    `json:"text"` // what has become of it; "" = it has not ended
	Bad  bool      `json:"bad"`  // it has not done what it was started for
}

// ended tells a script which of the jobs in the address have ended, and how.
func (pages *Pages) ended(ctx context.Context, q *web.Request) (web.Answer, error) {
	asked := q.Form["id"]
	if len(asked) > maxNoticed {
		return web.Answer{}, web.Refusal(http.StatusBadRequest, "error.form")
	}
	found := []noticed{}
	for _, text := range asked {
		id, err := uuid.Parse(text)
		if err != nil {
			continue
		}
		one, err := web.Call[job.Record](ctx, q, "getJob", web.ByID(id))
		if apierr.Is(err, "JOB_NOT_FOUND") {
			continue
		}
		if err != nil {
			return web.Answer{}, err
		}
		found = append(found, noticeOf(q, one))
	}
	raw, err := json.Marshal(map[string]any{"jobs": found})
	if err != nil {
		return web.Answer{}, fmt.Errorf("write the notices of jobs: %w", err)
	}
	return web.Data(raw), nil
}

// noticeOf says in a sentence how a job has ended, and why it failed.
func noticeOf(q *web.Request, one job.Record) noticed {
	n := noticed{ID: one.ID}
	switch one.Status {
	case job.Done, job.Failed, job.Canceled:
		n.Text, n.Bad = q.T("notice."+noticeKind(one)+"."+one.Status), one.Status != job.Done
	}
	if one.Status == job.Failed && one.Error != nil {
		n.Text += " " + q.Why(&apierr.Error{Code: one.Error.Code, Message: one.Error.Message})
	}
	if failed := failedOf(one); failed != "" && one.Status == job.Done {
		n.Text, n.Bad = n.Text+" "+q.T("records.job.failed_items", failed), true
	}
	return n
}

// noticeKind names the texts about jobs of a type.
func noticeKind(one job.Record) string {
	switch kind, _, _ := strings.Cut(one.Type, "/"); kind {
	case "export":
		return "export"
	case "import":
		if dryRun(one) {
			return "check"
		}
		return "import"
	case "product.bulk_price":
		return "prices"
	case "client.merge":
		return "merge"
	case "webhook.replay":
		if dryRun(one) {
			return "count"
		}
		return "replay"
	default:
		return "batch"
	}
}

// dryRun reports whether a job only looked at what it would do.
func dryRun(one job.Record) bool {
	raw, err := json.Marshal(one.Summary)
	var sum struct{ DryRun bool }
	return err == nil && json.Unmarshal(raw, &sum) == nil && sum.DryRun
}
