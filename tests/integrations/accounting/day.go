package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

// A day of accounting.go: the shop of $SHOP_TOKEN sells, refunds and counts, the books follow. Their sums are compared with those of the
// platform, and printed.
func main() {
	ctx := context.Background()
	api := &API{Base: os.Getenv("BASE"), Token: os.Getenv("TOKEN")}
	standard := post(ctx, "/catalog/tax-rates", m{"name": "Standard", "percent": 19, "kind": "standard"})["id"]
	reduced := post(ctx, "/catalog/tax-rates", m{"name": "Reduced", "percent": 7, "kind": "reduced"})["id"]
	line := func(name string, price int, tax any) m {
		return m{"kind": "custom", "name": name, "unitPrice": price, "taxRateId": tax}
	}
	morning := time.Now().Add(-26 * time.Hour)
	at := func(hour int) string { return morning.Add(time.Duration(hour) * time.Hour).Format(time.RFC3339) }

	// Yesterday: a discount, two rates, two methods, a refund of a part, cash in and out, and 5 cents that are missing.
	first := post(ctx, "/shifts/open", m{"openingCash": 10000, "openedAt": at(0)})["id"].(string)
	post(ctx, "/sales", m{
		"shiftId": first, "soldAt": at(1), "paymentMethod": "cash", "discountPercent": 10, "items": []m{line("Chain", 2999, standard), line("Book", 1999, reduced)},
	})
	jacket := post(ctx, "/sales", m{
		"shiftId": first, "soldAt": at(2), "paymentMethod": "mixed", "items": []m{line("Jacket", 9990, standard), line("Voucher", 3000, nil)},
		"payments": []m{{"method": "card", "amount": 10000}, {"method": "cash", "amount": 2990}},
	})
	update(ctx, api, 2)
	returned := jacket["lines"].([]any)[0].(map[string]any)["id"]
	post(ctx, "/sales/"+jacket["id"].(string)+"/refund", m{"soldAt": at(3), "reason": "too small", "items": []m{{"saleLineId": returned, "qty": 1}}})
	post(ctx, "/shifts/"+first+"/cash-movements", m{"type": "out", "amount": 5000, "reason": "bank deposit", "occurredAt": at(3)})
	post(ctx, "/shifts/"+first+"/cash-movements", m{"type": "in", "amount": 2000, "reason": "change", "occurredAt": at(3)})
	var drawer Shift
	if _, err := (&API{Base: os.Getenv("SHOP_BASE"), Token: os.Getenv("SHOP_TOKEN")}).get(ctx, "/shifts/"+first, nil, &drawer); err != nil {
		log.Fatal(err)
	}
	post(ctx, "/shifts/"+first+"/close", m{"closingCash": drawer.ExpectedCash - 5, "closedAt": at(5)})
	update(ctx, api, 3)

	// Today: another shift, and a receipt of yesterday that a till sends late.
	second := post(ctx, "/shifts/open", m{"openingCash": 5000})["id"].(string)
	post(ctx, "/sales", m{"shiftId": second, "paymentMethod": "card", "items": []m{line("Pump", 4990, standard)}})
	late := post(ctx, "/sales", m{"shiftId": first, "soldAt": at(4), "paymentMethod": "cash", "items": []m{line("Bell", 1250, standard)}})
	if late["late"] != true {
		log.Fatalf("the shift was closed before: %v", late)
	}
	post(ctx, "/shifts/"+second+"/close", m{"closingCash": 5000})
	update(ctx, api, 5)
	show(update(ctx, api, 5), api)
}

// update is a run of the program, which knows only its file, and has that many receipts afterwards.
func update(ctx context.Context, api *API, receipts int) *Books {
	file := os.Getenv("STATE")
	from, to := time.Now().AddDate(0, 0, -3).Format(time.DateOnly), time.Now().AddDate(0, 0, 1).Format(time.DateOnly)
	books, err := Open(file)
	if err == nil {
		err = books.Update(ctx, api)
	}
	if err == nil {
		err = books.Check(ctx, api, from, to)
	}
	if err == nil {
		err = books.Save(file)
	}
	if err != nil {
		log.Fatal(err)
	}
	if n := len(books.Sales); n != receipts {
		log.Fatalf("the books have %d receipts instead of %d", n, receipts)
	}
	return books
}

// show prints the sums of the accounts.
func show(books *Books, api *API) {
	entries, err := books.Journal()
	if err != nil {
		log.Fatal(err)
	}
	sums := map[string]int64{}
	for _, e := range entries {
		sums[e.Account] += e.Amount
	}
	var csv bytes.Buffer
	if err := books.WriteCSV(&csv); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("accounting: %d entries, cash %d, card %d, in transit %d, short %d\n", strings.Count(csv.String(), "\n")-1, sums["cash"], sums["card"], sums["cash in transit"], sums["over and short"])
	fmt.Printf("accounting: revenue at 19 %% %d, tax %d; at 7 %% %d, tax %d; without %d; equal to the report\n",
		-sums["revenue 19 %"], -sums["tax 19 %"], -sums["revenue 7 %"], -sums["tax 7 %"], -sums["revenue without tax"])
	fmt.Printf("accounting: calls %d\n", api.Calls)
}

type m = map[string]any

// post is what the shop does.
func post(ctx context.Context, path string, body m) (answer m) {
	content, err := json.Marshal(body)
	if err != nil {
		log.Fatal(err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("SHOP_BASE")+path, bytes.NewReader(content))
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+os.Getenv("SHOP_TOKEN"))
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode >= http.StatusMultipleChoices {
		log.Fatalf("POST %s: %s %v %v", path, res.Status, answer, err)
	}
	return answer
}
