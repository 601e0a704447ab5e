# Reads requests, one JSON object per line, and prints for each whether the library verifies it.
import base64
import json
import sys

from standardwebhooks import Webhook, WebhookVerificationError

for line in sys.stdin:
    request = json.loads(line)
    try:
        Webhook(request["secret"]).verify(base64.b64decode(request["body"]), request["headers"])
        print("true")
    except WebhookVerificationError:
        print("false")
