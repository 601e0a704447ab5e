// Swagger UI for the operations of one tag, whose description the page names.
window.onload = function () {
  "use strict";
  window.ui = SwaggerUIBundle({
    url: document.body.dataset.description, dom_id: "#swagger-ui", deepLinking: true, layout: "BaseLayout", presets: [SwaggerUIBundle.presets.apis],
    showExtensions: true, showCommonExtensions: true, validatorUrl: null, defaultModelsExpandDepth: -1,
  });
};
