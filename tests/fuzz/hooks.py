"""What schemathesis has to know about Tradegrid beyond its API descriptions."""

import random
import re
import uuid

import requests
import schemathesis
from schemathesis.core.failures import AcceptedNegativeData, Failure

# Codes of faults that depend on other fields, on records, or on the company, which no schema expresses.
RELATIVE = {"CONFLICT", "REQUIRED", "STEP", "UNKNOWN"}

# Fields whose values are in other records, in lists too long for a schema, or in a language of their own, and bounds by other fields.
DESCRIBED_IN_WORDS = re.compile(
    r"(^|\.)(fields|event|events\[\d+\]|cursor|unit|timeZone|ipAllowlist\[\d+\]|workingHours\[\d+\]\.to|filters?(\..*)?|intake\..*|columns\[\d+\])$"
    r"|^payments$",  # one, unless paymentMethod is mixed
    re.DOTALL,
)

# Faults whose rule depends on other fields, on records or on the clock say on which.
DEPENDS = re.compile(
    r"\b(which is|because|unless|exceeds|of the group|minimum order quantity|would make|would raise|in its checklist"
    r"|in the future|days ago|from now|not be before|on or after)\b"
)

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


class HiddenRule(Failure):
    """A request that follows the description was refused for its form."""


def is_hidden(fault, case):
    text = fault["message"]
    return not (
        fault["code"] in RELATIVE
        or links_to_nothing(case, fault["field"])
        or DESCRIBED_IN_WORDS.search(fault["field"])
        or DEPENDS.search(text)
        or fault["field"].startswith("attr[") and fault["code"] == "ENUM"  # the attribute is not in the catalog
        or "decimal place" in text  # x-decimals
        or "without an exponent" in text
        or "port of 1 to 65535" in text
        or "must be a URL" in text
        or "non-blank character" in text  # texts are trimmed before their length is checked
        or "not blank" in text  # invisible characters are blank, too, and no pattern names them all
        or "must not be 0" in text  # what changes by nothing is no change, and generators of clients know no word for that
    )


def links_to_nothing(case, field):
    """Whether the parameter of the path was taken from a field of an earlier answer, and that was null."""
    return case.path_parameters.get(field, "") in (None, "None")


@schemathesis.check
def rules_are_described(ctx, response, case):
    """Fails a 400 for a request that follows the description."""
    if response.status_code != 400 or case.meta is None or not case.meta.generation.mode.is_positive:
        return
    hidden = [fault for fault in response.json().get("errors") or [] if is_hidden(fault, case)]
    if hidden:
        raise HiddenRule(
            operation=case.operation.label,
            title="A rule is not in the description",
            message="\n".join(f"{fault['field']}: {fault['code']}: {fault['message']}" for fault in hidden[:5]),
        )


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Drops what is documented otherwise: blank optional texts become null, and faults of a batch's items are in their results.

    A case now and then is said to miss a property that its request need not have, such as the product of a line that may be named
    otherwise."""
    if not isinstance(failure, AcceptedNegativeData):
        return True
    missing = re.search(r"Missing required property: (\w+)", failure.message)
    if missing and missing[1] not in required_of(case.operation.definition.raw.get("requestBody"), case.operation.schema.raw_schema):
        return False
    return not (case.operation.path.endswith("/batch") or blank_is_null(failure.message, case.body))


def required_of(node, root, seen=()):
    """The names of all properties that a part of the description requires, those of the schemas that it refers to included."""
    if isinstance(node, list):
        return set().union(*(required_of(v, root, seen) for v in node))
    if not isinstance(node, dict):
        return set()
    ref, names = node.get("$ref"), node.get("required")
    found = set(names) if isinstance(names, list) else set()
    if isinstance(ref, str) and ref not in seen:
        target = root
        for step in ref.removeprefix("#/").split("/"):
            target = target[step]
        found |= required_of(target, root, (*seen, ref))
    return found.union(*(required_of(v, root, seen) for v in node.values()))


def blank_is_null(message, body):
    """Whether the component that is not like its schema is a blank text in the body, at any depth, or in an item of one of its arrays."""
    paths = re.findall(r"body((?:\s*->?\s*\w+)+)", message)
    names = [name for path in paths for name in re.findall(r"\w+", path)]
    names += re.findall(r"Array with invalid items: (\w+)", message)
    return any(blank_at(name, body) for name in names)


def blank_at(name, node):
    """Whether a property of this name is a blank text, at any depth."""
    if isinstance(node, list):
        return any(blank_at(name, v) for v in node)
    if not isinstance(node, dict):
        return False
    own = node.get(name)
    return isinstance(own, str) and not own.strip() or any(blank_at(name, v) for v in node.values())
