package codes

import "github.com/tradegrid/tradegrid/pkg/api/httpapi"

// Register adds the operations on channels and methods of delivery.
func (s *Service) Register(api *httpapi.API) { s.register(group.On(api, s.db)) }

// RegisterAdmin adds the operations that operators maintain the directories of a company with.
func (s *Service) RegisterAdmin(api *httpapi.API) { s.register(group.On(api, s.db)) }

func (s *Service) register(r *httpapi.Routes) {
	c := s.Channels()
	httpapi.Read(r, "/channels", "listChannels", "List channels", c.List,
		httpapi.Doc("An array of the built-in channels and those of the company, inactive ones included; orders and deals name a channel by its `code`."))
	httpapi.Create(r, "/channels", "createChannel", "Create a channel", c.Create,
		httpapi.Doc("The `code` stays for good, because documents are stored with it. "+
			"Fails with `CHANNEL_CODE_TAKEN` if another channel, built-in ones included, has the code, and with `CHANNEL_LIMIT_REACHED` above 200 channels."))
	httpapi.Get(r, "/channels/{id}", "getChannel", "Read a channel", c.table.GetFrom(s.db),
		httpapi.Doc("A channel of the company; built-in ones are in the list of channels only. "+
			"Fails with `CHANNEL_NOT_FOUND`."))
	httpapi.Update(r, "/channels/{id}", "updateChannel", "Update a channel", c.Update,
		httpapi.Doc("Fields that are not sent stay; an inactive channel can no longer be chosen, and documents keep it. "+
			"Fails with `CHANNEL_NOT_FOUND`, and with `CHANNEL_CODE_FIXED` if another `code` is sent."))
	m := s.DeliveryMethods()
	httpapi.Read(r, "/delivery-methods", "listDeliveryMethods", "List methods of delivery", m.List,
		httpapi.Doc("An array of the built-in methods and those of the company, inactive ones included; orders and shipments name a method by its `code`."))
	httpapi.Create(r, "/delivery-methods", "createDeliveryMethod", "Create a method of delivery", m.Create,
		httpapi.Doc("The `code` stays for good, because documents are stored with it. "+
			"Fails with `DELIVERY_METHOD_CODE_TAKEN` if another method, built-in ones included, has the code, and with `DELIVERY_METHOD_LIMIT_REACHED` above 200 methods."))
	httpapi.Get(r, "/delivery-methods/{id}", "getDeliveryMethod", "Read a method of delivery", m.table.GetFrom(s.db),
		httpapi.Doc("A method of the company; built-in ones are in the list of methods only. "+
			"Fails with `DELIVERY_METHOD_NOT_FOUND`."))
	httpapi.Update(r, "/delivery-methods/{id}", "updateDeliveryMethod", "Update a method of delivery", m.Update,
		httpapi.Doc("Fields that are not sent stay; an inactive method can no longer be chosen, and documents keep it. "+
			"Fails with `DELIVERY_METHOD_NOT_FOUND`, and with `DELIVERY_METHOD_CODE_FIXED` if another `code` is sent."))
}
