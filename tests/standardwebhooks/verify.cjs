// Reads requests, one JSON object per line, and prints for each whether the library verifies it.
const { readFileSync } = require("node:fs");
const { Webhook, WebhookVerificationError } = require("standardwebhooks");

for (const line of readFileSync(0, "utf8").trim().split("\n")) {
  const request = JSON.parse(line);
  try {
    new Webhook(request.secret).verify(Buffer.from(request.body, "base64"), request.headers);
    console.log("true");
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log("false");
  }
}
