package policy

// form is how an argument is written and read.
type form uint8

const (
	fValue   form = iota // an operand
	fPath                // an operand; in a tree a plain string is a path
	fRow                 // a row expression over the argument named over
	fText                // a text written out
	fNumber              // a number written out
	fTruth               // True or False written out
	fPattern             // a regular expression (RE2) written out, compiled at load
)

// param is one parameter of a function.
type param struct {
	name     string
	typ      typ // the types it takes; 0 is any
	form     form
	opt      bool // may be left out
	keyword  bool // is written name=value
	variadic bool // stands for one or more
}

// function is an operand, function or predicate of the language.
type function struct {
	name    string
	aliases []string
	params  []param
	result  typ
	group   string
	doc     string
	example string // an expression over exampleNames

	// eval gets every argument evaluated; a missing or mistyped one never reaches it.
	eval func(ev *evaluator, n *node, args []Val) Val
	// lazy evaluates its own arguments.
	lazy func(ev *evaluator, n *node) Val
	// check refuses at load what the parameters cannot say.
	check func(b *builder, n *node)
	// resultOf is the type of the result where it depends on the arguments.
	resultOf func(n *node) typ
	// build makes another node than a call, for what is only a way to write it.
	build func(c *call) *node
}

func (f *function) paramAt(i int) *param {
	if last := len(f.params) - 1; i >= last && f.params[last].variadic {
		return &f.params[last]
	}
	if i < len(f.params) {
		return &f.params[i]
	}
	return nil
}

// paramIndex is the place of a parameter by name, -1 if there is none.
func (f *function) paramIndex(name string) int {
	for i := range f.params {
		if f.params[i].name == name {
			return i
		}
	}
	return -1
}

// signatureText prints the parameters as documentation does: agg(op, over, value?, where=?, p=?).
func (f *function) signatureText() string {
	out := f.name + "("
	for i, p := range f.params {
		if i > 0 {
			out += ", "
		}
		out += p.name
		if p.keyword {
			out += "="
		}
		if p.opt {
			out += "?"
		}
		if p.variadic {
			out += ", …"
		}
	}
	return out + ")"
}
