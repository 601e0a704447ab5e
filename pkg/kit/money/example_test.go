package money_test

import (
	"fmt"

	"github.com/tradegrid/tradegrid/pkg/kit/money"
)

// A document with two lines and a discount of 10 %, which its lines share to the last cent.
func Example() {
	qty, err := money.ParseQty("1.5")
	if err != nil {
		fmt.Println(err)
		return
	}
	cable, _ := money.LineAmount(qty, 333) // 1.5 m at 3.33
	lamp, _ := money.LineAmount(money.Units(2), 1999)
	subtotal, err := money.Sum(cable, lamp)
	if err != nil {
		fmt.Println(err) // beyond what JSON can carry exactly
		return
	}
	percent, _ := money.ParsePercent("10")
	discount := money.Discount(subtotal, percent)
	fmt.Println(cable, lamp, subtotal, discount)
	fmt.Println(money.Spread(discount, []money.Amount{cable, lamp}))
	// Output:
	// 500 3998 4498 450
	// [50 400]
}
