package catalog

import (
	"context"
	"net/http"
	"slices"

	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/list"
	"github.com/tradegrid/tradegrid/pkg/money"
)

func (s *Service) registerProducts(api *httpapi.API, section httpapi.Section) {
	httpapi.Register(api, section.Op(http.MethodGet, "/catalog/products", "listProducts", "List products", 200), s.httpListProducts)
	httpapi.Register(api, section.Op(http.MethodPost, "/catalog/products", "createProduct", "Create a product", 201), s.httpCreateProduct)
	httpapi.Register(api, section.Op(http.MethodGet, "/catalog/products/{id}", "getProduct", "Read a product", 200), s.httpGetProduct)
	httpapi.Register(api, section.Op(http.MethodPatch, "/catalog/products/{id}", "updateProduct", "Change a product", 200), s.httpUpdateProduct)
	httpapi.Register(api, section.Op(http.MethodDelete, "/catalog/products/{id}", "deleteProduct", "Hide a product", 200), s.httpDeleteProduct)
	httpapi.Register(api, section.Op(http.MethodGet, "/catalog/products/{id}/variants", "listProductVariants", "List the variants of a product", 200), s.httpListVariants)
	httpapi.Register(api, section.Op(http.MethodGet, "/catalog/units", "listUnits", "List all units", 200), s.httpListUnits)
}

type listProductsRequest struct {
	httpapi.Call
	list.Params
	CategoryID string        `query:"categoryId" maxLength:"36" doc:"id of a category, which includes those below it, or null for products without one"`
	Status     []string      `query:"status" enum:"active,hidden,all" maxItems:"3" doc:"default active; all with updatedSince, so that a reader of changes learns of hidden ones"`
	PriceMin   *money.Amount `query:"priceMin" minimum:"0" doc:"minor units, inclusive"`
	PriceMax   *money.Amount `query:"priceMax" minimum:"0" doc:"minor units, inclusive"`
	Brand      string        `query:"brand" maxLength:"255" doc:"exact"`
	Sort       string        `query:"sort" enum:"name,sku,price,brand,model,createdAt"`
	Include    []string      `query:"include" enum:"stock" maxItems:"10"`
}

func (s *Service) httpListProducts(ctx context.Context, in *listProductsRequest) (*httpapi.Reply[*list.Page[Product]], error) {
	return httpapi.Paged(s.Products(ctx, in.Company, in.Params, in.Sort, ProductFilter{
		Category: in.CategoryID, Statuses: in.Status, PriceMin: in.PriceMin, PriceMax: in.PriceMax, Brand: in.Brand,
		IncludesStock: slices.Contains(in.Include, "stock"),
	}))
}

type createProductRequest struct {
	httpapi.Call
	Body ProductInput
}

func (s *Service) httpCreateProduct(ctx context.Context, in *createProductRequest) (*httpapi.Reply[Product], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "catalog.create_product", func(ctx context.Context, tx *db.Tx) (Product, error) {
		return s.CreateProduct(ctx, tx, in.Caller, in.Body)
	})
}

type getProductRequest struct {
	httpapi.ByID
	Include []string `query:"include" enum:"stock" maxItems:"10"`
}

func (s *Service) httpGetProduct(ctx context.Context, in *getProductRequest) (*httpapi.Reply[Product], error) {
	p, err := s.Product(ctx, in.Company, in.ID, slices.Contains(in.Include, "stock"))
	return httpapi.OK(p), err
}

type updateProductRequest struct {
	httpapi.ByID
	Body ProductPatch
}

func (s *Service) httpUpdateProduct(ctx context.Context, in *updateProductRequest) (*httpapi.Reply[Product], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "catalog.update_product", func(ctx context.Context, tx *db.Tx) (Product, error) {
		return s.UpdateProduct(ctx, tx, in.Caller, in.ID, in.Body)
	})
}

func (s *Service) httpDeleteProduct(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[Product], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "catalog.hide_product", func(ctx context.Context, tx *db.Tx) (Product, error) {
		return s.HideProduct(ctx, tx, in.Caller, in.ID)
	})
}

func (s *Service) httpListVariants(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[[]ProductVariant], error) {
	all, err := s.ProductVariants(ctx, in.Company, in.ID)
	return httpapi.OK(all), err
}

type listUnitsRequest struct{ httpapi.Call }

func (s *Service) httpListUnits(ctx context.Context, in *listUnitsRequest) (*httpapi.Reply[[]Unit], error) {
	all, err := s.Units(ctx, in.Company)
	return httpapi.OK(all), err
}
