"""What schemathesis has to know about Tradegrid beyond its API descriptions."""

import json
import random
import uuid

import requests
import schemathesis
from schemathesis.core.failures import Failure

# Codes of faults that no schema can express: they depend on other fields, on records, or on the company.
RELATIVE = {"CONFLICT", "REQUIRED", "STEP", "UNKNOWN"}

# Texts in languages of their own, which are described in words.
PARSED = {"fields", "events", "event", "cursor"}

addresses = random.SystemRandom()
send = requests.adapters.HTTPAdapter.send


def send_from_anywhere(self, request, *args, **kwargs):
    """Calls from another address each time, since tests without a token would lock one out, and with a key that was not used before."""
    request.headers["X-Forwarded-For"] = ".".join(str(addresses.randint(1, 250)) for _ in range(4))
    key = request.headers.get("X-Idempotency-Key")
    if isinstance(key, bytes):
        key = key.decode("latin-1")
    if key is not None and is_uuid(key):
        request.headers["X-Idempotency-Key"] = str(uuid.uuid4())
    return send(self, request, *args, **kwargs)


requests.adapters.HTTPAdapter.send = send_from_anywhere


def is_uuid(text):
    try:
        return len(text) == 36 and uuid.UUID(text) is not None
    except ValueError:
        return False


class RefusedByHiddenRule(Failure):
    """A request that follows the description was refused for its form."""


def is_hidden(fault):
    return not (
        fault["code"] in RELATIVE
        or fault["field"].split(".")[-1].split("[")[0] in PARSED
        or "decimal place" in fault["message"]
    )


@schemathesis.check
def rules_are_described(ctx, response, case):
    """Fails a 400 for a request that follows the description."""
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return None
    body = response.json()
    hidden = [fault for fault in body.get("errors") or [] if is_hidden(fault)]
    if hidden:
        raise RefusedByHiddenRule(
            operation=case.operation.label,
            title="A rule is not in the description",
            message="\n".join(f"{fault['field']}: {fault['code']}: {fault['message']}" for fault in hidden[:5]),
        )
    return None


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops failures about texts that are another value once they are trimmed: too short, or empty and so null."""
    if isinstance(failure, RefusedByHiddenRule):
        return any(line for line in failure.message.splitlines() if "non-blank character" not in line)
    if type(failure).__name__ == "AcceptedNegativeData":
        return not is_empty_text(failure.message, case)
    return True
