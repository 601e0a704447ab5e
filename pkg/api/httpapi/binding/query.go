package binding

import (
	"fmt"
	"net/url"
	"reflect"
	"strings"
)

// Query are the parameters that fill a filter of an operation: a struct with fields tagged query, of which those that are zero are
// left out.
func Query(filter any) url.Values {
	values := url.Values{}
	addQuery(values, reflect.ValueOf(filter))
	return values
}

func addQuery(values url.Values, of reflect.Value) {
	for i := range of.NumField() {
		f, v := of.Type().Field(i), of.Field(i)
		switch name := f.Tag.Get("query"); {
		case name == "" && f.Anonymous:
			addQuery(values, v)
		case name != "" && (!v.IsZero() || f.Tag.Get("default") == "true"): // false has to be said then
			values.Set(name, queryText(v))
		}
	}
}

// queryText is a parameter as clients send it.
func queryText(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		return queryText(v.Elem())
	case reflect.Slice:
		texts := make([]string, v.Len())
		for i := range texts {
			texts[i] = queryText(v.Index(i))
		}
		return strings.Join(texts, ",")
	default:
		return fmt.Sprint(v.Interface())
	}
}
