package console

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// drawn is the calendar of a day as it is seen: where the label of each hour stands, and from where to where each block reaches, in pixels.
type drawn struct {
	Hours  []struct{ Text, Y string }
	Blocks []struct {
		Kind, Title, Column string
		Top, Bottom         float64
	}
}

// measure reads where things are drawn. A label is measured by its text, whose middle stands beside the line of its hour.
const measure = `(() => {
  const middle = li => { const r = document.createRange(); r.selectNodeContents(li); const b = r.getBoundingClientRect(); return (b.top + b.bottom) / 2 };
  return {
    Hours: [...document.querySelectorAll(".calendar .hours li:not(.now-at)")].map(li => ({Text: li.textContent.trim(), Y: String(middle(li))})),
    Blocks: [...document.querySelectorAll(".calendar section")].flatMap(s => [...s.querySelectorAll("h2 ~ div > *")].map(e => {
      const b = e.getBoundingClientRect();
      return {Kind: e.getAttribute("class").split(" ")[0], Title: e.title, Column: s.getAttribute("aria-label"), Top: b.top, Bottom: b.bottom};
    })),
  };
})()`

// minutesOf are the minutes since midnight of 09:30.
func minutesOf(t *testing.T, clock string) float64 {
	t.Helper()
	at, err := time.Parse("15:04", clock)
	require.NoError(t, err, clock)
	return float64(at.Hour()*60 + at.Minute())
}

// axis is where a time of day stands, by the labels of the hours. They must be at even distances.
func (d drawn) axis(t *testing.T) func(clock string) float64 {
	t.Helper()
	require.Greater(t, len(d.Hours), 3)
	y := func(i int) float64 {
		v, err := strconv.ParseFloat(d.Hours[i].Y, 64)
		require.NoError(t, err)
		return v
	}
	last := len(d.Hours) - 1
	from, to := minutesOf(t, d.Hours[0].Text), minutesOf(t, d.Hours[last].Text)
	at := func(clock string) float64 { return y(0) + (y(last)-y(0))*(minutesOf(t, clock)-from)/(to-from) }
	for i, h := range d.Hours {
		require.InDelta(t, at(h.Text), y(i), 1, "label %s", h.Text)
	}
	return at
}

// nearby is how far a block may be from its time: its margin, and the part of a pixel by which a label is off the line.
const nearby = 3.5

