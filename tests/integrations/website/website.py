"""Brings the orders and leads of a website into a company, and tells the website what becomes of them. Python 3.11 or newer, no packages.

Each function may be called again with the same arguments, whatever became of the call before: by a visitor who clicks twice, by a
payment provider that tells everything twice, by a queue that repeats what failed.
"""

import hashlib
import hmac
import http.client
import json
import random
import sqlite3
import time
import urllib.error
import urllib.request
import uuid
from http.server import BaseHTTPRequestHandler
from urllib.parse import quote, urlencode

SOURCE = "website"  # of external ids
EVENTS = ["lead.status_changed", "order.status_changed", "order.shipped", "order.return.created"]
TRIES = 8


class ApiError(Exception):
    """A refusal, as docs/reference/errors.md describes it."""

    def __init__(self, status, text):
        try:
            body = json.loads(text)
        except ValueError:
            body = {"message": text}  # of something in between
        super().__init__(f"{status} {body.get('code')}: {body['message']} (request {body.get('requestId')})")
        self.status, self.code, self.meta = status, body.get("code"), body.get("meta", {})


class Api:
    """Calls the API: every change under an idempotency key, again after what may pass."""

    def __init__(self, base, token):
        self.base, self.token, self.calls = base, token, 0

    def call(self, method, path, body=None, if_match=None):
        """The decoded answer and its headers."""
        headers = {"Authorization": f"Bearer {self.token}"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if if_match:
            headers["If-Match"] = if_match
        if method != "GET":
            headers["X-Idempotency-Key"] = str(uuid.uuid4())  # one for all tries, so that the change is made once
        data = json.dumps(body).encode() if body is not None else None
        self.calls += 1
        for attempt in range(1, TRIES + 1):
            pause = min(0.1 * 2**attempt, 10) * random.uniform(0.5, 1)
            try:
                request = urllib.request.Request(self.base + path, data, headers, method=method)
                with urllib.request.urlopen(request, timeout=35) as answer:
                    text = answer.read()
                    return (json.loads(text) if text else None), answer.headers
            except urllib.error.HTTPError as refusal:
                error = ApiError(refusal.code, refusal.read())
                passes = error.status in (408, 429, 500, 502, 503, 504) and error.code != "QUERY_TOO_EXPENSIVE"
                if attempt == TRIES or not (passes or error.code == "IDEMPOTENCY_IN_FLIGHT"):
                    raise error from None
                pause = float(refusal.headers.get("Retry-After", pause))
            except (OSError, http.client.HTTPException):  # no answer, or a part of one
                if attempt == TRIES:
                    raise
            time.sleep(pause)


def signed(secret, headers, body):
    """Whether a webhook is the platform's; see docs/verify.md."""
    want = b"sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest().encode()
    got = [headers.get(name, "").encode() for name in ("X-Svc-Signature", "X-Svc-Signature-Previous")]
    return any([hmac.compare_digest(want, each) for each in got])


class Website:
    """mail(to, text) tells a customer something. file is a database with what has to outlive the process."""

    def __init__(self, api, mail, file):
        self.api, self.mail = api, mail
        self.db = sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self.db.execute("CREATE TABLE IF NOT EXISTS settings (name TEXT PRIMARY KEY, value TEXT)")
        self.db.execute("CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body TEXT, done INTEGER DEFAULT 0)")

    def setting(self, name, value=None):
        if value is not None:
            self.db.execute("INSERT OR REPLACE INTO settings VALUES (?, ?)", (name, value))
        row = self.db.execute("SELECT value FROM settings WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    # Leads

    def ask(self, form):
        """A visitor wants to be called: form has id, name, phone, message. The id is made with the page, so that a second click is the same."""
        lead, _ = self.api.call("POST", "/leads", {"source": SOURCE, "externalId": form["id"], **{k: form[k] for k in ("name", "phone", "message")}})
        return lead

    # Orders

    def quote(self, cart):
        """What a cart costs, with the coupon and the taxes, before the visitor orders."""
        preview, _ = self.api.call("POST", "/orders/preview", self.order_of(cart))
        return preview

    def place(self, cart):
        """Orders a cart, once, for the client with this phone number; a new one becomes a client."""
        buyer = cart["buyer"]
        client, _ = self.api.call("PUT", f"/clients/by-phone/{quote(buyer['phone'], safe='')}", {"kind": "individual", "displayName": buyer["name"], "email": buyer["email"]})
        try:
            order = {**self.order_of(cart), "customerId": client["id"], "source": SOURCE, "externalId": cart["id"]}
            return self.api.call("POST", "/orders", order)[0]
        except ApiError as error:
            if error.code != "ORDER_EXTERNAL_ID_TAKEN":
                raise
            return self.api.call("GET", f"/orders/{error.meta['id']}")[0]  # ordered before; an upsert would undo what the shop has changed since

    def order_of(self, cart):
        return {
            "items": [{"sku": line["sku"], "qty": line["quantity"]} for line in cart["lines"]],
            "customerName": cart["buyer"]["name"], "customerPhone": cart["buyer"]["phone"], "customerEmail": cart["buyer"]["email"],
            "channel": "public_link", "deliveryMethod": "courier", "deliveryAddressText": cart["address"], "deliveryCost": cart["delivery"],
            **({"couponCode": cart["coupon"]["code"], "discountPercent": cart["coupon"]["percent"]} if cart.get("coupon") else {}),
        }  # fmt: skip

    def order(self, cart_id):
        orders, _ = self.api.call("GET", "/orders?" + urlencode({"source": SOURCE, "externalId": cart_id}))
        return orders["items"][0] if orders["items"] else None

    def change(self, cart_id, **fields):
        """Changes an order that nobody works on yet, such as its address or note: False if it is too late."""
        order = self.order(cart_id)
        while order["status"] in ("new", "confirmed"):
            try:
                self.api.call("PATCH", f"/orders/{order['id']}", fields, if_match=f'"{order["version"]}"')
                return True
            except ApiError as error:
                if error.code != "PRECONDITION_FAILED":
                    raise
            order = self.order(cart_id)  # somebody has changed it: decide anew
        return False

    def cancel(self, cart_id, reason):
        """Cancels an order that has not left, and gives the money back: False if it has left."""
        order = self.order(cart_id)
        if "cancelled" in order["allowedTransitions"]:
            try:
                order, _ = self.api.call("POST", f"/orders/{order['id']}/status/cancelled", {"reason": reason})
            except ApiError as error:
                if error.code not in ("ORDER_HAS_SHIPMENTS", "ORDER_STATUS_TRANSITION_INVALID"):
                    raise
                return False
        if order["status"] != "cancelled":
            return False
        payments, _ = self.api.call("GET", f"/orders/{order['id']}/payments")
        for payment in payments["items"]:
            left = payment["amount"] - payment["refundedAmount"]
            if payment["kind"] == "payment" and left > 0:
                self.api.call("POST", f"/orders/{order['id']}/payments/{payment['id']}/refund", {"amount": left})
        return True

    def give_back(self, cart_id, return_id, lines, reason):
        """The goods of some lines came back: the return, and the money to the payments that it came from, all or nothing."""
        order, _ = self.api.call("GET", f"/orders/{self.order(cart_id)['id']}")
        payments, _ = self.api.call("GET", f"/orders/{order['id']}/payments?kind=payment")
        by_sku = {line["sku"]: line["id"] for line in order["lines"]}
        body = {"source": SOURCE, "externalId": return_id, "reason": reason, "items": [{"orderLineId": by_sku[x["sku"]], "qty": x["quantity"]} for x in lines]}
        body["refunds"] = [{"paymentId": p["id"]} for p in payments["items"] if p["amount"] > p["refundedAmount"]]  # what was overpaid
        try:
            return self.api.call("POST", f"/orders/{order['id']}/returns", body)[0]
        except ApiError as error:
            if error.code != "RETURN_EXTERNAL_ID_TAKEN":
                raise
            return self.api.call("GET", f"/orders/{order['id']}/returns/{error.meta['id']}")[0]  # told before

    # Payments

    def paid(self, note):
        """The payment provider tells of a payment: note has id, cart, amount. It may tell twice, and after the order was cancelled."""
        order = self.order(note["cart"])
        path = f"/orders/{order['id']}/payments/by-external-id/provider/{quote(note['id'], safe='')}"
        payment, _ = self.api.call("PUT", path, {"amount": note["amount"], "method": "card", "reference": note["id"]})
        return payment

    # Webhooks

    def subscribe(self, url):
        """Once: from then on events come to the URL, and the log has those that got lost."""
        if self.setting("secret") is None:
            start, _ = self.api.call("GET", "/events?start=now")
            subscription, _ = self.api.call("POST", "/webhooks/subscriptions", {"url": url, "events": EVENTS, "name": SOURCE})
            self.setting("cursor", start["nextCursor"])
            self.setting("secret", subscription["secret"])

    def store(self, event):
        """Keeps an event, once: webhooks can come twice, and the log has them as well."""
        if "eventId" in event:
            self.db.execute("INSERT OR IGNORE INTO events (id, body) VALUES (?, ?)", (event["eventId"], json.dumps(event)))

    def catch_up(self):
        """Reads the events that no webhook has brought. Run it every few minutes."""
        more = True
        while more:
            try:
                page, _ = self.api.call("GET", "/events?" + urlencode({"cursor": self.setting("cursor"), "events": ",".join(EVENTS), "limit": 200}))
            except ApiError as error:
                if error.code != "EVENTS_CURSOR_EXPIRED":
                    raise
                page, _ = self.api.call("GET", "/events?start=now")  # mails of a month ago are no loss
            for event in page["items"]:
                self.store(event)
            self.setting("cursor", page["nextCursor"])
            more = page["hasMore"]
        self.work()

    def work(self):
        """Does what the stored events ask for."""
        for event_id, body in self.db.execute("SELECT id, body FROM events WHERE done = 0 ORDER BY rowid").fetchall():
            event = json.loads(body)
            self.tell(event["event"], event["data"])
            self.db.execute("UPDATE events SET done = 1 WHERE id = ?", (event_id,))

    def tell(self, event, data):
        if event == "order.shipped" and data["source"] == SOURCE:
            self.mail(data["customerEmail"], f"Order {data['number']} is on its way: {data['shipment']['trackingNumber']}")
        elif event == "order.status_changed" and data["source"] == SOURCE:
            self.mail(data["customerEmail"], f"Order {data['number']} is {data['status']}")
        elif event == "order.return.created" and data["source"] == SOURCE:
            self.mail(None, f"Return {data['number']}: {data['refundedAmount']} go back")
        elif event == "lead.status_changed" and data["source"] == SOURCE:
            self.mail(data["email"], f"Your question is {data['status']}")


def receiver(website):
    """The handler for webhooks: verify, store, answer. The work follows."""

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if not signed(website.setting("secret") or "", self.headers, body):
                self.send_error(401)
                return
            website.store(json.loads(body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    return Receiver
