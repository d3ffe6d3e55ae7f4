package loop

// This file writes the text form. Values print by number, so that equal nests have equal text.

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"flow/ir/types"
)

// String returns the text form of a nest, which Parse reads.
func (n *Nest) String() string {
	p := &printer{names: n.Names, types: n.Types}
	p.memory(n.Tables)
	for i, l := range n.Locals {
		p.line("local w%d %v[%s, %s]", i, l.Elem, p.lin(l.Rows), p.lin(l.Cols))
	}
	var params, space, results []string
	for i, a := range n.Params {
		params = append(params, fmt.Sprintf("%%%d: %s", i, a))
	}
	for _, x := range n.Space {
		space = append(space, n.Names[x.Name]+": "+p.rng(x.Range))
	}
	for _, r := range n.Results {
		results = append(results, p.result(r))
	}
	head := "nest(" + strings.Join(params, ", ") + ") (" + strings.Join(space, ", ") + ") {\n"
	p.block(&n.Body, "")
	return head + p.b.String() + "} : (" + strings.Join(results, ", ") + ")\n"
}

// String returns the text form of a function, which ParseLibrary reads.
func (f *Function) String() string {
	p := &printer{names: f.Names, types: f.Types}
	p.memory(f.Tables)
	p.block(&f.Body, "yield")
	var params, results []string
	for i, e := range f.Params {
		params = append(params, fmt.Sprintf("v%d: %v", i, e))
	}
	for _, e := range f.Results() {
		results = append(results, e.String())
	}
	return fmt.Sprintf("func %s(%s) (%s) %q {\n%s}\n", f.Name, strings.Join(params, ", "), strings.Join(results, ", "), f.Doc, p.b.String())
}

func (a Param) String() string {
	switch a.Kind {
	case DenseParam:
		return a.Elem.String() + "[]"
	}
	return a.Elem.String()
}

type printer struct {
	b     strings.Builder
	depth int
	names []string
	types []types.Elem
}

func (p *printer) line(format string, args ...any) {
	p.b.WriteString(strings.Repeat("  ", p.depth+1))
	fmt.Fprintf(&p.b, format, args...)
	p.b.WriteByte('\n')
}

func (p *printer) memory(tables []Table) {
	for i, t := range tables {
		words := each(t.Words, func(w Word) string { return wordText(t.Elem, w) })
		p.line("table t%d %v [%s]", i, t.Elem, strings.Join(words, ", "))
	}
}

func (p *printer) result(r Result) string {
	s := ""
	if r.Class != NoClass {
		s = r.Class.Info().Name + " "
	}
	s += fmt.Sprintf("%v[%s, %s]", r.Elem, p.lin(r.Rows), p.lin(r.Cols))
	if r.Over >= 0 {
		s += fmt.Sprintf(" over %%%d", r.Over)
	}
	return s
}

func (p *printer) block(b *Block, yield string) {
	for i := range b.Stmts {
		p.stmt(&b.Stmts[i])
	}
	if yield != "" && len(b.Yield) > 0 {
		p.line("%s %s", yield, vals(b.Yield))
	}
}

// inner prints a block of a statement up to its closing brace. Its head has been printed.
func (p *printer) inner(b *Block, yield string) {
	p.depth++
	p.block(b, yield)
	p.depth--
}

func (p *printer) stmt(s *Stmt) {
	to := ""
	if s.N > 0 {
		list := make([]Val, s.N)
		for k := range list {
			list[k] = s.Dst + Val(k)
		}
		to = vals(list) + " = "
	}
	at := s.Origin.String()
	switch s.Code {
	case Const:
		e := p.types[s.Dst]
		p.line("%s%v %s%s", to, e, wordText(e, s.Imm), at)
	case IndexOf:
		p.line("%sindex %s%s", to, p.names[s.Imm], at)
	case Load:
		p.line("%sload %s%s", to, p.place(s), at)
	case Store:
		p.line("store %s %s%s", p.place(s), vals(s.Args), at)
	case Reduce:
		p.line("reduce %s %s%s", p.place(s), vals(s.Args), at)
	case Look:
		p.line("%slook %s %s%s", to, s.Mem, vals(s.Args), at)
	case Check:
		p.line("check %d %s%s", s.Imm, vals(s.Args), at)
	case Break:
		p.line("break %s%s", vals(s.Args), at)
	case Apply:
		p.line("%scall %s(%s)%s", to, s.Func.Name, vals(s.Args), at)
	case If:
		p.line("%sif %s {%s", to, vals(s.Args), at)
		p.inner(s.Then, "yield")
		p.line("} else {")
		p.inner(s.Else, "yield")
		p.line("}")
	case For:
		p.loop(s, to, at)
	default:
		p.line("%s%s %s%s", to, s.Code.Operation().Name, vals(s.Args), at)
	}
}

