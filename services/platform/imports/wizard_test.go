package imports_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/encoding/charmap"

	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/platform/imports"
)

func (k *kit) preview(query, media, file string) (p imports.Preview) {
	k.t.Helper()
	raw := k.Do(k.t, "POST", "/imports/preview?"+query, file, apitest.Header{"Content-Type", media})
	require.Equal(k.t, 200, raw.Status, string(raw.Body))
	require.NoError(k.t, json.Unmarshal(raw.Body, &p))
	return p
}

func fieldsOf(p imports.Preview) string {
	var all []string
	for _, c := range p.Columns {
		all = append(all, c.Field)
	}
	return strings.Join(all, ",")
}

// A file as shops have it: German heads, semicolons, decimals with a comma, in the encoding of Windows. Nothing is stored.
func TestPreviewUnderstandsFilesOfShops(t *testing.T) {
	t.Parallel()
	k := setup(t)
	file := "Artikel-Nr.;Bezeichnung;VK-Preis (€);EK;EAN;Marke;Einheit;Größe\r\nM-1;Müsli;1.234,50;3,2;4006381333931;Mühle;Stk.;XL\r\nM-2;;teuer;;;;;\r\n"
	windows, err := charmap.Windows1252.NewEncoder().String(file)
	require.NoError(t, err)
	for charset, sent := range map[string]string{"": file, "windows-1252": windows} {
		p := k.preview("resource=products", csv, sent)
		require.Equal(t, "sku,name,price,cost,barcode,brand,unit,", fieldsOf(p))
		require.Equal(t, []any{charset, "sku", ",", 2}, []any{p.Charset, p.Key, p.DecimalSeparator, p.Rows})
		require.Empty(t, p.Errors)
		require.Equal(t, imports.PreviewColumn{Name: "VK-Preis (€)", Field: "price", Kind: "amount"}, p.Columns[2])
		require.Equal(t, []imports.PreviewCell{
			{Text: "M-1", Value: "M-1"},
			{Text: "Müsli", Value: "Müsli"},
			{Text: "1.234,50", Value: "123450"},
			{Text: "3,2", Value: "320"},
			{Text: "4006381333931", Value: "4006381333931"},
			{Text: "Mühle", Value: "Mühle"},
			{Text: "Stk.", Value: "pcs"},
			{Text: "XL"},
		}, p.First[0].Cells)
		require.Equal(t, 3, p.First[1].Row)
		require.Contains(t, p.First[1].Cells[2].Error, "must be a number such as 1234,5")
	}
	require.Contains(t, k.preview("resource=products", csv, file).Fields, "taxRateId")
	require.Equal(t, "name,sku", fieldsOf(k.preview("resource=products&columns=name,sku", csv, "Nr;Preis\n1;2\n")), "as the request has them")
	require.Equal(t, "windows-1251", k.preview("resource=products", csv, mustEncode(t, charmap.Windows1251, "sku;Название\nA;Чай зелёный\n")).Charset)

	russian := k.preview("resource=products", csv, mustEncode(t, charmap.Windows1251, "Артикул;Наименование;Цена, руб.;Закупочная цена;Штрих-код;Учёт остатков;Ед. изм.\nA-1;Чай;1 234,50;3,2;4006381333931;да;шт.\n"))
	require.Equal(t, []any{"windows-1251", "sku,name,price,cost,barcode,hasStock,unit"}, []any{russian.Charset, fieldsOf(russian)})
	require.Equal(t, []any{"123450", "true", "pcs"}, []any{russian.First[0].Cells[2].Value, russian.First[0].Cells[5].Value, russian.First[0].Cells[6].Value})
	require.Equal(t, "displayName,firstName,lastName,phone,birthday", fieldsOf(k.preview("resource=clients", csv, "ФИО;Имя;Фамилия;Телефон;Дата рождения\nАда Мосс;Ада;Мосс;;\n")))

	p := k.preview("resource=products", csv, "Farbe;Größe\nrot;XL\n")
	require.Equal(t, ",", fieldsOf(p))
	require.Equal(t, "body", p.Errors[0].Field, "what an import would be refused for; columns can be chosen by hand")
	require.Empty(t, p.First[0].Cells[0].Value)
	p = k.preview("resource=clients", csv, "Kundenname;Telefon;Geburtstag\nAda Moss;+49 30 23125 142;2.1.1990\n")
	require.Equal(t, []any{"displayName,phone,birthday", "none"}, []any{fieldsOf(p), p.Key}, "each row is a new client")
	require.Equal(t, "1990-01-02", p.First[0].Cells[2].Value)
	got, _ := k.imported(t, "resource=clients&key=none&columns=displayName,companyName", csv, "Kunde;Firma\nAda Moss;\n;Kopfnuss GmbH\n")
	require.Equal(t, 2.0, got["summary"].(map[string]any)["created"])
	for _, want := range []string{"created", "unchanged"} {
		got, _ = k.imported(t, "resource=clients&source=list&columns=externalId,displayName", csv, "Kundennr;Name\n17;Kim\n")
		require.Equal(t, 1.0, got["summary"].(map[string]any)[want])
	}
	kim := k.Do(t, "GET", "/clients?search=Kim", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, "individual", kim["kind"])
	k.Do(t, "PATCH", "/clients/"+kim["id"].(string), `{"kind":"legal"}`).OK(200)
	got, _ = k.imported(t, "resource=clients&source=list&columns=externalId,displayName", csv, "Kundennr;Name\n17;Kim\n")
	require.Equal(t, 1.0, got["summary"].(map[string]any)["unchanged"], "the kind is what somebody made it")
	require.Equal(t, "legal", k.Do(t, "GET", "/clients?search=Kopfnuss", nil).OK(200)["items"].([]any)[0].(map[string]any)["kind"])
	p = k.preview("resource=stocks", csv, "Artikelnummer;Lager;Bestand\nM-1;Main;7\n")
	require.Equal(t, []any{"sku,warehouseName,qty", "sku"}, []any{fieldsOf(p), p.Key})

	require.Equal(t, 400, k.Do(t, "POST", "/imports/preview?resource=products", "sku\n\"", apitest.Header{"Content-Type", csv}).Status)
	require.Equal(t, 400, k.Do(t, "POST", "/imports/preview?resource=products", "sku\n", apitest.Header{"Content-Type", csv}).Status)
	require.Empty(t, k.Do(t, "GET", "/catalog/products", nil).OK(200)["items"])
}

