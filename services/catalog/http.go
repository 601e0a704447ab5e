package catalog

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/fault"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
)

// Register adds the operations of the catalog (specification, section 4).
func (s *Service) Register(api *httpapi.API) {
	section := httpapi.Section{Tag: "Catalog", Scope: scope, Component: component}
	httpapi.Register(api, section.Op(http.MethodGet, "/catalog/categories", "listCategories", "List all categories", 200), s.httpListCategories)
	httpapi.Register(api, section.Op(http.MethodPost, "/catalog/categories", "createCategory", "Create a category", 201), s.httpCreateCategory)
	httpapi.Register(api, section.Op(http.MethodGet, "/catalog/categories/{id}", "getCategory", "Read a category", 200), s.httpGetCategory)
	httpapi.Register(api, section.Op(http.MethodPatch, "/catalog/categories/{id}", "updateCategory", "Change a category", 200), s.httpUpdateCategory)
	httpapi.Register(api, section.Op(http.MethodDelete, "/catalog/categories/{id}", "deleteCategory", "Delete a category", 204), s.httpDeleteCategory)
	s.registerProducts(api, section)
}

type listCategoriesRequest struct{ httpapi.Call }

func (s *Service) httpListCategories(ctx context.Context, in *listCategoriesRequest) (*httpapi.Reply[[]Category], error) {
	all, err := s.Categories(ctx, in.Company)
	return httpapi.OK(all), err
}

type createCategoryRequest struct {
	httpapi.Call
	Body CategoryInput
}

func (s *Service) httpCreateCategory(ctx context.Context, in *createCategoryRequest) (*httpapi.Reply[Category], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "catalog.create_category", func(ctx context.Context, tx *db.Tx) (Category, error) {
		return s.CreateCategory(ctx, tx, in.Caller, in.Body)
	})
}

func (s *Service) httpGetCategory(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[Category], error) {
	c, err := s.Category(ctx, in.Company, in.ID)
	return httpapi.OK(c), err
}

type updateCategoryRequest struct {
	httpapi.ByID
	Body CategoryPatch
}

func (s *Service) httpUpdateCategory(ctx context.Context, in *updateCategoryRequest) (*httpapi.Reply[Category], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "catalog.update_category", func(ctx context.Context, tx *db.Tx) (Category, error) {
		return s.UpdateCategory(ctx, tx, in.Caller, in.ID, in.Body)
	})
}

type deleteCategoryRequest struct {
	httpapi.ByID
	ReassignTo string `query:"reassignTo" doc:"id of the category that takes the contents first, or null for none"`
}

func (s *Service) httpDeleteCategory(ctx context.Context, in *deleteCategoryRequest) (*httpapi.Reply[httpapi.None], error) {
	to, err := parseReassign(in.ReassignTo)
	if err != nil {
		return nil, err
	}
	return httpapi.Mutate(ctx, s.db, &in.Call, "catalog.delete_category", func(ctx context.Context, tx *db.Tx) (httpapi.None, error) {
		return httpapi.None{}, s.DeleteCategory(ctx, tx, in.Caller, in.ID, to)
	})
}

func parseReassign(text string) (Reassign, error) {
	switch text {
	case "":
		return Reassign{}, nil
	case "null":
		return Reassign{Set: true}, nil
	}
	id, err := uuid.Parse(text)
	if err != nil {
		return Reassign{}, fault.Invalid(fault.Field{Field: "reassignTo", Code: fault.Format, Message: "reassignTo: must be the id of a category, or null"})
	}
	return Reassign{Set: true, To: &id}, nil
}
