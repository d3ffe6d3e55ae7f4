package loop

// This file writes the text form. Values print by number, so that equal nests have equal text.

import (
	"fmt"
	"math"
	"strconv"

	"flow/ir/types"
)

// String returns the text form of a nest, which Parse reads. It is the key under which code is kept, so
// every loop of a program is printed once. Making the text took as long as making the code until
// everything was appended to one buffer.
func (n *Nest) String() string {
	p := &printer{names: n.Names, types: n.Types}
	p.text("nest(")
	for i, a := range n.Params {
		p.comma(i).text("%").int(i).text(": ").text(a.String())
	}
	p.text(") (")
	for i, x := range n.Space {
		p.comma(i).text(n.Names[x.Name]).text(": ").rng(x.Range)
	}
	p.text(") {\n")
	p.memory(n.Tables)
	for i, l := range n.Locals {
		p.indent().text("local w").int(i).text(" ").text(l.Elem.String()).text("[").lin(l.Rows).text(", ").lin(l.Cols).text("]\n")
	}
	p.block(&n.Body, "")
	p.text("} : (")
	for i, r := range n.Results {
		p.comma(i).result(r)
	}
	return string(p.text(")\n").b)
}

// String returns the text form of a function, which ParseLibrary reads.
func (f *Function) String() string {
	p := &printer{names: f.Names, types: f.Types}
	p.text("func ").text(f.Name).text("(")
	for i, e := range f.Params {
		p.comma(i).val(Val(i)).text(": ").text(e.String())
	}
	p.text(") (")
	for i, e := range f.Results() {
		p.comma(i).text(e.String())
	}
	p.text(") ").text(strconv.Quote(f.Doc)).text(" {\n")
	p.memory(f.Tables)
	p.block(&f.Body, "yield")
	return string(p.text("}\n").b)
}

func (a Param) String() string {
	switch a.Kind {
	case DenseParam:
		return a.Elem.String() + "[]"
	}
	return a.Elem.String()
}

// printer appends text. Its methods return it, so that a line of text is a line of code.
type printer struct {
	b     []byte
	depth int
	names []string
	types []types.Elem
}

func (p *printer) text(s string) *printer {
	p.b = append(p.b, s...)
	return p
}

func (p *printer) int(n int) *printer {
	p.b = strconv.AppendInt(p.b, int64(n), 10)
	return p
}

func (p *printer) val(v Val) *printer { return p.text("v").int(int(v)) }

// comma separates item i of a list from the one before.
func (p *printer) comma(i int) *printer {
	if i > 0 {
		p.text(", ")
	}
	return p
}

func (p *printer) vals(list []Val) *printer {
	for i, v := range list {
		p.comma(i).val(v)
	}
	return p
}

func (p *printer) indent() *printer {
	for range p.depth + 1 {
		p.text("  ")
	}
	return p
}

func (p *printer) memory(tables []Table) {
	for i, t := range tables {
		p.indent().text("table t").int(i).text(" ").text(t.Elem.String()).text(" [")
		for k, w := range t.Words {
			p.comma(k).word(t.Elem, w)
		}
		p.text("]\n")
	}
}

func (p *printer) result(r Result) {
	if r.Class != NoClass {
		p.text(r.Class.Info().Name).text(" ")
	}
	p.text(r.Elem.String()).text("[").lin(r.Rows).text(", ").lin(r.Cols).text("]")
	if r.Over >= 0 {
		p.text(" over %").int(r.Over)
	}
}

func (p *printer) block(b *Block, yield string) {
	for i := range b.Stmts {
		p.stmt(&b.Stmts[i])
	}
	if yield != "" && len(b.Yield) > 0 {
		p.indent().text(yield).text(" ").vals(b.Yield).text("\n")
	}
}

// inner prints a block of a statement. Its head has been printed.
func (p *printer) inner(b *Block, yield, end string) {
	p.depth++
	p.block(b, yield)
	p.depth--
	p.indent().text(end)
}

