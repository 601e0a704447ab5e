package deals_test

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/kit/apierr"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/deals"
)

func (k kit) list(path string) (all []object) {
	k.t.Helper()
	res := k.Do(k.t, "GET", path, nil)
	require.Equal(k.t, 200, res.Status, "%s", res.Body)
	res.Decode(&all)
	return all
}

func column(all []object, field string) []any {
	out := []any{}
	for _, o := range all {
		out = append(out, o[field])
	}
	return out
}

func TestNewCompaniesHaveTypes(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	all := k.list("/deals/types")
	require.Equal(t, []any{"lead", "sales"}, column(all, "alias"))
	require.Equal(t, []any{true, false}, column(all, "isLeadType"))
	require.Equal(t, []any{false, true}, column(all, "isDefault"))
	require.Equal(t, []any{"deals", "deals"}, column(all, "component"))
	for _, typ := range all {
		require.Equal(t, k.Principal.Company.String(), typ["companyId"])
		var stages []object
		for _, s := range typ["stages"].([]any) {
			require.Equal(t, typ["id"], s.(object)["typeId"])
			require.Equal(t, []any{}, s.(object)["checklist"])
			stages = append(stages, s.(object))
		}
		require.Equal(t, []any{"New", "Qualification", "Proposal", "Won", "Lost"}, column(stages, "name"))
		require.Equal(t, []any{true, false, false, false, false}, column(stages, "isInitial"))
		require.Equal(t, []any{false, false, false, true, true}, column(stages, "isTerminal"))
		require.Equal(t, []any{nil, nil, nil, "won", "lost"}, column(stages, "outcome"))
	}
	require.Equal(t, []any{"price", "competitor", "not_needed", "no_answer"}, column(k.list("/deals/lost-reasons"), "alias"))
	require.Equal(t, []any{"webhook", "public_form", "api", "telegram", "phone", "referral"}, column(k.list("/deals/sources"), "alias"))
	other := kit{k.server.Company(), k.neighbours, t, k.db, k.service, k.server}
	for _, path := range []string{"/deals/types", "/deals/lost-reasons", "/deals/sources"} {
		require.Equal(t, "[]", string(other.Do(t, "GET", path, nil).Body), path)
	}
}

func TestDirectoriesHideInactiveEntries(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	source, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.LeadSource, error) {
		return k.service.CreateLeadSource(ctx, tx, k.by(), deals.EntryFields{Name: "Fair", SortOrder: 9})
	})
	require.NoError(t, err)
	reason, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.LostReason, error) {
		return k.service.CreateLostReason(ctx, tx, k.by(), deals.EntryFields{Name: "Moved", SortOrder: -1})
	})
	require.NoError(t, err)
	require.NotContains(t, column(k.list("/deals/sources"), "name"), "Fair")
	require.NotContains(t, column(k.list("/deals/lost-reasons?includeInactive=false"), "name"), "Moved")
	all := k.list("/deals/sources?includeInactive=true")
	last := all[len(all)-1]
	require.Equal(t, []any{source.ID.String(), "Fair", nil, false}, []any{last["id"], last["name"], last["alias"], last["isActive"]})
	require.Equal(t, "Moved", k.list("/deals/lost-reasons?includeInactive=1")[0]["name"])
	k.Do(t, "POST", "/deals", object{"typeId": k.typeOf("sales").ID, "sourceId": source.ID}).Fault(404, "LEAD_SOURCE_NOT_FOUND")

	active, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.LeadSource, error) {
		return k.service.UpdateLeadSource(ctx, tx, k.by(), source.ID, record.PatchOf(deals.EntryFields{IsActive: true, Alias: new("fair")}, "isActive", "alias"))
	})
	require.NoError(t, err)
	require.EqualValues(t, 2, active.Version)
	k.post(object{"sourceId": source.ID})
	_, err = run(k, func(ctx context.Context, tx *db.Tx) (deals.LeadSource, error) {
		return k.service.CreateLeadSource(ctx, tx, k.by(), deals.EntryFields{Name: "x", Alias: new("fair")})
	})
	require.True(t, apierr.Is(err, "LEAD_SOURCE_ALIAS_TAKEN"), err)
	_, err = run(k, func(ctx context.Context, tx *db.Tx) (deals.LostReason, error) {
		return k.service.UpdateLostReason(ctx, tx, k.by(), reason.ID, record.PatchOf(deals.EntryFields{Alias: new("price")}, "alias"))
	})
	require.True(t, apierr.Is(err, "DEAL_LOST_REASON_ALIAS_TAKEN"), err)
}

