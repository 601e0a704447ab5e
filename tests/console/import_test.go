package console

import (
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

const settled = `!document.querySelector(".htmx-added, .htmx-settling, .htmx-request")`

// importFile imports 200 products of a file as shops have it, in four clicks: the link, the file, check, import.
func importFile(t *testing.T, b *browser, company string) {
	t.Helper()
	rows := []string{"Artikel-Nr.;Bezeichnung;VK-Preis;Einheit;Farbe"}
	for i := range 200 {
		rows = append(rows, fmt.Sprintf("WZ-%d;Imported %d;1.%03d,50;Stk;", i, i, i))
	}
	rows[100] = "WZ-99;;teuer;Stk;"
	file := filepath.Join(t.TempDir(), "prices.csv")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(rows, "\r\n")), 0o600))
	b.run(chromedp.Navigate(company + "/products"))
	b.submit("a[href$='/products/import']")
	b.look("import", b.location())
	b.run(chromedp.SetUploadFiles(chromedp.CSS("#file"), []string{file}))
	b.until(`!!document.querySelector(".mapping") && ` + settled)
	require.Contains(t, b.text("#plan .lead"), "4 of 5 columns are known")
	require.True(t, get(b, chromedp.Evaluate[bool](`document.activeElement.matches("button.primary")`)), "Enter goes on")
	b.lookHere("import-columns")
	b.submit("#plan button.primary")
	b.until(`!!document.querySelector(".figures")`)
	require.Contains(t, b.text("#live .lead"), "199 of 200 rows can be imported")
	b.look("import-checked", b.location())
	b.submit("#live button.primary")
	b.until(`!!document.querySelector(".figures")`)
	require.Contains(t, b.text("#live .lead"), "199 of 200 rows are imported")
	b.look("import-done", b.location())
}

// pictures puts two pictures on a product, in another order, and takes one back that was removed.
func pictures(t *testing.T, b *browser, company string) {
	t.Helper()
	var files []string
	for i := range 2 {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("%d.png", i))
		w, err := os.Create(file)
		require.NoError(t, err)
		require.NoError(t, png.Encode(w, image.NewGray(image.Rect(0, 0, 300+i*100, 300))))
		require.NoError(t, w.Close())
		files = append(files, file)
	}
	b.run(chromedp.Navigate(company + "/products?search=WZ-7"))
	b.submit("tbody a")
	at := b.location()
	b.run(chromedp.SetUploadFiles(chromedp.CSS("#pictures-add input[type=file]"), files))
	b.until(`document.querySelectorAll(".thumbs li").length === 2 && ` + settled)
	b.exec(`window.first = document.querySelector(".thumbs li").dataset.id`)
	b.run(chromedp.Click(chromedp.CSS(".thumbs li:first-child button[name=down]")))
	b.until(`document.querySelector(".thumbs li").dataset.id !== window.first && ` + settled)
	b.run(chromedp.Click(chromedp.CSS(".thumbs li:first-child button[name=drop]")))
	b.until(`document.querySelectorAll(".thumbs li").length === 1 && document.activeElement.name === "restore" && ` + settled)
	b.lookHere("product-picture-gone")
	b.run(chromedp.Click(chromedp.CSS("button[name=restore]")))
	b.until(`document.querySelectorAll(".thumbs li").length === 2 && ` + settled)
	b.run(chromedp.Click(chromedp.CSS("[data-crop]")))
	b.until(`!!document.querySelector("dialog[open] canvas")`)
	b.lookHere("product-picture-crop")
	b.look("product-pictures", at)
}