func (p *printer) stmt(s *Stmt) {
	p.indent()
	for k := range s.N {
		p.comma(k).val(s.Dst + Val(k))
	}
	if s.N > 0 {
		p.text(" = ")
	}
	switch s.Code {
	case Const:
		e := p.types[s.Dst]
		p.text(e.String()).text(" ").word(e, s.Imm)
	case IndexOf:
		p.text("index ").text(p.names[s.Imm])
	case Load:
		p.text("load ").place(s)
	case Store:
		p.text("store ").place(s).text(" ").vals(s.Args)
	case Reduce:
		p.text("reduce ").place(s).text(" ").vals(s.Args)
	case Look:
		p.text("look ").text(s.Mem.String()).text(" ").vals(s.Args)
	case Check:
		p.text("check ").text(strconv.FormatUint(s.Imm, 10)).text(" ").vals(s.Args)
	case Break:
		p.text("break ").vals(s.Args)
	case Apply:
		p.text("call ").text(s.Func.Name).text("(").vals(s.Args).text(")")
	case If:
		p.text("if ").vals(s.Args).text(" {")
	case For:
		p.loop(s.Loop)
	default:
		p.text(s.Code.Operation().Name).text(" ").vals(s.Args)
	}
	if s.Origin != (Origin{}) {
		p.text(s.Origin.String())
	}
	p.text("\n")
	switch s.Code {
	case If:
		p.inner(s.Then, "yield", "} else {\n")
		p.inner(s.Else, "yield", "}\n")
	case For:
		p.inner(&s.Loop.Body, "next", "}\n")
	}
}

// loop prints `for q: 0..9 (v5 = v1, v6 = v2) {`.
func (p *printer) loop(l *Loop) {
	p.text("for ").text(p.names[l.Index.Name]).text(": ").rng(l.Index.Range)
	for k, v := range l.Init {
		if k == 0 {
			p.text(" (")
		}
		p.comma(k).val(l.Carry + Val(k)).text(" = ").val(v)
	}
	if len(l.Init) > 0 {
		p.text(")")
	}
	for k, t := range l.Sums {
		if k == 0 {
			p.text(" adds ")
		}
		p.comma(k).text(t.String())
	}
	p.text(" {")
}

func (p *printer) place(s *Stmt) *printer {
	p.text(s.Mem.String())
	for k, x := range s.At {
		if k == 0 {
			p.text("[")
		}
		p.comma(k).lin(x)
	}
	if len(s.At) > 0 {
		p.text("]")
	}
	return p
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

func (p *printer) rng(r Range) {
	if r.Kind == Forever {
		p.text("forever")
		return
	}
	p.lin(r.From).text("..").lin(r.To)
	if r.By != 1 {
		p.text(" by ").text(strconv.FormatInt(r.By, 10))
	}
}

func (p *printer) lin(l Lin) *printer {
	for k, t := range l.Terms {
		c := t.Coef
		switch {
		case c < 0 && c != math.MinInt64:
			p.text("-")
			c = -c
		case k > 0:
			p.text("+")
		}
		if c != 1 {
			p.text(strconv.FormatInt(c, 10)).text("*")
		}
		p.sym(t.Sym)
	}
	if l.Const > 0 && len(l.Terms) > 0 {
		p.text("+")
	}
	if l.Const != 0 || len(l.Terms) == 0 {
		p.text(strconv.FormatInt(l.Const, 10))
	}
	return p
}

func (p *printer) sym(s Sym) {
	switch s.Kind {
	case IndexSym:
		p.text(p.names[s.N])
	case ParamSym:
		p.text("%").int(s.N)
	case RowsSym:
		p.text("%").int(s.N).text(".rows")
	case ColsSym:
		p.text("%").int(s.N).text(".cols")
	default:
		p.val(Val(s.N))
	}
}

// word prints a constant that reads back to the same bits. All NaNs are equal.
func (p *printer) word(e types.Elem, w Word) *printer {
	switch e {
	case types.I64:
		p.b = strconv.AppendInt(p.b, int64(w), 10)
		return p
	case types.Bool:
		return p.text(strconv.FormatBool(w != 0))
	}
	x, bits := toFloat(e, w), 64
	if e == types.F32 {
		bits = 32
	}
	switch {
	case x != x:
		return p.text("nan")
	case math.IsInf(x, 1):
		return p.text("inf")
	case math.IsInf(x, -1):
		return p.text("-inf")
	}
	p.b = strconv.AppendFloat(p.b, x, 'g', -1, bits)
	return p
}
