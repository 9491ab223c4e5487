package schema

import (
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
)

// The bounds of holding one document against one schema. The library knows none: allOf and $ref that double forty times
// make a schema of eight kilobytes that takes years, and what it finds wrong takes a kilobyte a place.
const (
	maxPlace  = 10_000    // schemas that apply to one place of a document
	maxSteps  = 2_000_000 // schemas applied to a document, each at each place
	maxNested = 500       // schemas that lead from one to the next at one place
	maxDoubts = 100_000   // values that may be wrong
)

// coster counts what the library would do, and stops where it is too much. It applies every branch, so that it never
// counts too little.
type coster struct {
	root    *strictjson.Value
	anchors map[string]*strictjson.Value
	left    int
	nested  int
	endless bool // a schema leads to itself without going deeper into the document
}

func newCoster(root *strictjson.Value, most int) *coster { return &coster{root: root, left: most} }

// takeSteps counts steps and reports whether there is room for more.
func (c *coster) takeSteps(n int) bool {
	c.left = max(c.left-n, -1)
	return c.left >= 0
}

// countSchema counts a schema at a value; nil stands for any value of no parts.
func (c *coster) countSchema(schema, v *strictjson.Value) {
	if schema == nil || !c.takeSteps(1) || schema.Kind != strictjson.Object {
		return
	}
	if c.nested++; c.nested > maxNested {
		c.endless, c.left = true, -1
		return
	}
	for _, m := range schema.Members {
		if c.left < 0 {
			return
		}
		c.countKeyword(m.Key, m.Value, v)
	}
	c.nested--
}

// countKeyword counts what one keyword applies, in the same place or below it.
func (c *coster) countKeyword(key string, value, v *strictjson.Value) {
	switch key {
	case "$ref", "$dynamicRef", "$recursiveRef":
		c.countSchema(c.resolveRef(value), v)
	case "allOf", "anyOf", "oneOf":
		for _, item := range value.Items {
			c.countSchema(item, v)
		}
	case "not", "if", "then", "else":
		c.countSchema(value, v)
	case "dependentSchemas", "dependencies":
		for _, m := range value.Members {
			c.countSchema(m.Value, v)
		}
	case "enum":
		c.takeSteps(len(value.Items))
	}
	if v == nil {
		return
	}
	nested := c.nested
	c.nested = 0 // deeper in the document, which ends
	c.countParts(key, value, v)
	if !c.endless {
		c.nested = nested
	}
}

// countParts counts what a keyword applies to the parts of a value.
func (c *coster) countParts(key string, value, v *strictjson.Value) {
	switch key {
	case "properties":
		for _, m := range value.Members {
			if part := v.Get(m.Key); part != nil {
				c.countSchema(m.Value, part)
			}
		}
	case "patternProperties":
		for _, m := range value.Members {
			c.countMembers(m.Value, v)
		}
	case "additionalProperties", "unevaluatedProperties":
		c.countMembers(value, v)
	case "propertyNames":
		for range v.Members {
			c.countSchema(value, nil)
		}
	case "items", "prefixItems", "additionalItems", "unevaluatedItems", "contains":
		c.countItems(value, v)
	case "uniqueItems":
		if n := len(v.Items); value.Text == "true" && n > 1 {
			c.takeSteps(min(n, 1<<15) * min(n-1, 1<<15) / 2)
		}
	case "pattern", "format":
		c.takeSteps(len(v.Text) / 16)
	}
}

func (c *coster) countMembers(schema, v *strictjson.Value) {
	for _, m := range v.Members {
		c.countSchema(schema, m.Value)
	}
}

// countItems counts a schema at every item, or a list of schemas at the items of their places.
func (c *coster) countItems(value, v *strictjson.Value) {
	for i, item := range v.Items {
		switch {
		case value.Kind != strictjson.Array:
			c.countSchema(value, item)
		case i < len(value.Items):
			c.countSchema(value.Items[i], item)
		default:
			return
		}
	}
}

// resolveRef is the schema that a reference within the document names.
func (c *coster) resolveRef(ref *strictjson.Value) *strictjson.Value {
	fragment, _ := strings.CutPrefix(ref.Text, "#")
	if fragment == "" || fragment[0] == '/' {
		return c.root.At(unescapePointer(fragment)) // nil where it names nothing, which the library refuses
	}
	if c.anchors == nil {
		c.anchors = map[string]*strictjson.Value{}
		c.root.Walk(func(v *strictjson.Value) bool {
			for _, key := range []string{"$anchor", "$dynamicAnchor"} {
				if name, ok := v.Get(key).Str(); ok {
					c.anchors[name] = v
				}
			}
			return true
		})
	}
	return c.anchors[fragment]
}

// countDoubts counts the values that an acceptor does not plainly accept, up to a bound: each may be an error of the
// library.
func (a *acceptor) countDoubts(v *strictjson.Value, most int) int {
	if a.never {
		return countValues(v)
	}
	n := 0
	own := *a
	own.properties, own.others, own.items = nil, nil, nil
	if !own.surelyAccepts(v) {
		n++
	}
	for _, item := range v.Items {
		if a.items == nil || n > most {
			break
		}
		n += a.items.countDoubts(item, most-n)
	}
	for i := range v.Members {
		below, declared := a.properties[v.Members[i].Key]
		if !declared {
			below = a.others
		}
		if below != nil && n <= most {
			n += below.countDoubts(v.Members[i].Value, most-n)
		}
	}
	return n
}