func TestTypesOfDisabledComponents(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	made, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.Type, error) {
		return k.service.CreateType(ctx, tx, k.by(), deals.TypeInput{TypeFields: deals.TypeFields{Alias: "event", Name: "Event", Component: "scheduling", IsActive: true}})
	})
	require.NoError(t, err)
	require.Len(t, made.Stages, 5, "the default ones")
	require.Len(t, k.list("/deals/types"), 3)
	less := kit{k.server.Caller(k.Principal.Company, func(p *access.Principal) { p.Components = access.Components{"deals"} }), k.neighbours, t, k.db, k.service, k.server}
	require.Equal(t, []any{"lead", "sales"}, column(less.list("/deals/types?includeInactive=true"), "alias"))
	meta := less.Do(t, "POST", "/deals", object{"typeId": made.ID}).Fault(403, "MODULE_ACCESS_INACTIVE")["meta"]
	require.Equal(t, object{"alias": "scheduling"}, meta)
	require.Equal(t, "event", k.list("/deals/types")[1]["alias"], "by sortOrder, then by age")

	_, err = run(k, func(ctx context.Context, tx *db.Tx) (deals.Type, error) {
		return k.service.UpdateType(ctx, tx, k.by(), made.ID, record.PatchOf(deals.TypeFields{}, "isActive"))
	})
	require.NoError(t, err)
	require.Len(t, k.list("/deals/types"), 2)
	require.Len(t, k.list("/deals/types?includeInactive=true"), 3)
	k.Do(t, "POST", "/deals", object{"typeId": made.ID}).Fault(409, "DEAL_TYPE_INACTIVE")
}

func TestChangesOfTypes(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	create := func(in deals.TypeInput) (deals.Type, error) {
		return run(k, func(ctx context.Context, tx *db.Tx) (deals.Type, error) {
			return k.service.CreateType(ctx, tx, k.by(), in)
		})
	}
	fields := deals.TypeFields{Alias: "new", Name: "New", Component: "deals", IsActive: true, IsDefault: true, IsLeadType: true, SortOrder: 5}
	_, err := create(deals.TypeInput{TypeFields: deals.TypeFields{Alias: "sales", Name: "x", Component: "deals"}})
	require.True(t, apierr.Is(err, "DEAL_TYPE_ALIAS_TAKEN"), err)
	_, err = create(deals.TypeInput{TypeFields: deals.TypeFields{Alias: "x", Name: "x", Component: "payroll"}})
	require.ErrorContains(t, err, "component: unknown component")
	for _, row := range []struct {
		stages []deals.StageInput
		want   string
	}{
		{[]deals.StageInput{{Name: "a", IsTerminal: true, IsActive: true}}, "stages[0].outcome: is required"},
		{[]deals.StageInput{{Name: "a", Outcome: new(deals.Won), IsActive: true}}, "stages[0].outcome: is allowed only"},
		{[]deals.StageInput{{Name: "a", IsInitial: true, IsTerminal: true, Outcome: new(deals.Won)}}, "stages[0].isInitial: is not allowed"},
		{[]deals.StageInput{{Name: "a", IsInitial: true, IsActive: true}}, "DEAL_STAGES_INCOMPLETE"},
	} {
		_, err = create(deals.TypeInput{TypeFields: fields, Stages: row.stages})
		require.ErrorContains(t, err, row.want)
	}
	made, err := create(deals.TypeInput{TypeFields: fields})
	require.NoError(t, err)
	all := k.list("/deals/types")
	require.Equal(t, []any{"lead", "sales", "new"}, column(all, "alias"))
	require.Equal(t, []any{false, false, true}, column(all, "isDefault"), "one type at most")
	require.Equal(t, []any{false, false, true}, column(all, "isLeadType"))
	lead := uuid.MustParse(k.typeOf("lead").ID)
	back, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.Type, error) {
		return k.service.UpdateType(ctx, tx, k.by(), lead, record.PatchOf(deals.TypeFields{IsLeadType: true, Name: "Requests"}, "isLeadType", "name"))
	})
	require.NoError(t, err)
	require.Equal(t, "Requests", back.Name)
	require.Len(t, back.Stages, 5)
	require.Equal(t, []any{true, false, false}, column(k.list("/deals/types"), "isLeadType"))
	_, err = run(k, func(ctx context.Context, tx *db.Tx) (deals.Type, error) {
		return k.service.UpdateType(ctx, tx, k.by(), made.ID, record.PatchOf(deals.TypeFields{Component: "x"}, "component"))
	})
	require.ErrorContains(t, err, "component: unknown component")
	_, err = run(k, func(ctx context.Context, tx *db.Tx) (deals.Type, error) {
		return k.service.UpdateType(ctx, tx, access.Caller{Principal: k.server.Company().Principal}, made.ID, record.PatchOf(deals.TypeFields{Name: "x"}, "name"))
	})
	require.True(t, apierr.Is(err, "DEAL_TYPE_NOT_FOUND"), err)
}

