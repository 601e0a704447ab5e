package clients

import (
	"context"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/store/db"
	"github.com/tradegrid/tradegrid/pkg/store/list"
	"github.com/tradegrid/tradegrid/pkg/store/record"
)

const clientAssets = db.Table("client_assets")

// Asset is a thing of a client that documents can be about, such as a machine to repair.
type Asset struct {
	record.Key
	Owner
	AssetFields
	record.Meta
}

// AssetFields are the fields that API clients set.
type AssetFields struct {
	Name         string  `json:"name" required:"true" minLength:"1" maxLength:"255" search:"text"`
	SerialNumber *string `json:"serialNumber" maxLength:"255" search:"text"`
	Note         *string `json:"note" maxLength:"4000"`
}

// AssetFilter sorts assets.
type AssetFilter struct {
	list.Params
	Sort string `query:"sort" enum:"name,createdAt"`
}

var (
	assets     = partOf[Asset]("client_assets", "ASSET")
	assetItems = list.Of[Asset, AssetFilter](clientAssets)
)

// KnownAssets returns those ids that are assets of clients of the company.
var KnownAssets = assets.Known

// Assets returns a page of the assets of a client.
func (s *Service) Assets(ctx context.Context, by access.Caller, client uuid.UUID, f AssetFilter) (*list.Page[Asset], error) {
	return pageOf(ctx, s.cfg.DB, assetItems, by.Company, client, f)
}

// Asset reads one asset of a client.
func (s *Service) Asset(ctx context.Context, by access.Caller, client, id uuid.UUID) (Asset, error) {
	return assets.get(ctx, s.cfg.DB, by.Company, client, id)
}

// CreateAsset adds an asset to a client.
func (s *Service) CreateAsset(ctx context.Context, tx *db.Tx, by access.Caller, client uuid.UUID, in AssetFields) (Asset, error) {
	if _, err := hold(ctx, tx, by.Company, client); err != nil {
		return Asset{}, err
	}
	return assets.Create(ctx, tx, by, Asset{Owner: Owner{client}, AssetFields: in})
}

// UpdateAsset changes an asset of a client.
func (s *Service) UpdateAsset(ctx context.Context, tx *db.Tx, by access.Caller, client, id uuid.UUID, in record.Patch[AssetFields]) (Asset, error) {
	return assets.change(ctx, tx, by, client, id, func(_ Asset, a *Asset) error { in.Apply(&a.AssetFields); return nil })
}

// DeleteAsset deletes an asset of a client.
func (s *Service) DeleteAsset(ctx context.Context, tx *db.Tx, by access.Caller, client, id uuid.UUID) error {
	return assets.remove(ctx, tx, by, client, id)
}