// loop prints `v3, v4 = for q: 0..9 (v5 = v1, v6 = v2) {`.
func (p *printer) loop(s *Stmt, to, at string) {
	l := s.Loop
	index := p.names[l.Index.Name] + ": " + p.rng(l.Index.Range)
	carried := make([]string, len(l.Init))
	for k, v := range l.Init {
		carried[k] = fmt.Sprintf("v%d = v%d", int(l.Carry)+k, v)
	}
	list := ""
	if len(carried) > 0 {
		list = " (" + strings.Join(carried, ", ") + ")"
	}
	p.line("%sfor %s%s {%s", to, index, list, at)
	p.inner(&l.Body, "next")
	p.line("}")
}

func (p *printer) place(s *Stmt) string {
	at := each(s.At, p.lin)
	if len(at) == 0 {
		return s.Mem.String()
	}
	return fmt.Sprintf("%s[%s]", s.Mem, strings.Join(at, ", "))
}

func (m Mem) String() string {
	switch m.Kind {
	case ParamMem:
		return "%" + strconv.Itoa(m.N)
	case ResultMem:
		return "out" + strconv.Itoa(m.N)
	case LocalMem:
		return "w" + strconv.Itoa(m.N)
	case TableMem:
		return "t" + strconv.Itoa(m.N)
	}
	return "?"
}

func (o Origin) String() string {
	if o == (Origin{}) {
		return ""
	}
	s := fmt.Sprintf(" @%d:%d", o.From, o.To)
	if o.Call != 0 {
		s += fmt.Sprintf(" in %d", o.Call)
	}
	return s
}

func (p *printer) rng(r Range) string {
	if r.Kind == Forever {
		return "forever"
	}
	s := p.lin(r.From) + ".." + p.lin(r.To)
	if r.By != 1 {
		s += fmt.Sprintf(" by %d", r.By)
	}
	return s
}

func (p *printer) lin(l Lin) string {
	var b strings.Builder
	for k, t := range l.Terms {
		c := t.Coef
		switch {
		case c < 0 && c != math.MinInt64:
			b.WriteString("-")
			c = -c
		case k > 0:
			b.WriteString("+")
		}
		if c != 1 {
			fmt.Fprintf(&b, "%d*", c)
		}
		b.WriteString(p.sym(t.Sym))
	}
	switch {
	case len(l.Terms) == 0:
		return strconv.FormatInt(l.Const, 10)
	case l.Const > 0:
		fmt.Fprintf(&b, "+%d", l.Const)
	case l.Const < 0:
		fmt.Fprintf(&b, "%d", l.Const)
	}
	return b.String()
}

func (p *printer) sym(s Sym) string {
	switch s.Kind {
	case IndexSym:
		return p.names[s.N]
	case ParamSym:
		return fmt.Sprintf("%%%d", s.N)
	case RowsSym:
		return fmt.Sprintf("%%%d.rows", s.N)
	case ColsSym:
		return fmt.Sprintf("%%%d.cols", s.N)
	}
	return fmt.Sprintf("v%d", s.N)
}

func vals(list []Val) string {
	return strings.Join(each(list, func(v Val) string { return fmt.Sprintf("v%d", v) }), ", ")
}

// wordText returns a constant that reads back to the same bits. All NaNs are equal.
func wordText(e types.Elem, w Word) string {
	switch e {
	case types.I64:
		return strconv.FormatInt(int64(w), 10)
	case types.Bool:
		return strconv.FormatBool(w != 0)
	}
	x, bits := toFloat(e, w), 64
	if e == types.F32 {
		bits = 32
	}
	switch {
	case x != x:
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
}
