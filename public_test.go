package repo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestNoInternalTypes: a public package mentions no internal type without a name by which its importers can say it.
// Such a name is an alias in the same package, where `go doc` lists it.
func TestNoInternalTypes(t *testing.T) {
	for _, leak := range internalTypes(t) {
		t.Error(leak)
	}
}

// internalTypes lists the exported names of importable packages that mention an internal type without a public name.
func internalTypes(t *testing.T) (leaks []string) {
	t.Helper()
	files, paths := exportData(t)
	from := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	if len(paths) < 20 {
		t.Errorf("only %d packages can be imported: %v", len(paths), paths)
	}
	for _, path := range paths {
		pkg, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range pkg.Scope().Names() {
			if o := pkg.Scope().Lookup(name); o.Exported() {
				leaks = append(leaks, leaksOf(o)...)
			}
		}
	}
	return leaks
}

// exportData gives the compiled interface of each package, and the paths of those that others can import.
func exportData(t *testing.T) (files map[string]string, importable []string) {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export,Name", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	files = map[string]string{}
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var p struct{ ImportPath, Export, Name string }
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
		if under(p.ImportPath, module) && !internal(p.ImportPath) && p.Name != "main" && p.Export != "" {
			importable = append(importable, p.ImportPath)
		}
	}
	return files, importable
}

// internal reports whether a package can be imported within this module only.
func internal(path string) bool {
	return under(path, module) && slices.Contains(strings.Split(path, "/"), "internal")
}

// leaksOf lists the places of one exported name, its fields and its methods that mention an internal type.
func leaksOf(o types.Object) (leaks []string) {
	named := aliases(o.Pkg())
	look := func(where string, t types.Type) {
		for _, n := range mentioned(t) {
			if named[n] {
				continue
			}
			leaks = append(leaks, fmt.Sprintf("%s.%s mentions %s", o.Pkg().Path(), where, n))
		}
	}
	name, isType := o.(*types.TypeName)
	if !isType {
		look(o.Name(), o.Type())
		return leaks
	}
	if name.IsAlias() {
		return nil // the public name of whatever it stands for
	}
	defined := name.Type().(*types.Named)
	if s, ok := defined.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if f.Exported() {
				look(o.Name()+"."+f.Name(), f.Type())
			}
		}
	} else {
		look(o.Name(), defined.Underlying())
	}
	for m := range defined.Methods() {
		if m.Exported() {
			look(o.Name()+"."+m.Name(), m.Type())
		}
	}
	return leaks
}

// aliases are the types to which a package gives a public name of its own.
func aliases(p *types.Package) map[string]bool {
	named := map[string]bool{}
	for _, name := range p.Scope().Names() {
		if a, ok := p.Scope().Lookup(name).(*types.TypeName); ok && a.IsAlias() && a.Exported() {
			named[types.Unalias(a.Type()).String()] = true
		}
	}
	return named
}

// mentioned lists the internal types that a type is made of, as far as an importer sees it.
func mentioned(t types.Type) (names []string) {
	switch t := t.(type) {
	case *types.Alias:
		if t.Obj().Pkg() != nil && internal(t.Obj().Pkg().Path()) {
			names = append(names, t.String())
		}
	case *types.Named:
		if p := t.Obj().Pkg(); p != nil && internal(p.Path()) {
			names = append(names, t.String())
		}
		for a := range t.TypeArgs().Types() {
			names = append(names, mentioned(a)...)
		}
	case *types.Signature:
		names = append(mentioned(t.Params()), mentioned(t.Results())...)
		for p := range t.TypeParams().TypeParams() {
			names = append(names, mentioned(p.Constraint())...)
		}
	case *types.Tuple:
		for v := range t.Variables() {
			names = append(names, mentioned(v.Type())...)
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				names = append(names, mentioned(f.Type())...)
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			names = append(names, mentioned(m.Type())...)
		}
		for e := range t.EmbeddedTypes() {
			names = append(names, mentioned(e)...)
		}
	case *types.Union:
		for term := range t.Terms() {
			names = append(names, mentioned(term.Type())...)
		}
	case *types.Map:
		names = append(mentioned(t.Key()), mentioned(t.Elem())...)
	case interface{ Elem() types.Type }:
		names = mentioned(t.Elem())
	}
	return names
}
