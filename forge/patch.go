package forge

import (
	"fmt"
	"slices"
	"strconv"

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
	tokens, err := strictjson.ParsePointer(op.Path)
	if err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		if op.Op == "remove" {
			return nil, fmt.Errorf("the whole document cannot be removed")
		}
		return op.Value.Clone(), nil
	}
	parent := root
	for i, token := range tokens[:len(tokens)-1] {
		if parent = parent.Child(token); parent == nil {
			return nil, fmt.Errorf("there is nothing at %q", strictjson.JoinPointer("", tokens[:i+1]...))
		}
	}
	return root, changeMember(parent, tokens[len(tokens)-1], op)
}

func changeMember(parent *strictjson.Value, token string, op referee.PatchOp) error {
	switch parent.Kind {
	case strictjson.Object:
		if op.Op != "add" && parent.Get(token) == nil {
			return fmt.Errorf("no member %q", token)
		}
		if op.Op == "remove" {
			parent.Remove(token)
			return nil
		}
		parent.Set(token, op.Value.Clone())
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
	i, ok := strictjson.ArrayIndex(token)
	if !ok || i > last {
		return fmt.Errorf("there is no item %q; the list has %d", token, len(parent.Items))
	}
	switch op.Op {
	case "add":
		parent.Items = slices.Insert(parent.Items, i, op.Value.Clone())
	case "remove":
		parent.Items = slices.Delete(parent.Items, i, i+1)
	default:
		parent.Items[i] = op.Value.Clone()
	}
	return nil
}
