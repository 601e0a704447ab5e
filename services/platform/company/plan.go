package company

import (
	"fmt"
	"slices"
	"strings"
)

// Plan is what a company has subscribed to.
type Plan struct {
	Name     string `json:"name"`
	API      bool   `json:"apiEnabled" doc:"the plan includes the external API"`
	InFlight int    `json:"maxInFlight" doc:"requests of the company at the same time, over all its tokens of the tiers standard and high"`
}

var plans = []Plan{
	{Name: "free", API: false, InFlight: 40},
	{Name: "standard", API: true, InFlight: 400},
	{Name: "business", API: true, InFlight: 4000},
	{Name: "enterprise", API: true, InFlight: 10_000},
}

// planOf returns a plan. A plan that this release does not know keeps the API, with the smallest limit.
func planOf(name string) Plan {
	if i := slices.IndexFunc(plans, func(p Plan) bool { return p.Name == name }); i >= 0 {
		return plans[i]
	}
	return Plan{Name: name, API: true, InFlight: plans[0].InFlight}
}

func planNames() []string {
	names := make([]string, len(plans))
	for i, p := range plans {
		names[i] = p.Name
	}
	return names
}

func checkPlan(name string) error {
	if slices.Contains(planNames(), name) {
		return nil
	}
	return fmt.Errorf("unknown plan %q: use one of %s", name, strings.Join(planNames(), ", "))
}
