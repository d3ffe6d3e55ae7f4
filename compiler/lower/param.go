package lower

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"flow/compiler/check"
	"flow/ir/types"
	"flow/lang"
	"flow/lang/ast"
	"flow/lang/source"
)

// param binds a parameter to its setting or default.
func (l *lowerer) param(s *ast.Param) {
	name := s.Name.Name
	p := Param{Name: l.prefix() + name, Span: s.Name.At, Required: s.Default == nil}
	if s.Doc != nil {
		p.Doc = s.Doc.Value
	}
	if s.In != nil {
		p.In = l.in.Files.Text(s.In.Span())
	}
	var def val
	want := types.NoElem
	if s.Default != nil {
		def = l.expr(s.Default)
		if def.kind == edge && l.typeOf(def).IsMatrix() || def.kind != edge && def.kind != konst {
			l.fail(noScalarParam(s.Default.Span()))
		}
		if def.kind != konst {
			l.failf("E215", s.Default.Span(), "a param's default must be known before the run")
		}
		p.Default = l.in.Files.Text(s.Default.Span())
		want = def.s.Elem
	}
	if s.Type != nil {
		want = l.scalarType(s.Type)
		if s.Default != nil {
			def = l.ascribe(def, s.Type, s.Default.Span())
		}
	}
	def.untyped = false
	p.Type = want.String()
	v, found := l.setting(p, want)
	if !found {
		v = def
	}
	if !found && s.Default == nil {
		l.params = append(l.params, p)
		if l.onlyParams {
			l.declare(s.Name, val{})
			return
		}
		l.fail(source.Errorf("E122", s.Name.At, "the param `%s` has no value", p.Name).WithHelp("give it one: --set %s=..", p.Name))
	}
	p.Value = v.s.String()
	l.params = append(l.params, p)
	if s.In != nil {
		l.choice(s, p, v)
	}
	l.declare(s.Name, v)
}

// noScalarParam is the diagnostic of a param that should be a matrix, list or tuple.
func noScalarParam(at source.Span) source.Diagnostic {
	return source.Errorf("E200", at, "a param is a scalar: f64, f32, i64, bool or str").
		WithHelp("bind a name without `param`, or read the values from a file that a param of type str names")
}

// scalarType returns the element type of a param.
func (l *lowerer) scalarType(t ast.Type) types.Elem {
	t, leave := l.resolved(t)
	defer leave()
	n, ok := t.(*ast.NamedType)
	if !ok || len(n.Dims) > 0 {
		l.fail(noScalarParam(t.Span()))
	}
	e, ok := types.ElemNamed(n.Name.Name)
	if !ok {
		l.noType(n)
	}
	return e
}

// setting returns the last value that --set gives p.
func (l *lowerer) setting(p Param, want types.Elem) (v val, found bool) {
	for _, set := range l.in.Sets {
		if set.Name != p.Name {
			continue
		}
		l.used[set.Name] = true
		s, ok := parseScalar(set.Text, want)
		if !ok {
			l.params = append(l.params, p)
			l.fail(source.Errorf("E121", source.Span{}, "--set %s=%s: the param is %s", set.Name, set.Text, anElem(want)).WithNote(p.Span, "declared here").
				WithHelp("%s", setAs(set, want)))
		}
		v, found = konstVal(s), true
	}
	return v, found
}

// setAs returns help for a text that is no value of a type: the value that was probably meant.
func setAs(set Setting, want types.Elem) string {
	text := strings.TrimSpace(set.Text)
	if first, rest, several := strings.Cut(text, ","); several && strings.Contains(rest, "=") {
		return "each param has a --set of its own: --set " + set.Name + "=" + first + " --set " + strings.ReplaceAll(rest, ",", " --set ")
	}
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64)
	switch {
	case want == types.I64 && err == nil && x == math.Trunc(x) && math.Abs(x) < 1<<53 && !strings.Contains(text, ","):
		return fmt.Sprintf("write --set %s=%d", set.Name, int64(x))
	case want.IsFloat() && err == nil:
		return fmt.Sprintf("write --set %s=%v", set.Name, x)
	case want == types.Bool && slices.Contains([]string{"1", "yes", "on", "y", "t", "True", "TRUE"}, text):
		return "write --set " + set.Name + "=true"
	case want == types.Bool && slices.Contains([]string{"0", "no", "off", "n", "f", "False", "FALSE"}, text):
		return "write --set " + set.Name + "=false"
	}
	return ""
}

func anElem(e types.Elem) string {
	if e == types.I64 {
		return "an i64, an integer such as 4096"
	}
	if e == types.F64 {
		return "an f64, a number such as 0.5"
	}
	if e == types.Bool {
		return "a bool, true or false"
	}
	return "a " + e.String()
}

func (l *lowerer) choice(s *ast.Param, p Param, v val) {
	in := l.expr(s.In)
	if in.kind != list {
		l.failf("E200", s.In.Span(), "`in` wants a list of the allowed values")
	}
	for _, x := range in.elems {
		if x.kind == konst && x.s.Convert(v.s.Elem).Same(v.s) {
			return
		}
	}
	l.fail(source.Errorf("E123", s.Name.At, "%s = %s is not among %s", p.Name, v.s, p.In))
}

// unusedSets reports settings that name no param.
func (l *lowerer) unusedSets() {
	var names []string
	for _, p := range l.params {
		names = append(names, p.Name)
	}
	for _, s := range l.in.Sets {
		if l.used[s.Name] || l.broken && slices.Contains(names, s.Name) {
			continue
		}
		l.used[s.Name] = true
		d := source.Errorf("E120", source.Span{}, "no param `%s`  (--set %s=%s)", s.Name, s.Name, s.Text)
		if n, ok := source.Suggest(s.Name, names); ok {
			d = d.WithHelp("did you mean `%s`?", n)
		} else if len(names) > 0 {
			d = d.WithHelp("the program's params are %s", strings.Join(names, ", "))
		} else {
			d = d.WithHelp("the program has no params")
		}
		l.diags = append(l.diags, d)
	}
}