func TestChangesOfStages(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	sales := k.typeOf("sales")
	id := uuid.MustParse(sales.ID)
	create := func(in deals.StageFields) (deals.Stage, error) {
		return run(k, func(ctx context.Context, tx *db.Tx) (deals.Stage, error) {
			return k.service.CreateStage(ctx, tx, k.by(), deals.NewStage{TypeID: id, StageFields: in})
		})
	}
	update := func(stage string, v deals.StageFields, names ...string) (deals.Stage, error) {
		return run(k, func(ctx context.Context, tx *db.Tx) (deals.Stage, error) {
			return k.service.UpdateStage(ctx, tx, k.by(), uuid.MustParse(stage), record.PatchOf(v, names...))
		})
	}
	made, err := create(deals.StageFields{Name: "First", IsInitial: true, IsActive: true, SortOrder: -1, Checklist: []string{"call"}})
	require.NoError(t, err)
	require.Equal(t, made.ID.String(), k.post(object{})["stageId"], "the new initial stage")
	stages := k.list("/deals/types")[1]["stages"].([]any)
	require.Equal(t, []any{true, false}, []any{stages[0].(object)["isInitial"], stages[1].(object)["isInitial"]})
	require.Equal(t, "First", stages[0].(object)["name"])

	for stage, missing := range map[string][]string{"Won": {"won"}, "Lost": {"lost"}} {
		_, err = update(sales.stages[stage], deals.StageFields{}, "isActive")
		fault, _ := apierr.As(err)
		require.NotNil(t, fault, err)
		require.Equal(t, []any{"DEAL_STAGES_INCOMPLETE", missing}, []any{fault.Code, fault.Meta["missing"]})
	}
	_, err = update(made.ID.String(), deals.StageFields{}, "isInitial")
	require.True(t, apierr.Is(err, "DEAL_STAGES_INCOMPLETE"), err)
	_, err = update(sales.stages["Won"], deals.StageFields{}, "outcome")
	require.ErrorContains(t, err, "outcome: is required for a terminal stage")
	_, err = create(deals.StageFields{Name: "Delivered", IsTerminal: true, Outcome: new(deals.Done), IsActive: true, SortOrder: 9})
	require.NoError(t, err)
	_, err = update(sales.stages["Won"], deals.StageFields{}, "isActive")
	require.NoError(t, err, "done is a success as well")
	changed, err := update(sales.stages["Proposal"], deals.StageFields{Name: "Offer", Color: new("#000000"), Probability: new(int32(50)), SLAHours: new(int32(4)), Checklist: []string{"a"}},
		"name", "color", "probability", "slaHours", "checklist")
	require.NoError(t, err)
	require.Equal(t, []any{"Offer", "#000000", int64(2)}, []any{changed.Name, *changed.Color, changed.Version})
	_, err = update(uuid.NewString(), deals.StageFields{Name: "x"}, "name")
	require.True(t, apierr.Is(err, "DEAL_STAGE_NOT_FOUND"), err)
	require.Len(t, k.list("/deals/types")[1]["stages"], 6)
	require.Len(t, k.list("/deals/types?includeInactive=true")[1]["stages"], 7)
}

// Two changes that would each leave the type without a stage for success do not both happen.
func TestParallelChangesOfStages(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	peer, _ := setup(t)
	full := k.fullType()
	deactivate := func(k kit, stage string) error {
		_, err := run(k, func(ctx context.Context, tx *db.Tx) (deals.Stage, error) {
			return k.service.UpdateStage(ctx, tx, k.by(), uuid.MustParse(full.stages[stage]), record.PatchOf(deals.StageFields{}, "isActive"))
		})
		return err
	}
	require.NoError(t, deactivate(k, "done"))
	same := kit{peer.server.Caller(k.Principal.Company), k.neighbours, t, peer.db, peer.service, peer.server}
	errs := make([]error, 2)
	var wg sync.WaitGroup
	wg.Go(func() { errs[0] = deactivate(k, "won") })
	wg.Go(func() { errs[1] = deactivate(same, "won twice") })
	wg.Wait()
	if errs[0] != nil {
		errs[0], errs[1] = errs[1], errs[0]
	}
	require.NoError(t, errs[0])
	require.True(t, apierr.Is(errs[1], "DEAL_STAGES_INCOMPLETE"), errs[1])
}

