package referee

import (
	"sync"

	"github.com/defendableos/referee/referee/formula"
)

// The bounds of a memo: a hostile batch of ever new texts must not fill the memory.
const (
	memoEntries = 2048
	memoKey     = 512 // bytes of a key; longer texts are worked out each time
)

// memo keeps what a pure function gave for a text. Batches repeat their names and formulas on every line, so a sheet keeps them; what is
// kept can change no outcome, only when it is there.
type memo[V any] struct {
	mu   sync.RWMutex
	kept map[string]V
}

func (m *memo[V]) get(key string, make func() V) V {
	if len(key) > memoKey {
		return make()
	}
	m.mu.RLock()
	v, ok := m.kept[key]
	m.mu.RUnlock()
	if ok {
		return v
	}
	v = make()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[string]V{}
	}
	if len(m.kept) < memoEntries {
		m.kept[key] = v
	}
	return v
}

// parsedFormula is what Parse gave for one text over one set of names.
type parsedFormula struct {
	formula *formula.Formula
	err     error
}

// parseFormula is formula.Parse, kept by the sheet.
func (s *Sheet) parseFormula(src string, names []string) (*formula.Formula, error) {
	key := src
	for _, n := range names {
		key += "\x00" + n
	}
	p := s.formulas.get(key, func() parsedFormula {
		f, err := formula.Parse(src, names)
		return parsedFormula{f, err}
	})
	return p.formula, p.err
}

// normal is normalName, kept by the sheet.
func (s *Sheet) normal(name string) string {
	return s.normals.get(name, func() string { return normalName(name) })
}
