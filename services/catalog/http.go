package catalog

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/record"
)

// RegisterAdmin adds the operations on directories that operators maintain.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	s.registerTraits(r)
	httpapi.Read(r, "/catalog/units", "listUnits", "List units", s.Units)
	httpapi.Create(r, "/catalog/units", "createUnit", "Create a unit", s.CreateUnit)
	httpapi.Get(r, "/catalog/units/{id}", "getUnit", "Read a unit", s.Unit)
	httpapi.Update(r, "/catalog/units/{id}", "updateUnit", "Update a unit", s.UpdateUnit)
}

// registerTraits adds the operations on attributes and variants, which both operators and integrations maintain.
func (s *Service) registerTraits(r *httpapi.Routes) {
	httpapi.ReadWith(r, "/catalog/attributes", "listAttributes", "List attributes", s.Attributes)
	httpapi.Create(r, "/catalog/attributes", "createAttribute", "Create an attribute", s.CreateAttribute)
	httpapi.Get(r, "/catalog/attributes/{id}", "getAttribute", "Read an attribute with its options", s.Attribute)
	httpapi.Update(r, "/catalog/attributes/{id}", "updateAttribute", "Update an attribute", s.UpdateAttribute)
	httpapi.Delete(r, "/catalog/attributes/{id}", "deleteAttribute", "Delete an attribute", s.DeleteAttribute)
	httpapi.CreateIn(r, "/catalog/attributes/{id}/options", "createAttributeOption", "Add an option to an attribute", s.CreateAttributeOption)
	httpapi.GetIn(r, "/catalog/attributes/{id}/options/{optionId}", "getAttributeOption", "Read an option", s.AttributeOption)
	httpapi.UpdateIn(r, "/catalog/attributes/{id}/options/{optionId}", "updateAttributeOption", "Update an option", s.UpdateAttributeOption)
	httpapi.DeleteIn(r, "/catalog/attributes/{id}/options/{optionId}", "deleteAttributeOption", "Delete an option", s.DeleteAttributeOption)
	httpapi.GetWith(r, "/catalog/products/{id}/variants", "listProductVariants", "List the variants of a product", s.ProductVariants)
	httpapi.CreateIn(r, "/catalog/products/{id}/variants", "createProductVariant", "Add a variant to a product", s.CreateProductVariant)
	httpapi.GetIn(r, "/catalog/products/{id}/variants/{variantId}", "getProductVariant", "Read a variant", s.ProductVariant)
	httpapi.UpdateIn(r, "/catalog/products/{id}/variants/{variantId}", "updateProductVariant", "Update a variant", s.UpdateProductVariant)
	httpapi.Change(r, "DELETE /catalog/products/{id}/variants/{variantId}", "deleteProductVariant", "Hide a variant", s.httpHideVariant)
}

// Register adds the operations of the catalog.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.ReadWith(r, "/catalog/categories", "listCategories", "List categories", s.Categories)
	httpapi.Create(r, "/catalog/categories", "createCategory", "Create a category", s.CreateCategory)
	httpapi.Upsert(r, "/catalog/categories", "upsertCategory", "Create or update a category by its external id",
		httpapi.Upserts[CategoryFields, CategoryFields, Category]{Find: categories.FindExternal, Create: s.CreateCategory, Update: s.UpdateCategory})
	httpapi.Batch(r, "/catalog/categories/batch", "batchCategories", "Create, update and delete up to 200 categories",
		httpapi.Writes[CategoryFields, Category]{Create: s.CreateCategory, Update: s.UpdateCategory, FindExternal: categories.FindExternal, Delete: s.deleteUnused})
	httpapi.Get(r, "/catalog/categories/{id}", "getCategory", "Read a category", s.Category)
	httpapi.Update(r, "/catalog/categories/{id}", "updateCategory", "Update a category", s.UpdateCategory)
	httpapi.Change(r, "DELETE /catalog/categories/{id}", "deleteCategory", "Delete a category", s.httpDeleteCategory, httpapi.Answers(http.StatusNoContent))
	httpapi.List(r, "/catalog/products", "listProducts", "List products", s.Products)
	httpapi.Create(r, "/catalog/products", "createProduct", "Create a product", s.CreateProduct)
	httpapi.Upsert(r, "/catalog/products", "upsertProduct", "Create or update a product by its external id",
		httpapi.Upserts[ProductInput, ProductInput, Product]{Find: products.FindExternal, Create: s.CreateProduct, Update: s.UpdateProduct})
	httpapi.Batch(r, "/catalog/products/batch", "batchProducts", "Create, update and hide up to 200 products",
		httpapi.Writes[ProductInput, Product]{Create: s.CreateProduct, Update: s.UpdateProduct, Find: s.productBySKU, FindExternal: products.FindExternal, Delete: s.HideProduct})
	httpapi.Create(r, "/catalog/products/bulk-price", "repriceProducts", "Update the prices of many products", s.RepriceProducts, httpapi.Answers(http.StatusAccepted))
	httpapi.GetWith(r, "/catalog/products/{id}", "getProduct", "Read a product", s.Product)
	httpapi.Update(r, "/catalog/products/{id}", "updateProduct", "Update a product", s.UpdateProduct)
	httpapi.Command(r, "DELETE /catalog/products/{id}", "deleteProduct", "Hide a product", s.HideProduct)
	s.registerTraits(r)
	httpapi.UpsertIn(r, "/catalog/products/{id}/variants", "upsertProductVariant", "Create or update a variant of a product by its external id",
		httpapi.UpsertsIn[VariantInput, VariantInput, ProductVariant]{Find: findVariant, Create: s.CreateProductVariant, Update: s.UpdateProductVariant})
	httpapi.CommandWith(r, "/catalog/products/{id}/variants/matrix", "createVariantMatrix", "Create a variant of a product for each combination of options", s.CreateVariantMatrix)
	httpapi.Read(r, "/catalog/units", "listUnits", "List units", s.Units)
}

func (s *Service) httpHideVariant(ctx context.Context, tx *db.Tx, in *httpapi.ByChild) (ProductVariant, error) {
	return s.HideProductVariant(ctx, tx, in.Caller, in.ID, in.Child)
}

// deleteUnused deletes a category in a batch, which moves no contents and whose result names it.
func (s *Service) deleteUnused(ctx context.Context, tx *db.Tx, by access.Caller, id uuid.UUID) (Category, error) {
	return Category{Key: record.Key{ID: id}}, s.DeleteCategory(ctx, tx, by, id, Reassign{})
}

type deleteCategoryRequest struct {
	httpapi.ByID
	Reassign `params:"inline"`
}

func (s *Service) httpDeleteCategory(ctx context.Context, tx *db.Tx, in *deleteCategoryRequest) (httpapi.None, error) {
	return httpapi.None{}, s.DeleteCategory(ctx, tx, in.Caller, in.ID, in.Reassign)
}