// TestCalendarTellsTheTime holds the blocks of a day against the labels of its hours.
func TestCalendarTellsTheTime(t *testing.T) {
	t.Parallel()
	d := start(t)
	b := open(t)
	b.run(chromedp.Navigate(d.ConsoleSignIn))
	b.submit("form.form button")
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	day := time.Now().In(zone).AddDate(0, 2, 0)
	for day.Weekday() != time.Wednesday {
		day = day.AddDate(0, 0, 1)
	}
	date := day.Format(time.DateOnly)
	chair := shopDay(t, d, day)
	for _, width := range []int64{861, 1024, 1280, 1900} {
		b.run(chromedp.EmulateViewport(width, 900), chromedp.Navigate(d.ConsoleURL+"/c/"+d.CompanyID+"/bookings?day="+date))
		seen := get(b, chromedp.Evaluate[drawn](measure))
		at := seen.axis(t)
		kinds := map[string]int{}
		for _, block := range seen.Blocks {
			kinds[block.Column+": "+block.Kind]++
			if from, to, ok := timesOf(block.Title); ok {
				require.InDelta(t, at(from), block.Top, nearby, "%s begins elsewhere at %d px", block.Title, width)
				require.InDelta(t, at(to), block.Bottom, nearby, "%s ends elsewhere at %d px", block.Title, width)
			}
		}
		require.Equal(t, 3, kinds["Chair: booking"])
		require.Equal(t, 4, kinds["Chair: buffer"], "one after each booking, and one before one of them")
		for _, block := range seen.Blocks {
			switch {
			case block.Column != "Chair":
			case block.Kind == "open":
				require.InDelta(t, at("10:00"), block.Top, nearby)
				require.InDelta(t, at("16:00"), block.Bottom, nearby, "the hours of the day off, not those of the week")
			case block.Kind == "buffer":
				require.True(t, meets(seen, block.Top, block.Bottom), "a buffer adjoins its booking: %v", block)
			}
		}
		b.keep(fmt.Sprintf("calendar-time-%d", width), get(b, chromedp.FullScreenshot(90)))
	}
	company := d.ConsoleURL + "/c/" + d.CompanyID + "/bookings"
	b.run(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(company+"?view=week&day="+date+"&resource="+chair))
	seen := get(b, chromedp.Evaluate[drawn](measure))
	at, inWeek := seen.axis(t), 0
	for _, block := range seen.Blocks {
		if from, to, ok := timesOf(block.Title); ok {
			require.True(t, strings.HasPrefix(block.Column, "Wed "), "%s stands on %s", block.Title, block.Column)
			require.InDelta(t, at(from), block.Top, nearby, "%s begins elsewhere in the week", block.Title)
			require.InDelta(t, at(to), block.Bottom, nearby, "%s ends elsewhere in the week", block.Title)
			inWeek++
		}
	}
	require.Equal(t, 3, inWeek)
	b.look("calendar-day", company+"?day="+date)
	b.look("calendar-week", company+"?view=week&day="+date)
	b.look("calendar-week-of-one", company+"?view=week&day="+date+"&resource="+chair)
	b.run(chromedp.EmulateViewport(1280, 900))
	later := day.AddDate(0, 0, 7)
	d.call(t, http.MethodPost, "/scheduling/bookings", map[string]any{"resourceId": chair, "startAt": later.Format("2006-01-02T") + "11:00:00" + later.Format("Z07:00"), "customerName": "Ida Dellmark", "customerPhone": "+49 30 23125 004", "durationMinutes": 60})
	byHand(t, b, d, company+"?day="+later.Format(time.DateOnly)+"&resource="+chair)
}

// timesOf are the times that the title of a booking names.
func timesOf(title string) (from, to string, ok bool) {
	from, rest, ok := strings.Cut(title, " to ")
	to, _, _ = strings.Cut(rest, ",")
	return from, to, ok
}

// click clicks on the first element, and counts as one.
func (b *browser) click(selector string) {
	b.t.Helper()
	b.run(chromedp.Click(chromedp.CSS(selector)))
}

