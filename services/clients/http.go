package clients

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/tradegrid/tradegrid/pkg/access"
	"github.com/tradegrid/tradegrid/pkg/db"
	"github.com/tradegrid/tradegrid/pkg/httpapi"
	"github.com/tradegrid/tradegrid/pkg/list"
)

// Register adds the operations of the clients (specification, section 4).
func (s *Service) Register(api *httpapi.API) {
	section := httpapi.Section{Tag: "Clients", Scope: scope, Component: component}
	httpapi.Register(api, section.Op(http.MethodGet, "/clients", "listClients", "List clients", 200), s.httpListClients)
	httpapi.Register(api, section.Op(http.MethodPost, "/clients", "createClient", "Create a client", 201), s.httpCreateClient)
	// Fixed paths go before {id}, which would take them.
	httpapi.Register(api, section.Op(http.MethodGet, "/clients/groups", "listClientGroups", "List client groups", 200), s.httpListGroups)
	httpapi.Register(api, section.Op(http.MethodGet, "/clients/price-lists", "listPriceLists", "List price lists", 200), s.httpListPriceLists)
	httpapi.Register(api, section.Op(http.MethodGet, "/clients/{id}", "getClient", "Read a client", 200), s.httpGetClient)
	httpapi.Register(api, section.Op(http.MethodPatch, "/clients/{id}", "updateClient", "Change a client", 200), s.httpUpdateClient)
	httpapi.Register(api, section.Op(http.MethodPost, "/clients/{id}/archive", "archiveClient", "Archive a client", 200), s.command("clients.archive", s.ArchiveClient))
	httpapi.Register(api, section.Op(http.MethodPost, "/clients/{id}/restore", "restoreClient", "Restore an archived client", 200), s.command("clients.restore", s.RestoreClient))
}

type listClientsRequest struct {
	httpapi.Call
	Filter
}

func (s *Service) httpListClients(ctx context.Context, in *listClientsRequest) (*httpapi.Reply[*list.Page[ListItem]], error) {
	return httpapi.Paged(s.Clients(ctx, in.Company, in.Filter))
}

type createClientRequest struct {
	httpapi.Call
	Body ClientInput
}

func (s *Service) httpCreateClient(ctx context.Context, in *createClientRequest) (*httpapi.Reply[Client], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "clients.create", func(ctx context.Context, tx *db.Tx) (Client, error) {
		return s.CreateClient(ctx, tx, in.Caller, in.Body)
	})
}

func (s *Service) httpGetClient(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[Client], error) {
	c, err := s.Client(ctx, in.Company, in.ID)
	return httpapi.OK(c), err
}

type updateClientRequest struct {
	httpapi.ByID
	Body ClientPatch
}

func (s *Service) httpUpdateClient(ctx context.Context, in *updateClientRequest) (*httpapi.Reply[Client], error) {
	return httpapi.Mutate(ctx, s.db, &in.Call, "clients.update", func(ctx context.Context, tx *db.Tx) (Client, error) {
		return s.UpdateClient(ctx, tx, in.Caller, in.ID, in.Body)
	})
}

type commandFunc func(context.Context, *db.Tx, access.Caller, uuid.UUID) (Client, error)

// command is the handler of a change that needs nothing but the client's id.
func (s *Service) command(name string, run commandFunc) func(context.Context, *httpapi.ByID) (*httpapi.Reply[Client], error) {
	return func(ctx context.Context, in *httpapi.ByID) (*httpapi.Reply[Client], error) {
		return httpapi.Mutate(ctx, s.db, &in.Call, name, func(ctx context.Context, tx *db.Tx) (Client, error) {
			return run(ctx, tx, in.Caller, in.ID)
		})
	}
}

type listRequest struct{ httpapi.Call }

func (s *Service) httpListGroups(ctx context.Context, in *listRequest) (*httpapi.Reply[[]Group], error) {
	groups, err := s.Groups(ctx, in.Company)
	return httpapi.OK(groups), err
}

func (s *Service) httpListPriceLists(ctx context.Context, in *listRequest) (*httpapi.Reply[[]PriceList], error) {
	lists, err := s.PriceLists(ctx, in.Company)
	return httpapi.OK(lists), err
}
