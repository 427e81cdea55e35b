package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// longest is the most lines that a file of the product may have, so that it can be
// read in one sitting.
const longest = 400

// parse parses one Go file.
func parse(f file) (*token.FileSet, *ast.File, error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, f.path, f.content, parser.ParseComments|parser.SkipObjectResolution)
	return set, parsed, err
}

// declarations makes a rule for files out of one for a declaration.
func declarations(rule func(ast.Decl) []finding) func(file) []string {
	return func(f file) []string {
		set, parsed, err := parse(f)
		if err != nil {
			return []string{err.Error()}
		}
		var findings []string
		for _, declaration := range parsed.Decls {
			for _, found := range rule(declaration) {
				findings = append(findings, fmt.Sprintf("line %d: %s", set.Position(found.at).Line, found.text))
			}
		}
		return findings
	}
}

// finding is what a rule has against a place.
type finding struct {
	at   token.Pos
	text string
}

// documented is the rule that each exported identifier of a package, and each
// method of an exported type, has a comment. Constants and variables of one group
// may share the group's.
func documented(declaration ast.Decl) []finding {
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc.Text() == "" && exportedReceiver(d) {
			return []finding{{d.Pos(), d.Name.Name + " has no comment"}}
		}
	case *ast.GenDecl:
		var findings []finding
		for _, spec := range d.Specs {
			findings = append(findings, undocumented(spec, d.Doc.Text() != "")...)
		}
		return findings
	}
	return nil
}

// undocumented returns the exported names of spec if neither it nor its group has a
// comment.
func undocumented(spec ast.Spec, group bool) []finding {
	var names []*ast.Ident
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Doc.Text() == "" && !group {
			names = []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		if s.Doc.Text() == "" && s.Comment.Text() == "" && !group {
			names = s.Names
		}
	}
	var findings []finding
	for _, name := range names {
		if name.IsExported() {
			findings = append(findings, finding{name.Pos(), name.Name + " has no comment"})
		}
	}
	return findings
}

// exportedReceiver says whether d is a function, or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	exported := false
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		name, ok := n.(*ast.Ident)
		exported = exported || ok && name.IsExported()
		return !ok
	})
	return exported
}

// stamps are the variables that the linker sets; nothing else writes them.
var stamps = []string{"src/cmd/extctx/version.go: stampedVersion", "src/cmd/extctx/version.go: stampedCommit"}

// stateless returns the rule that a file declares no variable of a package that
// can hold state: error values, compiled patterns, embedded files, checks of an
// interface and the allowed ones are what is left.
func stateless(path string, allowed []string) func(ast.Decl) []finding {
	return func(declaration ast.Decl) []finding {
		d, ok := declaration.(*ast.GenDecl)
		if !ok || d.Tok != token.VAR {
			return nil
		}
		var findings []finding
		for _, spec := range d.Specs {
			s := spec.(*ast.ValueSpec)
			for i, name := range s.Names {
				fixed := name.Name == "_" || embedded(d.Doc) || embedded(s.Doc) || i < len(s.Values) && isFixed(s.Values[i])
				if !fixed && !slices.Contains(allowed, path+": "+name.Name) {
					findings = append(findings, finding{name.Pos(), name.Name + " is a variable of the package: pass it in"})
				}
			}
		}
		return findings
	}
}

// embedded says whether a variable's comment embeds a file.
func embedded(doc *ast.CommentGroup) bool {
	return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool { return strings.HasPrefix(c.Text, "//go:embed ") })
}

// isFixed says whether value is an error or a compiled pattern.
func isFixed(value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	owner, ok := selector.X.(*ast.Ident)
	return ok && slices.Contains([]string{"errors.New", "fmt.Errorf", "regexp.MustCompile"}, owner.Name+"."+selector.Sel.Name)
}

// noInit is the rule that nothing runs before main.
func noInit(declaration ast.Decl) []finding {
	if d, ok := declaration.(*ast.FuncDecl); ok && d.Recv == nil && d.Name.Name == "init" {
		return []finding{{d.Pos(), "func init runs before main can decide anything"}}
	}
	return nil
}

// short is the rule about the longest file.
func short(f file) []string {
	if lines := bytes.Count(f.content, []byte("\n")); lines > longest {
		return []string{fmt.Sprintf("%d lines, and %d are the most: split it", lines, longest)}
	}
	return nil
}

func TestExportedIdentifiersHaveAComment(t *testing.T) {
	sweep(t, source(t, "src/", "policy/", "testing/"), declarations(documented))
}

func TestNoPackageOfTheProductHoldsState(t *testing.T) {
	sweep(t, source(t, "src/"), func(f file) []string { return declarations(stateless(f.path, stamps))(f) })
}

func TestNothingOfTheProductRunsBeforeMain(t *testing.T) {
	sweep(t, source(t, "src/"), declarations(noInit))
}

func TestAFileOfTheProductCanBeReadInOneSitting(t *testing.T) {
	sweep(t, source(t, "src/"), short)
}

func TestTheAllowedVariablesExist(t *testing.T) {
	var found []string
	for _, f := range source(t, "src/") {
		_, parsed, err := parse(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range parsed.Decls {
			if d, ok := declaration.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, spec := range d.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						found = append(found, f.path+": "+name.Name)
					}
				}
			}
		}
	}
	for _, stamp := range stamps {
		if !slices.Contains(found, stamp) {
			t.Errorf("%s is allowed and not there", stamp)
		}
	}
}
