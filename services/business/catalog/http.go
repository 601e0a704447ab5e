package catalog

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/api/httpapi"
	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

// RegisterAdmin adds the operations on directories that operators maintain.
func (s *Service) RegisterAdmin(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	s.registerTraits(r)
	httpapi.Read(r, "/catalog/units", "listUnits", "List units", s.Units,
		httpapi.Doc("An array of the built-in units and those of the company; products name a unit by its `code`."))
	httpapi.Create(r, "/catalog/units", "createUnit", "Create a unit", s.CreateUnit,
		httpapi.Doc("The `code` stays for good, because records are stored with it; `precision` is how many decimals of a quantity are shown. "+
			"Fails with `UNIT_CODE_TAKEN` if another unit, built-in ones included, has the code."))
	httpapi.Get(r, "/catalog/units/{id}", "getUnit", "Read a unit", units.GetFrom(s.cfg.DB),
		httpapi.Doc("A unit of the company; built-in ones are in the list of units only. "+
			"Fails with `UNIT_NOT_FOUND`."))
	httpapi.Update(r, "/catalog/units/{id}", "updateUnit", "Update a unit", s.UpdateUnit,
		httpapi.Doc("Fields that are not sent stay; an inactive unit can no longer be chosen, and products keep it. "+
			"Fails with `UNIT_NOT_FOUND`, and with `UNIT_CODE_FIXED` if another `code` is sent."))
}

