package httpapi

import (
	"mime"

	"github.com/gofiber/fiber/v2"
)

// Charset is the encoding of the text in the body, as the parameter of Content-Type names it; "" = it has none.
func (c *Call) Charset() string {
	_, params, err := mime.ParseMediaType(c.req.header(fiber.HeaderContentType))
	if err != nil {
		return "" // the media type was checked
	}
	return params["charset"]
}
