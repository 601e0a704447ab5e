package web

// PaidBy reports whether people pay by a method of the API in a currency. SBP is a scheme of Russian banks, which moves roubles only. The
// API takes every method in every currency, so that a record may have one that no page offers.
func PaidBy(method, currency string) bool { return method != "sbp" || currency == "RUB" }

// Offers reports whether a page offers a value of an enum to this company: all values but methods of payment of other currencies.
func (q *Request) Offers(value string) bool { return PaidBy(value, q.Company.Currency) }
