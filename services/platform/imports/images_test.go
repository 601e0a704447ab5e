package imports_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/tradegrid/tradegrid/pkg/kit/access"
	"github.com/tradegrid/tradegrid/pkg/testkit/apitest"
	"github.com/tradegrid/tradegrid/services/business/files"
)

// download is a web that has an image of N pixels at https://img.example/N.
func download(t testing.TB) files.Download {
	return func(_ context.Context, address string, _ int64) ([]byte, error) {
		width, err := strconv.Atoi(strings.TrimPrefix(address, "https://img.example/"))
		if err != nil {
			return nil, &files.FetchError{Reason: "dns", Text: "the name of the host could not be resolved"}
		}
		var b bytes.Buffer
		require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, width, 1))))
		return b.Bytes(), nil
	}
}

// Images are downloaded in their order, once for each content; a product is made also if one cannot be had, and then keeps those it had if
// none can.
func TestImagesOfProducts(t *testing.T) {
	t.Parallel()
	k := setup(t)
	file := "sku,name,price,image URLs\n" +
		"A-1,Bell,5,https://img.example/3 https://img.example/1\n" +
		"A-2,Lamp,5,\"https://img.example/1, https://nowhere.example/x\"\n" +
		"A-3,Pump,5,https://nowhere.example/x\n" +
		"A-4,Lock,5,ftp://img.example/1\n" +
		"A-5,Pin,5,\n"
	dry, checked := k.imported(t, "resource=products&dryRun=true", csv, file)
	require.Equal(t, []string{"2 create", "3 create", "4 create", "5 error imageUrls:FORMAT", "6 create"}, texts(checked))
	require.Empty(t, k.Do(t, "GET", "/files", nil).OK(200)["items"], "a dry run downloads nothing")
	require.NotContains(t, dry["summary"], "imagesFailed")

	made, lines := k.imported(t, "resource=products", csv, file)
	failed := " imageUrls:IMAGE_FETCH_FAILED"
	require.Equal(t, []string{"2 create", "3 create" + failed, "4 create" + failed, "5 error imageUrls:FORMAT", "6 create"}, texts(lines))
	require.Equal(t, "imageUrls: https://nowhere.example/x: the name of the host could not be resolved", lines[1].Message)
	require.Equal(t, []any{4.0, 1.0, 2.0}, []any{made["summary"].(map[string]any)["created"], made["summary"].(map[string]any)["failed"], made["summary"].(map[string]any)["imagesFailed"]})
	photos := func(row int) []any {
		return k.Do(t, "GET", "/catalog/products/"+*lines[row].ID, nil).OK(200)["photoFileIds"].([]any)
	}
	bell, lamp := photos(0), photos(1)
	require.Len(t, bell, 2)
	require.Equal(t, bell[1:], lamp, "the same image is one file")
	require.Empty(t, photos(2))

	_, again := k.imported(t, "resource=products", csv, file)
	require.Equal(t, []string{"2 unchanged", "3 unchanged" + failed}, texts(again)[:2])
	k.imported(t, "resource=products", csv, "sku,name,imageUrls\nA-1,Bell,https://nowhere.example/x\nA-2,Lamp,https://img.example/3\n")
	require.Equal(t, bell, photos(0))
	require.Equal(t, bell[:1], photos(1))

	require.Equal(t, map[string]string{"body": "CONFLICT"}, k.send("resource=products", csv, "sku,photoFileIds,imageUrls\nA-1,,\n").Fields())
	checkedAgain, _ := k.imported(t, "resource=products&dryRun=true", csv, "sku,name,imageUrls\nA-3,Pump,https://img.example/3\n")
	run := "/imports/" + checkedAgain["id"].(string) + "/run"
	narrow := k.server.Caller(k.Principal.Company, func(p *access.Principal) { p.Scopes = apitest.Scopes("catalog:write") })
	narrow.Do(t, "POST", run, nil).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
	ran := k.Do(t, "POST", run, nil).OK(202)["id"].(string)
	require.Eventually(t, func() bool { return k.Do(t, "GET", "/jobs/"+ran, nil).OK(200)["status"] == "done" }, time.Minute, 5*time.Millisecond)
	require.Equal(t, bell[:1], photos(2), "what was checked is downloaded when it is run")
	k.Client = narrow
	k.send("resource=products", csv, file).Fault(403, "AUTH_API_SCOPE_INSUFFICIENT")
}

func texts(lines []line) (all []string) {
	for _, l := range lines {
		all = append(all, l.String())
	}
	return all
}
