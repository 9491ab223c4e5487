package strictjson

import "slices"

// What Parse returns is shared and never changed. Who wants another document changes a Clone, or takes a copy With or
// Without something. A copy has no source: its values know no parents, so that Pointer is "" for all of them.

// Clone copies a tree so that it can be changed; places in the source are kept, parents are not.
func (v *Value) Clone() *Value {
	if v == nil {
		return nil
	}
	out := &Value{Kind: v.Kind, Text: v.Text, Pos: v.Pos, End: v.End, OutOfRange: v.OutOfRange}
	for _, item := range v.Items {
		out.Items = append(out.Items, item.Clone())
	}
	for _, m := range v.Members {
		out.Members = append(out.Members, Member{Key: m.Key, KeyPos: m.KeyPos, Value: m.Value.Clone()})
	}
	return out
}

// With is a copy of an object with another value for a member; everything else is shared with v.
func (v *Value) With(key string, to *Value) *Value {
	out := &Value{Kind: Object, Members: slices.Clone(v.Members)}
	out.Set(key, to)
	return out
}

// Without is a copy of an object without a member; everything else is shared with v.
func (v *Value) Without(key string) *Value {
	out := &Value{Kind: Object, Members: slices.Clone(v.Members)}
	out.Remove(key)
	return out
}

// WithItem is a copy of an array with another element; everything else is shared with v.
func (v *Value) WithItem(i int, to *Value) *Value {
	out := &Value{Kind: Array, Items: slices.Clone(v.Items)}
	out.Items[i] = to
	return out
}

// Set changes the value of an object's member, in its place where the object has it and at the end where not.
func (v *Value) Set(key string, to *Value) {
	if i := v.memberIndex(key); i >= 0 {
		v.Members[i].Value = to
		return
	}
	v.Members, v.places = append(v.Members, Member{Key: key, Value: to}), nil
}

// Remove takes a member of an object away and reports whether there was one.
func (v *Value) Remove(key string) bool {
	i := v.memberIndex(key)
	if i < 0 {
		return false
	}
	v.Members, v.places = slices.Concat(v.Members[:i], v.Members[i+1:]), nil
	return true
}

// memberIndex is the index of an object's member, -1 if it has no such member.
func (v *Value) memberIndex(key string) int {
	return slices.IndexFunc(v.Members, func(m Member) bool { return m.Key == key })
}
