package policy

import (
	"slices"
	"strings"

	"github.com/defendableos/referee/internal/legible"
	"github.com/defendableos/referee/internal/strictjson"
)

// placeholders count as empty in evidence references (S30).
var placeholders = []string{"n/a", "na", "none", "tbd", "-", "--", "todo", "?"}

// referenceFields are the members that hold evidence references in the source documents.
var referenceFields = []string{"evidence_reference", "source_location", "source"}

// isNull says that a value is missing because the document says null there, not because there is nothing.
func (v Val) isNull() bool {
	return v.Kind == Missing && v.JSON != nil && v.JSON.Kind == strictjson.Null
}

// isEmpty is S30: null, "", white space, what nobody sees (S80), [] and {} are empty, 0 and false are not.
func (v Val) isEmpty(reference bool) bool {
	switch v.Kind {
	case Missing:
		return true
	case Str:
		s := strings.TrimSpace(legible.Fold(v.Str))
		return s == "" || reference && slices.Contains(placeholders, strings.ToLower(s))
	case List:
		return len(v.List) == 0
	case Obj:
		return v.memberCount() == 0
	}
	return false
}

// evalAllNonempty is all_nonempty(over, field, allow_empty=False): every item, or its field, holds something. An item
// without the field is empty, which is the very thing this predicate asks about; the list itself absent is unknown.
func evalAllNonempty(ev *evaluator, n *node) Val {
	over := ev.evalLazyArgument(n, 0)
	if over.Kind == Missing {
		return over
	}
	if len(over.List) == 0 {
		return Truth(n.arg(2) != nil && n.args[2].lit.Bool)
	}
	field := n.argText(1)
	reference := slices.Contains(referenceFields, lastStep(n.args[0], field))
	for _, item := range over.List {
		if !ev.chargeWork(1) {
			return Absent(tooMuchWork)
		}
		if field != "" {
			item = ev.walkSteps(item, n.path, item.Pointer())
		}
		if item.isEmpty(reference) {
			return Truth(false)
		}
	}
	return Truth(true)
}

// lastStep is the name of the member that is asked about.
func lastStep(over *node, field string) string {
	if field != "" {
		return field[strings.LastIndexAny(field, "./")+1:]
	}
	if over.kind == kPath && len(over.path) > 0 {
		return over.path[len(over.path)-1].key
	}
	return ""
}

// checkAllNonempty reads the field's path once, at load.
func checkAllNonempty(b *builder, n *node) {
	if f := n.arg(1); f != nil {
		n.path = b.pathSegments(f.lit.Str, f.place)
		b.noWild(&node{kind: kPath, path: n.path, place: f.place}, "a field of all_nonempty")
	}
}