func mustEncode(t *testing.T, of *charmap.Charmap, text string) string {
	t.Helper()
	raw, err := of.NewEncoder().String(text)
	require.NoError(t, err)
	return raw
}

// A dry run is run without its file, once. The refused rows come back as they were sent; corrected, they go through.
func TestCheckedImportsAreRun(t *testing.T) {
	t.Parallel()
	k := setup(t)
	query := "resource=products&decimalSeparator=,&columns=sku,name,price,,hasStock"
	file := "Nr;Bezeichnung;VK;Farbe;Lager\nM-1;Müsli;1,50;rot;ja\nM-2;\"Brot; \"\"frisch\"\"\";teuer;=1+1;nein\nM-3;;2,00;;ja\n"
	dry, lines := k.imported(t, query+"&dryRun=true", csv, file)
	require.Equal(t, "[2 create 3 error price:TYPE 4 error name:REQUIRED]", fmt.Sprint(lines))
	require.Equal(t, []any{"sku", "name", "price", "", "hasStock"}, dry["summary"].(map[string]any)["fields"])
	id := dry["id"].(string)
	refused := func(id string) string {
		return string(k.Do(t, "GET", "/imports/"+id+"/refused", nil).Body)
	}
	require.Regexp(t, "^\ufeffNr;Bezeichnung;VK;Farbe;Lager;importError\nM-2;\"Brot; \"\"frisch\"\"\";teuer;'=1\\+1;nein;\"?price: must be .*\nM-3;;\"?2,00\"?;;ja;\"?name: .*\n$", refused(id))
	require.Empty(t, k.Do(t, "GET", "/catalog/products", nil).OK(200)["items"])

	started := k.Do(t, "POST", "/imports/"+id+"/run", nil).OK(202)
	ran := k.ended(t, started["id"].(string))
	summary := ran["summary"].(map[string]any)
	require.Equal(t, []any{"done", false, 1.0, 2.0}, []any{ran["status"], summary["dryRun"], summary["created"], summary["failed"]})
	product := k.Do(t, "GET", "/catalog/products?search=M-1", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"Müsli", 150.0, true}, []any{product["name"], product["price"], product["hasStock"]})
	require.Equal(t, 409, k.Do(t, "POST", "/imports/"+id+"/run", nil).Status, "once")
	require.Equal(t, 409, k.Do(t, "POST", "/imports/"+ran["id"].(string)+"/run", nil).Status, "it was no dry run")
	require.Equal(t, 404, k.server.Company().Do(t, "POST", "/imports/"+id+"/run", nil).Status)
	require.Equal(t, 404, k.server.Company().Do(t, "GET", "/imports/"+id+"/refused", nil).Status)

	corrected := strings.NewReplacer("teuer", "3,00", "M-3;;", "M-3;Salz;").Replace(refused(ran["id"].(string)))
	again, lines := k.imported(t, query, csv, corrected)
	require.Equal(t, "[2 create 3 create]", fmt.Sprint(lines))
	require.Equal(t, 409, k.Do(t, "GET", "/imports/"+again["id"].(string)+"/refused", nil).Status, "none was refused")
	bread := k.Do(t, "GET", "/catalog/products?search=M-2", nil).OK(200)["items"].([]any)[0].(map[string]any)
	require.Equal(t, `Brot; "frisch"`, bread["name"])
}

// The rows of some dry runs are kept, not of all.
func TestFewDryRunsAreKept(t *testing.T) {
	t.Parallel()
	k := setup(t)
	var ids []string
	for range 7 {
		dry, _ := k.imported(t, "resource=suppliers&dryRun=true&key=none", csv, "name\nMill\n")
		ids = append(ids, dry["id"].(string))
	}
	require.Equal(t, 409, k.Do(t, "POST", "/imports/"+ids[0]+"/run", nil).Status)
	require.Equal(t, 202, k.Do(t, "POST", "/imports/"+ids[2]+"/run", nil).Status)
	require.Equal(t, 202, k.Do(t, "POST", "/imports/"+ids[6]+"/run", nil).Status)
}

func TestColumnsOfTheRequest(t *testing.T) {
	t.Parallel()
	k := setup(t)
	for query, want := range map[string]string{
		"resource=products&columns=sku,nme":              "columns",
		"resource=products&columns=sku,name,price,brand": "columns",
		"resource=products&columns=sku,sku":              "body",
		"resource=stocks&columns=sku,qty&key=none":       "key",
	} {
		got := k.send(query, csv, "a;b;c\n1;2;3\n")
		require.Equal(t, 400, got.Status)
		require.Contains(t, got.Fields(), want, query)
	}
	_, lines := k.imported(t, "resource=suppliers&columns=externalId,name&source=erp", csv, "Nr;Name\n7;Mill\n")
	require.Equal(t, "[2 create]", fmt.Sprint(lines))
	_, lines = k.imported(t, "resource=suppliers&columns=externalId,name&source=erp", csv, "Nr;Name\n7;Mill 2\n")
	require.Equal(t, "[2 update]", fmt.Sprint(lines))
}
