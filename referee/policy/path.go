package policy

import (
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
)

// A path is S28's: a JSON Pointer where it begins with "/", else dotted with [n] and [*]. What is stored is the
// pointer, or, with a [*], which pointers cannot say, the dotted form.

// newPath makes the node of a path: an input, a field of the row or a name space where that is what it says.
func (b *builder) newPath(text string, p place) *node {
	if inner, ok := strings.CutPrefix(text, "len("); ok && len(text) <= 1000 && strings.HasSuffix(inner, ")") {
		c := b.newCall("len", p)
		c.setArg(0, b.newPath(strings.TrimSuffix(inner, ")"), p), p)
		return c.finishCall()
	}
	segs := b.pathSegments(text, p)
	wild := false
	for _, s := range segs {
		wild = wild || s.wild
	}
	root, rest := "", segs
	if text[0] != '/' && (segs[0].key == "row" && b.scope != nil || segs[0].key[:1] == "$") {
		root, rest = segs[0].key, segs[1:]
	}
	switch {
	case wild:
		if root != "" && root[0] == '$' {
			b.newSpace(root, p)
		}
		return b.addNode(node{kind: kPath, name: root, path: rest, typ: tList}, p)
	case root == "row":
		return b.descendPath(b.rowNode(0, p), rest, p)
	case root != "":
		return b.descendPath(b.newSpace(root, p), rest, p)
	case len(segs) > 1 && segs[0].key == "inputs" && b.names.isDeclared(kInput, segs[1].key):
		return b.descendPath(b.namedNode(kInput, segs[1].key, p), segs[2:], p)
	}
	return b.addNode(node{kind: kPath, path: segs, typ: tAny}, p)
}

// descendPath writes the steps of a path as members and subscripts of an operand.
func (b *builder) descendPath(n *node, segs []seg, p place) *node {
	for _, s := range segs {
		if s.index {
			n = b.indexNode(n, b.addNumber(s.key, p), p)
		} else {
			n = b.memberNode(n, s.key, p)
		}
	}
	return n
}

func (b *builder) pathSegments(text string, p place) []seg {
	if len(text) > 1000 {
		refuse(p, "", "the path is longer than 1,000 bytes")
	}
	if text == "" {
		refuse(p, `write a path like claims[0].claim or /claims/0/claim`, "the path is empty")
	}
	if text[0] == '/' {
		return pointerSegments(text, p)
	}
	var out []seg
	for i, part := range strings.Split(text, ".") {
		name, subs, _ := strings.Cut(part, "[")
		if name == "" {
			refuse(p, "write a path like claims[0].claim, or /claims/0/claim", "the path %s has an empty step",
				quoteShort(text))
		}
		out = append(out, seg{key: name})
		if len(name) < len(part) {
			out = append(out, parseSubscripts("["+subs, text, p)...)
		}
		if i == 0 && name[0] == '$' && len(name) == 1 {
			refuse(p, "write $stack, $evidence, $flags, $atoms or $file", "the path %s has no name space", quoteShort(text))
		}
	}
	if len(out) > maxDepth {
		refuse(p, "", "the path has more than %d steps", maxDepth)
	}
	return out
}

// parseSubscripts reads [0][*]….
func parseSubscripts(subs, path string, p place) []seg {
	var out []seg
	for subs != "" {
		inner, rest, ok := strings.Cut(strings.TrimPrefix(subs, "["), "]")
		_, index := strictjson.ArrayIndex(inner)
		if !ok || subs[0] != '[' || inner != "*" && !index {
			refuse(p, "a subscript is [0], [1], … or [*]", "the path %s has a broken subscript", quoteShort(path))
		}
		out = append(out, seg{key: inner, wild: inner == "*", index: inner != "*"})
		subs = rest
	}
	return out
}

func pointerSegments(text string, p place) []seg {
	if strings.Count(text, "/") > maxDepth {
		refuse(p, "", "the path has more than %d steps", maxDepth)
	}
	names, err := strictjson.ParsePointer(text)
	if err != nil {
		refuse(p, "write ~0 for ~ and ~1 for /", "the pointer %s has a broken escape", quoteShort(text))
	}
	out := make([]seg, len(names))
	for i, name := range names {
		_, index := strictjson.ArrayIndex(name)
		out[i] = seg{key: name, index: index}
	}
	return out
}

// pathPointer is the JSON Pointer of a path without [*].
func pathPointer(segs []seg) string {
	out := ""
	for _, s := range segs {
		out = strictjson.JoinPointer(out, s.key)
	}
	return out
}

func dottedPath(segs []seg) string {
	var b strings.Builder
	for i, s := range segs {
		switch {
		case s.wild || s.index && i > 0:
			b.WriteString("[" + s.key + "]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.key)
		}
	}
	return b.String()
}

// pathText is the canonical text of a path node.
func (n *node) pathText() string {
	wild := false
	for _, s := range n.path {
		wild = wild || s.wild
	}
	if !wild {
		return pathPointer(n.path)
	}
	if n.name == "" {
		return dottedPath(n.path)
	}
	return dottedPath(append([]seg{{key: n.name}}, n.path...))
}
