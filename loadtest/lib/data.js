// Orders as shops place them: few lines mostly, a few products sold far more often than the rest.

const notes = [null, null, null, 'Please ring twice.', 'Leave at the front desk.', 'Gift: no invoice in the parcel.', 'Call before delivery.'];
const streets = ['Station Road', 'Mill Lane', 'Harbour Street', 'North Avenue', 'Market Square'];

export const pick = (list) => list[Math.floor(Math.random() * list.length)];

/** popular picks with a long tail: the first of a hundred about ten times as often as the last. */
export const popular = (list) => list[Math.floor(list.length * Math.random() ** 2.2)];

function lines() {
  const r = Math.random();
  return r < 0.45 ? 1 : r < 0.7 ? 2 : r < 0.85 ? 3 : r < 0.97 ? 5 : 12;
}

/** sale makes a body, the total that it must come to, the change, and what stays in the drawer. */
export function sale(company) {
  const items = new Map();
  for (let n = lines(); n > 0; n--) {
    const product = popular(company.products);
    items.set(product.id, { product, qty: (items.get(product.id) || { qty: 0 }).qty + 1 });
  }
  let total = 0;
  const body = {
    items: [...items.values()].map(({ product, qty }) => {
      total += product.price * qty;
      return { refId: product.id, qty };
    }),
  };
  const r = Math.random();
  if (r < 0.5 || total < 2) {
    const given = Math.ceil(total / 1000) * 1000;
    return { body: { ...body, paymentMethod: 'cash', receivedAmount: given }, total, change: given - total, cash: total };
  }
  if (r < 0.9) return { body: { ...body, paymentMethod: 'card' }, total, change: null, cash: 0 };
  const cash = Math.floor(total / 2);
  const payments = [{ paymentMethod: 'cash', amount: cash }, { paymentMethod: 'card', amount: total - cash }];
  return { body: { ...body, paymentMethod: 'mixed', payments, receivedAmount: cash }, total, change: 0, cash };
}

/** order makes a body and the total that it must come to. */
export function order(company) {
  const items = new Map();
  for (let n = lines(); n > 0; n--) {
    const product = popular(company.products);
    items.set(product.id, { product, qty: (items.get(product.id) || { qty: 0 }).qty + 1 + Math.floor(Math.random() * 3) });
  }
  const courier = Math.random() < 0.4;
  let total = 0;
  const body = {
    customerId: pick(company.clients), channel: pick(['manual', 'phone', 'public_link']), note: pick(notes),
    deliveryMethod: courier ? 'courier' : 'pickup', deliveryCost: courier ? 590 : 0,
    items: [...items.values()].map(({ product, qty }) => {
      total += product.price * qty;
      return { refId: product.id, qty };
    }),
  };
  if (courier) body.deliveryAddressText = `${1 + Math.floor(Math.random() * 90)} ${pick(streets)}`;
  if (Math.random() < 0.2) body.prepaidAmount = Math.floor(total / 2);
  return { body, total };
}