// byHand books a free place with one click beside what is typed, drags the booking, moves it by keys, and takes it back.
func byHand(t *testing.T, b *browser, d dev, address string) {
	t.Helper()
	b.run(chromedp.Navigate(address))
	b.click(".free[aria-label='Book at 12:30']")
	b.settled(`document.activeElement.id === "f-customerName"`)
	b.lookHere("calendar-book")
	b.run(chromedp.EmulateViewport(1280, 900), chromedp.KeyEvent("Ada Winter"+kb.Tab+"+49 30 555 0177"+kb.Enter))
	b.settled(`document.querySelector("#panel h2 + p")?.innerText.includes("12:30–13:00")`)
	b.lookHere("calendar-panel")
	b.run(chromedp.EmulateViewport(1280, 900))
	ada := `[...document.querySelectorAll(".booking")].find((e) => e.title.includes("Ada Winter"))`
	stands := func(times string) {
		t.Helper()
		b.settled(ada + `?.title.startsWith("` + times + `")`)
	}
	stands("12:30 to 13:00")
	type edges struct{ X, Top, Bottom float64 }
	where := func() edges {
		return get(b, chromedp.Evaluate[edges](`(() => { const r = `+ada+`.getBoundingClientRect(); return {X: r.left + 30, Top: r.top, Bottom: r.bottom} })()`))
	}
	box := where()
	b.run(chromedp.DragAndDropXY(box.X, box.Top+8, box.X, box.Top+8-150, 6)) // ten rows of 15 minutes
	stands("10:00 to 10:30")
	require.Contains(t, b.text("#said"), "10:00–10:30")
	box = where()
	b.run(chromedp.DragAndDropXY(box.X, box.Bottom-3, box.X, box.Bottom+12, 3))
	stands("10:00 to 10:45")
	require.True(t, get(b, chromedp.Evaluate[bool](ada+` === document.activeElement`)), "it keeps the focus")
	b.run(chromedp.KeyEvent(kb.ArrowUp, chromedp.KeyModifiers(chromedp.ModifierAlt)))
	stands("10:00 to 10:30")
	b.run(chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift)), chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift)))
	b.until(`document.querySelector(".refused")?.innerText.startsWith("The resource has no free place")`)
	stands("10:00 to 10:30")
	b.lookHere("calendar-refused")
	b.run(chromedp.EmulateViewport(1280, 900), chromedp.KeyEvent(kb.ArrowDown, chromedp.KeyModifiers(chromedp.ModifierShift)))
	stands("10:15 to 10:45")
	b.click("#said button")
	stands("10:00 to 10:30")
	d.call(t, http.MethodPost, "/scheduling/bookings/"+d.first(t, "/scheduling/bookings?search=Ada+Winter", "id")+"/complete", nil)
	b.until(ada + `?.classList.contains("past") && document.querySelector("#panel .chip").innerText === "completed"`) // by the stream
	b.run(chromedp.KeyEvent(kb.Escape))
	b.until(`!document.querySelector("#panel") && !location.search.includes("open=")`)
}

// meets reports whether a booking begins or ends where something ends or begins.
func meets(d drawn, top, bottom float64) bool {
	for _, b := range d.Blocks {
		if b.Kind == "booking" && (within(b.Top, bottom) || within(b.Bottom, top)) {
			return true
		}
	}
	return false
}

func within(a, b float64) bool { return a-b < nearby && b-a < nearby }

// shopDay books a day of a chair, on which other hours hold, and closes the day for a second one.
func shopDay(t *testing.T, d dev, day time.Time) (chair string) {
	t.Helper()
	hours := []map[string]any{{"weekday": 3, "from": "09:00", "to": "19:00"}}
	made := func(name string) string {
		return fmt.Sprint(d.call(t, http.MethodPost, "/scheduling/resources", map[string]any{
			"type": "seat", "name": name, "workingHours": hours, "timeZone": "Europe/Berlin", "bufferAfterMinutes": 15, "sortOrder": -100,
		})["id"])
	}
	chair = made("Chair")
	second := made("Second chair")
	except := func(name, resource string, hours ...map[string]any) {
		d.call(t, http.MethodPost, "/scheduling/exceptions", map[string]any{"name": name, "resourceId": resource, "dateFrom": day.Format(time.DateOnly), "hours": append([]map[string]any{}, hours...)})
	}
	except("Short day", chair, map[string]any{"from": "10:00", "to": "16:00"})
	except("Holiday", second)
	careful := fmt.Sprint(d.call(t, http.MethodPost, "/catalog/services", map[string]any{"name": "Fitting", "price": 5000, "durationMinutes": 60, "bufferBeforeMinutes": 30})["id"])
	for clock, fields := range map[string]map[string]any{"11:00": {"durationMinutes": 75}, "13:30": {"serviceId": careful}, "15:15": {"durationMinutes": 30}} {
		body := map[string]any{"resourceId": chair, "startAt": day.Format("2006-01-02T") + clock + ":00" + day.Format("Z07:00"), "customerName": "Ida Dellmark", "customerPhone": "+49 30 23125 004"}
		for k, v := range fields {
			body[k] = v
		}
		d.call(t, http.MethodPost, "/scheduling/bookings", body)
	}
	return chair
}