// registerTraits adds the operations on attributes and variants, which both operators and integrations maintain.
func (s *Service) registerTraits(r *httpapi.Routes) {
	httpapi.ReadWith(r, "/catalog/attributes", "listAttributes", "List attributes", s.Attributes,
		httpapi.Doc("An array of all attributes with their options; with `categoryId`, those that are for the category or for all products. "+
			"Fails with `VALIDATION_ERROR` if `categoryId` is neither an id nor `null`."))
	httpapi.Create(r, "/catalog/attributes", "createAttribute", "Create an attribute", s.CreateAttribute,
		httpapi.Doc("The `type` decides which kind of value products can have and never changes; options are added by requests of their own. "+
			"Fails with `ATTRIBUTE_CODE_TAKEN`, with `ATTRIBUTE_LIMIT_REACHED` above 1 000 attributes, and with `CATEGORY_NOT_FOUND` for an id in `categoryIds`."))
	httpapi.Get(r, "/catalog/attributes/{id}", "getAttribute", "Read an attribute with its options", s.Attribute,
		httpapi.Doc("Options come in their order, with the colours and translations that were set. "+
			"Fails with `ATTRIBUTE_NOT_FOUND`."))
	httpapi.Update(r, "/catalog/attributes/{id}", "updateAttribute", "Update an attribute", s.UpdateAttribute,
		httpapi.Doc("Fields that are not sent stay; products show the new name at once, without events of their own. "+
			"Fails with `ATTRIBUTE_NOT_FOUND`, `ATTRIBUTE_CODE_TAKEN`, and `VALIDATION_ERROR` if another `type` is sent."))
	httpapi.Delete(r, "/catalog/attributes/{id}", "deleteAttribute", "Delete an attribute", s.DeleteAttribute,
		httpapi.Doc("Removes an attribute without values, with its options, for good. "+
			"Fails with `ATTRIBUTE_NOT_FOUND`, and with `ATTRIBUTE_IN_USE` while a product or variant, hidden ones included, has a value of it."))
	httpapi.CreateIn(r, "/catalog/attributes/{id}/options", "createAttributeOption", "Add an option to an attribute", s.CreateAttributeOption,
		httpapi.Doc("Only attributes of the types `select` and `multiselect` have options; `sortOrder` decides about their order. "+
			"Fails with `ATTRIBUTE_NOT_FOUND`, with `ATTRIBUTE_OPTION_LIMIT_REACHED` above 2 000 options, and with `VALIDATION_ERROR` on `label` if the attribute has another type."))
	httpapi.GetIn(r, "/catalog/attributes/{id}/options/{optionId}", "getAttributeOption", "Read an option", s.AttributeOption,
		httpapi.Doc("One choice of an attribute with its label, translations and colour. "+
			"Fails with `ATTRIBUTE_NOT_FOUND` or `ATTRIBUTE_OPTION_NOT_FOUND`."))
	httpapi.UpdateIn(r, "/catalog/attributes/{id}/options/{optionId}", "updateAttributeOption", "Update an option", s.UpdateAttributeOption,
		httpapi.Doc("Fields that are not sent stay; products show the new label at once. "+
			"Fails with `ATTRIBUTE_NOT_FOUND` or `ATTRIBUTE_OPTION_NOT_FOUND`."))
	httpapi.DeleteIn(r, "/catalog/attributes/{id}/options/{optionId}", "deleteAttributeOption", "Delete an option", s.DeleteAttributeOption,
		httpapi.Doc("Removes a choice that no product or variant has as its value, for good. "+
			"Fails with `ATTRIBUTE_OPTION_NOT_FOUND`, and with `ATTRIBUTE_OPTION_IN_USE` while one has it."))
	httpapi.GetWith(r, "/catalog/products/{id}/variants", "listProductVariants", "List the variants of a product", s.ProductVariants,
		httpapi.Doc("An array with hidden variants, too; `effectivePrice` is the own price or that of the product, in minor units, and `include=stock` adds quantities; `sku` and `barcode` select the one that has it. "+
			"Fails with `PRODUCT_NOT_FOUND`."))
	httpapi.CreateIn(r, "/catalog/products/{id}/variants", "createProductVariant", "Add a variant to a product", s.CreateProductVariant,
		httpapi.Doc("From its first active variant on, a product is ordered and stocked by variant; without `sku` a free one is generated. "+
			"Fails with `PRODUCT_NOT_FOUND`, `ATTRIBUTE_NOT_FOUND`, `PRODUCT_VARIANT_EXISTS`, `SKU_TAKEN`, `BARCODE_TAKEN`, `PRODUCT_VARIANT_EXTERNAL_ID_TAKEN`, and `PRODUCT_VARIANT_LIMIT_REACHED` above 1 000 variants."))
	httpapi.GetIn(r, "/catalog/products/{id}/variants/{variantId}", "getProductVariant", "Read a variant", s.ProductVariant,
		httpapi.Doc("One variant with its attribute values by name; hidden ones are found, too. "+
			"Fails with `PRODUCT_NOT_FOUND` or `PRODUCT_VARIANT_NOT_FOUND`."))
	httpapi.UpdateIn(r, "/catalog/products/{id}/variants/{variantId}", "updateProductVariant", "Update a variant", s.UpdateProductVariant,
		httpapi.Doc("Fields that are not sent stay; the change counts as one of the product as well, and `If-Match` is about the version of the variant. "+
			"Fails with `PRODUCT_VARIANT_NOT_FOUND`, `PRODUCT_VARIANT_EXISTS`, `SKU_TAKEN`, `BARCODE_TAKEN` or `PRODUCT_VARIANT_EXTERNAL_ID_TAKEN`."))
	httpapi.Change(r, "DELETE /catalog/products/{id}/variants/{variantId}", "deleteProductVariant", "Hide a variant", s.httpHideVariant,
		httpapi.Doc("Sets the status to `hidden`, because documents refer to variants; the barcode becomes free, and a repeat changes nothing. "+
			"Fails with `PRODUCT_NOT_FOUND` or `PRODUCT_VARIANT_NOT_FOUND`."))
}

