package config

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of a workflow file. Aliases are followed, so that what a file grows to is bounded too.
const (
	maxWorkflow = 512 << 10
	maxNodes    = 100_000
	maxNesting  = 100
)

// errGrows refuses a file whose aliases make it too large, or that is nested too deeply.
var errGrows = errors.New("it is too large or too deeply nested to be read")

// ReadPlainYAML reads one YAML document into texts, lists ([]any) and mappings (map[string]any); null is nil. Unlike
// the configuration's reader it takes whatever GitHub takes: anchors, tags, numbers; every scalar is the text that was
// written.
func ReadPlainYAML(src []byte) (v any, err error) {
	if len(src) > maxWorkflow {
		return nil, errGrows
	}
	defer func() {
		if r := recover(); r != nil {
			v, err = nil, fmt.Errorf("the YAML cannot be read: %v", r)
		}
	}()
	tree, err := parser.ParseBytes(src, 0)
	if err != nil {
		refusal := yamlError("", err)
		return nil, fmt.Errorf("line %d: %s", refusal.Line, refusal.Message)
	}
	if len(tree.Docs) != 1 || tree.Docs[0].Body == nil {
		return nil, errors.New("it is not one YAML document")
	}
	p := &plainReader{anchors: map[string]ast.Node{}}
	return p.readValue(tree.Docs[0].Body, 0)
}

type plainReader struct {
	anchors map[string]ast.Node
	nodes   int
}

func (p *plainReader) readValue(n ast.Node, depth int) (any, error) {
	if p.nodes++; p.nodes > maxNodes || depth > maxNesting {
		return nil, errGrows
	}
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return nil, nil
	case *ast.MappingNode:
		return p.readMapping(n.Values, depth)
	case *ast.MappingValueNode:
		return p.readMapping([]*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		list := make([]any, 0, len(n.Values))
		for _, item := range n.Values {
			v, err := p.readValue(item, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case *ast.AnchorNode:
		p.anchors[n.Name.GetToken().Value] = n.Value
		return p.readValue(n.Value, depth+1)
	case *ast.AliasNode:
		target, known := p.anchors[n.Value.GetToken().Value]
		if !known {
			return nil, fmt.Errorf("the alias *%s names no anchor", n.Value.GetToken().Value)
		}
		return p.readValue(target, depth+1)
	case *ast.TagNode:
		return p.readValue(n.Value, depth+1)
	case *ast.LiteralNode:
		return n.Value.Value, nil
	case *ast.StringNode:
		return n.Value, nil
	}
	return n.GetToken().Value, nil
}

func (p *plainReader) readMapping(values []*ast.MappingValueNode, depth int) (any, error) {
	m := make(map[string]any, len(values))
	for _, pair := range values {
		v, err := p.readValue(pair.Value, depth+1)
		if err != nil {
			return nil, err
		}
		m[pair.Key.GetToken().Value] = v // the parser refuses a key that appears twice
	}
	return m, nil
}