// prefix returns the prefix of an imported file's params on the command line.
func (l *lowerer) prefix() string {
	if len(l.imports) == 0 {
		return ""
	}
	return l.imports[len(l.imports)-1] + "."
}

// importFile reads a file of functions and params and binds it as a module.
func (l *lowerer) importFile(s *ast.Import) {
	id := check.ImportName(s)
	text, name, err := l.load(s.Path.Value, s.Span())
	if err != nil {
		l.fail(l.notImported(s.Path, err))
	}
	for _, f := range l.in.Files.Files() {
		if f.Name == name && len(l.imports) > 16 {
			l.fail(source.Errorf("E125", s.Path.Span(), "imports form a cycle").WithHelp("what two files need of each other goes into a third, which both import"))
		}
	}
	m := l.file(name, text, s.Path.Span(), id.Name)
	l.declare(id, moduleVal(m))
}

// notImported says why a file cannot be imported, and suggests a file with a similar name.
func (l *lowerer) notImported(p *ast.String, err error) source.Diagnostic {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err // the path is in the message
	}
	d := source.Errorf("E124", p.Span(), "cannot import %q: %v", p.Value, err)
	if !errors.Is(err, fs.ErrNotExist) {
		return d
	}
	d.Message = fmt.Sprintf("cannot import %q: there is no such file", p.Value)
	dir, base := path.Split(p.Value)
	entries, err := l.list(dir, p.Span())
	var names []string
	for _, e := range entries {
		if e.IsDir() || path.Ext(e.Name()) == ".flow" {
			names = append(names, e.Name())
		}
	}
	near, ok := source.Suggest(base, names)
	switch {
	case ok:
		d = d.WithHelp("did you mean %q?", dir+near)
	case errors.Is(err, fs.ErrNotExist) && l.inLibrary(base):
		d = d.WithHelp("there is no directory %s; did you mean %q, in the library?", path.Clean(dir), "std/"+base)
	case errors.Is(err, fs.ErrNotExist):
		d = d.WithHelp("there is no directory %s", path.Clean(dir))
	case !strings.HasPrefix(dir, "std/") && l.inLibrary(base):
		d = d.WithHelp("did you mean %q, in the library?", "std/"+base)
	case !strings.HasPrefix(dir, "std/") && !path.IsAbs(dir):
		d = d.WithHelp("the path is looked up beside the importing file, then in the directories that the environment variable FLOWPATH lists; one that begins with std/ is in the library")
	}
	return d
}

// inLibrary reports a file of the library.
func (l *lowerer) inLibrary(base string) bool {
	if l.in.Std == nil || !fs.ValidPath(base) {
		return false
	}
	_, err := fs.Stat(l.in.Std, base)
	return err == nil
}

// list lists the directory of an import, or of the library; nothing if files come from elsewhere.
func (l *lowerer) list(dir string, at source.Span) ([]fs.DirEntry, error) {
	switch rest, library := strings.CutPrefix(dir, "std/"); {
	case library && l.in.Std != nil:
		return fs.ReadDir(l.in.Std, path.Clean("./"+rest))
	case l.in.List == nil:
		return nil, nil
	case path.IsAbs(dir):
		return l.in.List(dir)
	}
	return l.in.List(path.Join(l.directory(at), dir))
}

// directory returns the base of relative paths in the file around at.
func (l *lowerer) directory(at source.Span) string {
	if f := l.in.Files.File(at.From); f != nil {
		return path.Dir(f.Name)
	}
	return "."
}

// load finds an imported file: beside the importing one, then in the directories of Input.Path. A
// path that begins with std/ is in the library.
func (l *lowerer) load(p string, at source.Span) (text []byte, name string, err error) {
	if rest, ok := strings.CutPrefix(p, "std/"); ok && l.in.Std != nil {
		text, err = fs.ReadFile(l.in.Std, rest)
		return text, p, err
	}
	if name = p; !path.IsAbs(p) {
		name = path.Join(l.directory(at), p)
	}
	if text, err = l.in.Load(name); !errors.Is(err, fs.ErrNotExist) || path.IsAbs(p) {
		return text, name, err
	}
	for _, dir := range l.in.Path {
		there := path.Join(dir, p)
		if found, other := l.in.Load(there); !errors.Is(other, fs.ErrNotExist) {
			return found, there, other
		}
	}
	return text, name, err
}

// file elaborates the declarations of an imported file in a scope of their own.
func (l *lowerer) file(name string, text []byte, at source.Span, as string) *scope {
	f := l.in.Files.Add(name, string(text))
	f.Library = l.in.Std != nil && strings.HasPrefix(l.in.Files.Text(at), `"std/`)
	tree, ds := lang.Parse(f)
	l.diags = append(l.diags, ds...)
	if ds.HasErrors() {
		panic(bail{})
	}
	outer := l.scope
	l.noteFile(tree)
	m := &scope{}
	l.scope = m
	l.imports = append(l.imports, as)
	for _, s := range tree.Stmts {
		switch s.(type) {
		case *ast.Import, *ast.TypeDef, *ast.FnDecl, *ast.Stage, *ast.Param:
			l.stmt(s)
		default:
			l.fail(source.Errorf("E126", s.Span(), "an imported file may contain only import, type, fn, stage and param").WithNote(at, "imported here"))
		}
	}
	l.imports = l.imports[:len(l.imports)-1]
	l.scope = outer
	return m
}