// Register adds the operations of the catalog.
func (s *Service) Register(api *httpapi.API) {
	r := group.On(api, s.cfg.DB)
	httpapi.ReadWith(r, "/catalog/categories", "listCategories", "List categories", s.Categories,
		httpapi.Doc("An array of the whole forest, roots first; `path` holds the ids from the root, `productsCount` the active products in the category itself. "+
			"Fails with `VALIDATION_ERROR` for a filter that does not fit."))
	httpapi.Create(r, "/catalog/categories", "createCategory", "Create a category", s.CreateCategory,
		httpapi.Doc("Without `parentId` it is a root; `prefix` begins the SKUs that are generated for its products. "+
			"Fails with `CATEGORY_NOT_FOUND` for the parent, `CATEGORY_DEPTH_EXCEEDED` below the tenth level, `CATEGORY_LIMIT_REACHED` above 10 000 categories, and `CATEGORY_EXTERNAL_ID_TAKEN`."))
	httpapi.Upsert(r, "/catalog/categories", "upsertCategory", "Create or update a category by its external id",
		httpapi.Upserts[CategoryFields, CategoryFields, Category]{Find: categories.FindExternal, Create: s.CreateCategory, Update: s.UpdateCategory},
		httpapi.Doc("Creates the category (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event. "+
			"Fails with `CATEGORY_NOT_FOUND` for the parent, `CATEGORY_CYCLE`, `CATEGORY_DEPTH_EXCEEDED` or `CATEGORY_LIMIT_REACHED`."))
	httpapi.Batch(r, "/catalog/categories/batch", "batchCategories", "Create, update and delete up to 1 000 categories",
		httpapi.Writes[CategoryFields, Category]{Create: s.CreateCategory, Update: s.UpdateCategory, FindExternal: categories.FindExternal, Delete: s.deleteUnused},
		httpapi.Doc("Items are carried out in their order, and one that fails does not affect the others, so parents come before children; the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `CATEGORY_IN_USE` or `EXTERNAL_ID_NOT_FOUND`."))
	httpapi.ReadWith(r, "/catalog/categories/tree", "getCategoryTree", "Read the tree of categories", s.CategoryTree,
		httpapi.Doc("All categories, or those from `rootId` down, each with its `children`, sorted by `sortOrder` and name. "+
			"Fails with `CATEGORY_NOT_FOUND` for `rootId`, and with `CATEGORY_TREE_TOO_LARGE` for a tree that has to be read in parts."))
	httpapi.Create(r, "PUT /catalog/categories/tree", "storeCategoryTree", "Create or update a tree of categories", s.StoreCategoryTree, httpapi.Answers(http.StatusOK),
		httpapi.Doc("Creates and changes up to 1 000 nested categories, named by `externalId`, or by name below their parent, in one transaction: all or none; fields and categories that are not sent stay. "+
			"Fails with `CATEGORY_NOT_FOUND` for `parentId`, and with `CATEGORY_CYCLE`, `CATEGORY_DEPTH_EXCEEDED`, `CATEGORY_LIMIT_REACHED` or `CATEGORY_NAME_AMBIGUOUS`, whose `meta.field` names the node."))
	httpapi.Get(r, "/catalog/categories/{id}", "getCategory", "Read a category", s.Category,
		httpapi.Doc("One category with its `path` from the root and the count of its own active products. "+
			"Fails with `CATEGORY_NOT_FOUND`."))
	httpapi.Update(r, "/catalog/categories/{id}", "updateCategory", "Update a category", s.UpdateCategory,
		httpapi.Doc("Fields that are not sent stay; another `parentId` moves the category with everything below it, and SKUs stay as they are. "+
			"Fails with `CATEGORY_NOT_FOUND`, `CATEGORY_CYCLE` if it would lie below itself, `CATEGORY_DEPTH_EXCEEDED`, or `CATEGORY_EXTERNAL_ID_TAKEN`."))
	httpapi.Change(r, "DELETE /catalog/categories/{id}", "deleteCategory", "Delete a category", s.httpDeleteCategory, httpapi.Answers(http.StatusNoContent),
		httpapi.Doc("With `reassignTo`, an id or `null`, child categories and items are moved there first, each with an event; hidden items lose the category in any case. "+
			"Fails with `CATEGORY_NOT_FOUND`, with `CATEGORY_IN_USE` if it has contents and `reassignTo` is missing, and with `CATEGORY_CYCLE` or `CATEGORY_DEPTH_EXCEEDED` if they do not fit there."))
	httpapi.List(r, "/catalog/products", "listProducts", "List products", s.Products,
		httpapi.Doc("Newest first and without hidden products unless `status` asks for them; prices are whole minor units, and `include` adds variants, attributes or stock."))
	httpapi.Create(r, "/catalog/products", "createProduct", "Create a product", s.CreateProduct,
		httpapi.Doc("Prices are whole minor units; without `sku` the next free one is generated, and `unit` is the code of a unit. "+
			"Fails with `SKU_TAKEN`, `BARCODE_TAKEN`, `PRODUCT_EXTERNAL_ID_TAKEN`, `CATEGORY_NOT_FOUND`, `SUPPLIER_NOT_FOUND`, `ATTRIBUTE_NOT_FOUND`, and `VALIDATION_ERROR` if a required attribute has no value."))
	httpapi.Upsert(r, "/catalog/products", "upsertProduct", "Create or update a product by its external id",
		httpapi.Upserts[ProductInput, ProductInput, Product]{Find: products.FindExternal, Create: s.CreateProduct, Update: s.UpdateProduct},
		httpapi.Doc("Creates the product (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event, so that a sync may send all it has. "+
			"Fails with `SKU_TAKEN`, `BARCODE_TAKEN`, `CATEGORY_NOT_FOUND`, `SUPPLIER_NOT_FOUND` or `ATTRIBUTE_NOT_FOUND`."))
	httpapi.Batch(r, "/catalog/products/batch", "batchProducts", "Create, update and hide up to 1 000 products",
		httpapi.Writes[ProductInput, Product]{Create: s.CreateProduct, Update: s.UpdateProduct, Find: s.productBySKU, FindExternal: products.FindExternal, Delete: s.HideProduct},
		httpapi.Doc("Items are carried out in their order, and one that fails does not affect the others; `upsert` names the product by `sku` or by `source` and `externalId`, and the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `SKU_TAKEN` or `EXTERNAL_ID_NOT_FOUND`."))
	httpapi.Create(r, "/catalog/products/bulk-price", "repriceProducts", "Update the prices of many products", s.RepriceProducts, httpapi.Answers(http.StatusAccepted),
		httpapi.Doc("Starts a job that applies one rule to the prices of all products that the filter selects, rounded half up to `roundTo` minor units; poll the job, which cannot be stopped halfway. "+
			"Fails with `VALIDATION_ERROR` on `rule.value` if a price would leave its range, `CATEGORY_NOT_FOUND`, `JOB_LIMIT_REACHED`, and `QUERY_TOO_EXPENSIVE` if counting takes too long."))
	httpapi.View(r, "POST /catalog/products/bulk-price/preview", "previewReprice", "Preview new prices of many products", s.httpPreviewReprice,
		httpapi.Doc("Counts the products that the filter selects, and calculates the new prices of the first 100 in minor units; nothing is changed. "+
			"Fails as the change does, with `VALIDATION_ERROR` on `rule.value` if a price would leave its range, `CATEGORY_NOT_FOUND`, and `QUERY_TOO_EXPENSIVE` if counting takes too long."))
	httpapi.GetWith(r, "/catalog/products/{id}", "getProduct", "Read a product", s.Product,
		httpapi.Doc("Hidden products are found, too; `include=stock,variants` adds the totals over all warehouses and the variants. "+
			"Fails with `PRODUCT_NOT_FOUND`."))
	httpapi.Update(r, "/catalog/products/{id}", "updateProduct", "Update a product", s.UpdateProduct,
		httpapi.Doc("Fields that are not sent stay; `attributes`, `costComponents` and `modifierGroups` are replaced as a whole, and `status` hides or shows the product. "+
			"Fails with `PRODUCT_NOT_FOUND`, `SKU_TAKEN`, `BARCODE_TAKEN`, `PRODUCT_EXTERNAL_ID_TAKEN`, `CATEGORY_NOT_FOUND`, `SUPPLIER_NOT_FOUND` or `ATTRIBUTE_NOT_FOUND`."))
	httpapi.Command(r, "DELETE /catalog/products/{id}", "deleteProduct", "Hide a product", s.HideProduct,
		httpapi.Doc("Sets the status to `hidden`, because documents refer to products; its barcode becomes free, its SKU does not, and a repeat changes nothing. "+
			"Fails with `PRODUCT_NOT_FOUND`."))
	s.registerTraits(r)
	httpapi.UpsertIn(r, "/catalog/products/{id}/variants", "upsertProductVariant", "Create or update a variant of a product by its external id",
		httpapi.UpsertsIn[VariantInput, VariantInput, ProductVariant]{Find: findVariant, Create: s.CreateProductVariant, Update: s.UpdateProductVariant},
		httpapi.Doc("Creates the variant (201), or changes the fields of the body that differ (200); if none differs, there is no new version and no event. "+
			"Fails with `PRODUCT_NOT_FOUND`, `PRODUCT_VARIANT_EXISTS`, `PRODUCT_VARIANT_LIMIT_REACHED`, `SKU_TAKEN`, `BARCODE_TAKEN`, or `PRODUCT_VARIANT_EXTERNAL_ID_TAKEN` if a variant of another product has the external id."))
	httpapi.List(r, "/catalog/variants", "listVariants", "List the variants of all products", s.Variants,
		httpapi.Doc("Newest first and without hidden variants unless `status` asks for them; `sku`, `barcode`, and `source` with `externalId` find the one that a till or a shop names, whose `productId` tells its product. "+
			"Fails with `VALIDATION_ERROR` for a filter, sort or cursor that does not fit, and with `QUERY_TOO_EXPENSIVE` if a page takes longer than a second."))
	httpapi.Batch(r, "/catalog/variants/batch", "batchVariants", "Create, update and hide up to 1 000 variants",
		httpapi.Writes[BatchVariantInput, ProductVariant]{
			Create: s.CreateVariant, Update: s.UpdateVariant, Find: variantBySKU, FindExternal: variants.FindExternal, Delete: s.HideVariant,
		},
		httpapi.Doc("Items are carried out in their order, and one that fails does not affect the others; a new variant names its product by `productId`, `productSku`, or `productSource` and `productExternalId`, and the answer is 200 with a result for each item, or for more than 200 items 202 with a job. "+
			"The whole request fails with `VALIDATION_ERROR` if the list itself is wrong, and with `JOB_LIMIT_REACHED`; items fail alone, for example with `PRODUCT_VARIANT_EXISTS` or `PRODUCT_NOT_FOUND`."))
	httpapi.CommandWith(r, "/catalog/products/{id}/variants/matrix", "createVariantMatrix", "Create a variant of a product for each combination of options", s.CreateVariantMatrix,
		httpapi.Doc("Makes the missing variants of up to 100 combinations in one transaction and one change of the product; combinations that exist are counted and stay, so that it can be repeated. "+
			"Fails with `PRODUCT_NOT_FOUND`, `ATTRIBUTE_NOT_FOUND`, `ATTRIBUTE_OPTION_NOT_FOUND`, `PRODUCT_VARIANT_LIMIT_REACHED`, and `VALIDATION_ERROR` for more combinations or an attribute that does not distinguish variants."))
	httpapi.Read(r, "/catalog/units", "listUnits", "List units", s.Units,
		httpapi.Doc("An array of the built-in units and those of the company; products name a unit by its `code`."))
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