func TestAdminOperations(t *testing.T) {
	t.Parallel()
	k, _ := setup(t)
	admin := apitest.New(t, k.db, k.service.Register).ServeAdmin(k.service.RegisterAdmin).Caller(k.Principal.Company).Admin()
	do := func(status int, method, path, body string) object { return admin.Do(t, method, path, body).OK(status) }
	made := do(201, "POST", "/deals/types", `{"alias":"wedding","name":"Wedding","component":"scheduling","stages":[
		{"name":"a","isInitial":true},{"name":"w","isTerminal":true,"outcome":"done"},{"name":"l","isTerminal":true,"outcome":"lost"}]}`)
	require.Equal(t, []any{true, false, "scheduling", 0.0}, []any{made["isActive"], made["isDefault"], made["component"], made["sortOrder"]})
	require.Equal(t, made, do(200, "GET", "/deals/types/"+made["id"].(string), ""))
	require.Equal(t, map[string]string{"alias": "FORMAT", "name": "REQUIRED", "stages[0].outcome": "ENUM"},
		admin.Do(t, "POST", "/deals/types", `{"alias":"A b","stages":[{"name":"x","outcome":"open"}]}`).Fields())
	require.Equal(t, map[string]string{"component": "ENUM"}, admin.Do(t, "POST", "/deals/types", `{"alias":"x","name":"x","component":"x"}`).Fields())
	require.Equal(t, map[string]string{"stages[0].outcome": "REQUIRED"},
		admin.Do(t, "POST", "/deals/types", `{"alias":"x","name":"x","stages":[{"name":"x","isTerminal":true}]}`).Fields())
	require.Equal(t, "Party", do(200, "PATCH", "/deals/types/"+made["id"].(string), `{"name":"Party"}`)["name"])
	unknown := uuid.NewString()
	meta := admin.Do(t, "POST", "/deals/stages", `{"typeId":"`+unknown+`","name":"x"}`).Fault(404, "DEAL_TYPE_NOT_FOUND")["meta"]
	require.Equal(t, object{"field": "typeId", "id": unknown}, meta)
	stage := do(201, "POST", "/deals/stages", `{"typeId":"`+made["id"].(string)+`","name":"b","sortOrder":1}`)
	path := "/deals/stages/" + stage["id"].(string)
	require.Equal(t, []any{"c", 2.0}, []any{do(200, "PATCH", path, `{"name":"c"}`)["name"], do(200, "GET", path, "")["version"]})
	admin.Do(t, "PATCH", "/deals/stages/"+made["stages"].([]any)[1].(object)["id"].(string), `{"isActive":false}`).Fault(409, "DEAL_STAGES_INCOMPLETE")
	require.Equal(t, map[string]string{"outcome": "CONFLICT"},
		admin.Do(t, "PATCH", "/deals/stages/"+made["stages"].([]any)[2].(object)["id"].(string), `{"isInitial":true,"isTerminal":false}`).Fields())
	for dir, code := range map[string]string{"lost-reasons": "DEAL_LOST_REASON", "sources": "LEAD_SOURCE"} {
		v := do(201, "POST", "/deals/"+dir, `{"name":"N","alias":"n"}`)
		require.Equal(t, []any{"n", true}, []any{v["alias"], v["isActive"]})
		admin.Do(t, "POST", "/deals/"+dir, `{"name":"M","alias":"n"}`).Fault(409, code+"_ALIAS_TAKEN")
		require.Equal(t, false, do(200, "PATCH", "/deals/"+dir+"/"+v["id"].(string), `{"isActive":false}`)["isActive"])
		require.Equal(t, 2.0, do(200, "GET", "/deals/"+dir+"/"+v["id"].(string), "")["version"])
		admin.Do(t, "GET", "/deals/"+dir+"/"+unknown, nil).Fault(404, code+"_NOT_FOUND")
	}
}
