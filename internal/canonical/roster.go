package canonical

import (
	"reflect"
	"slices"
	"strings"
	"sync"
)

// A roster is what the tags of a struct type say, read once a type: its members in the order of their keys. A type that
// needs more than that (an embedded struct, an unknown option, a key that is none or stands twice) has no roster, and
// fields refuses or resolves it.
type roster []rosterMember

type rosterMember struct {
	key       string
	index     int
	omitEmpty bool
	omitZero  bool
}

var rosters sync.Map // of reflect.Type to roster; nil where a type has none

func rosterOf(t reflect.Type) roster {
	if got, ok := rosters.Load(t); ok {
		return got.(roster)
	}
	p := newRoster(t)
	rosters.Store(t, p)
	return p
}

func newRoster(t reflect.Type) roster {
	var p roster
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		if f.Anonymous && !tagged && f.Type.Kind() == reflect.Struct {
			return nil
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		key, options, _ := strings.Cut(tag, ",")
		m := rosterMember{key: key, index: i, omitEmpty: options == "omitempty", omitZero: options == "omitzero"}
		if options != "" && !m.omitEmpty && !m.omitZero || !isKey(key) {
			return nil
		}
		p = append(p, m)
	}
	slices.SortFunc(p, func(a, b rosterMember) int { return strings.Compare(a.key, b.key) })
	for i := range p {
		if i > 0 && p[i].key == p[i-1].key {
			return nil
		}
	}
	return p
}

// writeByRoster writes a struct by its roster.
func (w *writer) writeByRoster(v reflect.Value, p roster, depth int) error {
	w.out = append(w.out, '{')
	first := true
	for _, m := range p {
		member := v.Field(m.index)
		if m.omitEmpty && isEmpty(member) || m.omitZero && member.IsZero() {
			continue
		}
		if !first {
			w.out = append(w.out, ',')
		}
		first = false
		w.out = append(w.out, '"')
		w.out = append(w.out, m.key...)
		w.out = append(w.out, '"', ':')
		w.path = append(w.path, m.key)
		if err := w.writeValue(member, depth+1); err != nil {
			return err
		}
		w.path = w.path[:len(w.path)-1]
	}
	w.out = append(w.out, '}')
	return nil
}
