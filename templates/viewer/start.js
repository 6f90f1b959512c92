// The validator badge would send the description to another host.
window.SwaggerUIBundle({
  url: '../openapi.json',
  dom_id: '#viewer',
  deepLinking: true,
  validatorUrl: null,
  presets: [window.SwaggerUIBundle.presets.apis],
});
