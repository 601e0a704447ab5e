"""A day of website.py: visitors ask, order, pay, cancel and send back; the shop of $SHOP_TOKEN works on it; webhooks get lost. The sums
in the end are compared, and printed."""

import os
import threading
import time
from http.server import ThreadingHTTPServer

from website import Api, ApiError, Website, receiver

shop = Api(os.environ["SHOP_BASE"], os.environ["SHOP_TOKEN"])
api = Api(os.environ["BASE"], os.environ["TOKEN"])
mails = []
site = Website(api, lambda to, text: mails.append((to, text)), os.environ["STATE"])


def of(method, path, body=None):
    return shop.call(method, path, body)[0]


def equal(want, got, what):
    assert want == got, f"{what}: wanted {want}, got {got}"


def until(what, condition):
    end = time.time() + 60
    while not condition():
        assert time.time() < end, f"waiting for {what}: {mails}"
        time.sleep(0.05)
        site.work()


# What the shop sells, with its tax.
tax = of("POST", "/catalog/tax-rates", {"name": "Standard", "percent": 19, "kind": "standard"})["id"]
for sku, name, price in (("WEB-HELMET", "Helmet", 8999), ("WEB-LIGHT", "Light", 2490)):
    of("POST", "/catalog/products", {"sku": sku, "name": name, "price": price, "taxRateId": tax})

server = ThreadingHTTPServer(("127.0.0.1", 0), receiver(site))
threading.Thread(target=server.serve_forever, daemon=True).start()
site.subscribe(f"http://127.0.0.1:{server.server_port}/tradegrid")

# A visitor asks, and clicks twice.
form = {"id": "form-1", "name": "Ida Berg", "phone": "030 901820", "message": "Do you repair spokes?"}
equal(site.ask(form)["id"], site.ask(form)["id"], "a second click makes no lead")
equal(1, len(of("GET", "/leads?source=website")["items"]), "leads")

# A customer orders with a coupon. What was quoted is what it costs. The second click orders nothing.
buyer = {"name": "Ida Berg", "phone": "+49 30 901820", "email": "ida@example.com"}
cart = {"id": "C-1", "buyer": buyer, "address": "Lindenstr. 1, Berlin", "delivery": 490, "coupon": {"code": "AUTUMN", "percent": 10},
        "lines": [{"sku": "WEB-HELMET", "quantity": 1}, {"sku": "WEB-LIGHT", "quantity": 3}]}  # fmt: skip
quoted, order = site.quote(cart), site.place(cart)
equal((14822, 1647, 2366), (quoted["total"], quoted["discountAmount"], quoted["taxAmount"]), "the quote")
equal((quoted["total"], 14822 + 490), (order["total"], order["payable"]), "the order")
equal(order["id"], site.place(cart)["id"], "a second click makes no order")

# The provider tells the payment twice, also at the same time.
note = {"id": "pay-1", "cart": "C-1", "amount": order["payable"]}
threads = [threading.Thread(target=site.paid, args=(note,)) for _ in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
equal(("paid", 0), (lambda o: (o["paymentStatus"], o["amountDue"]))(of("GET", f"/orders/{order['id']}")), "paid once")

# The customer corrects the address while the shop writes a note into the same order.
plain, meddle = api.call, [lambda: of("PATCH", f"/orders/{order['id']}", {"note": "ring twice"})]
def call(method, *args, **named):  # noqa: E302
    if method == "PATCH" and meddle:
        meddle.pop()()
    return plain(method, *args, **named)
api.call = call  # noqa: E305
equal(True, site.change("C-1", deliveryAddressText="Seestr. 7, Berlin"), "changed")
changed = of("GET", f"/orders/{order['id']}")
equal(("ring twice", "Seestr. 7, Berlin"), (changed["note"], changed["deliveryAddressText"]), "both changes")

# The shop sends it; the customer hears of it, and cannot cancel any more. Two lights come back, with the money.
of("POST", f"/orders/{order['id']}/status/in_progress")
of("POST", f"/orders/{order['id']}/shipments", {"trackingNumber": "JD0146"})
until("mails", lambda: len(mails) == 2)
equal([("ida@example.com", "Order 1 is in_progress"), ("ida@example.com", "Order 1 is on its way: JD0146")], sorted(mails), "mails")
equal(False, site.cancel("C-1", "changed my mind"), "it is too late")
for move in ("ready", "completed"):
    of("POST", f"/orders/{order['id']}/status/{move}")
back = [site.give_back("C-1", "R-1", [{"sku": "WEB-LIGHT", "quantity": 2}], "too dark") for _ in range(2)]
equal(back[0]["id"], back[1]["id"], "one return")
done = of("GET", f"/orders/{order['id']}")
equal((4482, 4482, 0, 15312 - 4482), (back[0]["total"], back[0]["refundedAmount"], done["amountDue"], done["payable"]), "the return")

# Another order is paid and cancelled; the provider tells the payment once more, and of one that came too late.
second = site.place({**cart, "id": "C-2", "coupon": None, "lines": [{"sku": "WEB-LIGHT", "quantity": 1}]})
late = {"id": "pay-2", "cart": "C-2", "amount": second["payable"]}
site.paid(late)
equal([True, True], [site.cancel("C-2", "ordered twice") for _ in range(2)], "cancelled")
site.paid(late)
equal(("cancelled", "refunded", 0), (lambda o: (o["status"], o["paymentStatus"], o["prepaidAmount"]))(of("GET", f"/orders/{second['id']}")), "money is back")
try:
    site.paid({"id": "pay-3", "cart": "C-2", "amount": 10**6})
    raise AssertionError("more than is payable")
except ApiError as error:
    equal("ORDER_OVERPAID", error.code, "the refusal")

# The receiver is gone while the lead is answered: the log has it.
until("mails of the cancellation", lambda: any("is cancelled" in text for _, text in mails))
server.shutdown()
server.server_close()
of("PATCH", f"/leads/{site.ask(form)['id']}/status", {"status": "in_progress"})
end = time.time() + 60
while not of("GET", "/events?events=lead.status_changed")["items"]:  # the log shows it a moment after the change
    assert time.time() < end, "the log has the lead"
    time.sleep(0.1)
site.catch_up()
equal(True, any("Your question" in text for _, text in mails), "the mail of the lead")
equal(len(mails), len(set(mails)), "nothing was told twice")

# In the end: one client, who owes nothing and is owed nothing.
clients = of("GET", "/clients?phone=" + "030901820")["items"]
payments = [p for p in of("GET", "/payments?source=provider")["items"]]
net = sum(p["amount"] for p in payments)
equal([0], [c["balance"] for c in clients], "balance")
for s in of("GET", "/webhooks/subscriptions")["items"]:
    of("DELETE", f"/webhooks/subscriptions/{s['id']}")
print(f"website: orders 2, payments {len(payments)} over {net}, kept {done['prepaidAmount']}, balance {clients[0]['balance']}, mails {len(mails)}")
print(f"website: calls {api.calls}")
