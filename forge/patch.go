package forge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/defendableos/referee/internal/strictjson"
	"github.com/defendableos/referee/referee"
)

// applyPatch applies the operations add, remove and replace of RFC 6902 to a tree, in order. It returns the new root;
// after an error the tree may be changed in part.
func applyPatch(root *strictjson.Value, ops []referee.PatchOp) (*strictjson.Value, error) {
	for _, op := range ops {
		next, err := applyOp(root, op)
		if err != nil {
			return nil, fmt.Errorf("patch %s %q: %w", op.Op, op.Path, err)
		}
		root = next
	}
	return root, nil
}

func applyOp(root *strictjson.Value, op referee.PatchOp) (*strictjson.Value, error) {
	if op.Op != "add" && op.Op != "remove" && op.Op != "replace" {
		return nil, fmt.Errorf("unknown operation; known: add, remove, replace")
	}
	if op.Op != "remove" && op.Value == nil {
		return nil, fmt.Errorf("it needs a value")
	}
	tokens, err := pointerTokens(op.Path)
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		if op.Op == "remove" {
			return nil, fmt.Errorf("the whole document cannot be removed")
		}
		return clone(op.Value), nil
	}
	parent := root
	for i, token := range tokens[:len(tokens)-1] {
		if parent = step(parent, token); parent == nil {
			return nil, fmt.Errorf("there is nothing at %q", "/"+strings.Join(tokens[:i+1], "/"))
		}
	}
	return root, change(parent, tokens[len(tokens)-1], op)
}

// pointerTokens splits a JSON Pointer (RFC 6901).
func pointerTokens(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("a JSON Pointer begins with /")
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(t), "~") {
			return nil, fmt.Errorf("~ is written ~0 and / is written ~1 in a JSON Pointer")
		}
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens, nil
}

// step goes to one child; nil where there is none.
func step(v *strictjson.Value, token string) *strictjson.Value {
	if v.Kind != strictjson.Array {
		return v.Get(token)
	}
	i, ok := position(token, len(v.Items)-1)
	if !ok {
		return nil
	}
	return v.Items[i]
}

// position reads an index from 0 to last; a sign or a leading zero is none.
func position(token string, last int) (int, bool) {
	i, err := strconv.Atoi(token)
	return i, err == nil && i >= 0 && i <= last && strconv.Itoa(i) == token
}

func change(parent *strictjson.Value, token string, op referee.PatchOp) error {
	switch parent.Kind {
	case strictjson.Object:
		if op.Op != "add" && parent.Get(token) == nil {
			return fmt.Errorf("no member %q", token)
		}
		if op.Op == "remove" {
			remove(parent, token)
			return nil
		}
		set(parent, token, clone(op.Value))
		return nil
	case strictjson.Array:
		return changeItem(parent, token, op)
	}
	return fmt.Errorf("its parent is neither an object nor an array")
}

func changeItem(parent *strictjson.Value, token string, op referee.PatchOp) error {
	last := len(parent.Items) - 1
	if op.Op == "add" {
		if last++; token == "-" {
			token = strconv.Itoa(last)
		}
	}
	i, ok := position(token, last)
	if !ok {
		return fmt.Errorf("there is no item %q; the list has %d", token, len(parent.Items))
	}
	switch op.Op {
	case "add":
		parent.Items = slices.Insert(parent.Items, i, clone(op.Value))
	case "remove":
		parent.Items = slices.Delete(parent.Items, i, i+1)
	default:
		parent.Items[i] = clone(op.Value)
	}
	return nil
}
