package loop

// This file reads the text form.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"flow/ir/types"
)

// Parse reads what Nest.String writes and verifies it. Functions are looked up in lib, which may be
// nil. Errors name the line.
func Parse(text string, lib Library) (n *Nest, err error) {
	p := newParser(text, lib)
	defer p.recovered(&err)
	n = p.nest()
	p.end()
	return n, n.Verify()
}

// ParseLibrary reads functions. Each may apply those above it.
func ParseLibrary(text string) (lib Functions, err error) {
	lib = Functions{}
	p := newParser(text, lib)
	defer p.recovered(&err)
	for p.at < len(p.tokens) {
		f := p.function()
		if lib[f.Name] != nil {
			p.fail("%s is defined twice", f.Name)
		}
		if err := f.Verify(); err != nil {
			return nil, err
		}
		lib[f.Name] = f
	}
	return lib, nil
}

type parser struct {
	tokens []string
	lines  []int // of each token
	at     int
	lib    Library

	names  []string
	types  []types.Elem
	params []Param
	scope  map[string]int // index names that are visible
	locals []Local
	tables []Table
}

// syntaxError is the parser's panic.
type syntaxError struct{ error }

func newParser(text string, lib Library) *parser {
	p := &parser{lib: lib}
	p.tokens, p.lines = scan(text)
	return p
}

func (p *parser) recovered(err *error) {
	if r := recover(); r != nil {
		e, ok := r.(syntaxError)
		if !ok {
			panic(r)
		}
		*err = e.error
	}
}

func (p *parser) fail(format string, args ...any) {
	line := 1
	if p.at < len(p.lines) {
		line = p.lines[p.at]
	} else if len(p.lines) > 0 {
		line = p.lines[len(p.lines)-1]
	}
	panic(syntaxError{fmt.Errorf("loop text line %d: %s", line, fmt.Sprintf(format, args...))})
}

func (p *parser) peek() string {
	if p.at < len(p.tokens) {
		return p.tokens[p.at]
	}
	return ""
}

func (p *parser) next() string {
	t := p.peek()
	if t == "" {
		p.fail("the text ends too early")
	}
	p.at++
	return t
}

// accept consumes the token t if it is the next one.
func (p *parser) accept(t string) bool {
	if p.peek() == t {
		p.at++
		return true
	}
	return false
}

func (p *parser) want(t string) {
	if !p.accept(t) {
		p.fail("want %q, found %q", t, p.peek())
	}
}

func (p *parser) end() {
	if p.at < len(p.tokens) {
		p.fail("%q after the end", p.peek())
	}
}

// signed reads a token, and a minus before it.
func (p *parser) signed() string {
	if p.accept("-") {
		return "-" + p.next()
	}
	return p.next()
}

func (p *parser) int() int64 {
	t := p.signed()
	v, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		p.fail("%q is no integer", t)
	}
	return v
}

func (p *parser) elem() types.Elem {
	t := p.next()
	e, ok := types.ElemNamed(t)
	if !ok || !slices.Contains(all, e) {
		p.fail("%q is no element type of a loop", t)
	}
	return e
}

func (p *parser) word(e types.Elem) Word {
	switch e {
	case types.I64:
		return Word(p.int())
	case types.Bool:
		t := p.next()
		if t != "true" && t != "false" {
			p.fail("%q is no bool", t)
		}
		return truth(t == "true")
	}
	t := p.signed()
	x, err := strconv.ParseFloat(t, 8*e.Size())
	if err != nil {
		p.fail("%q is no %v", t, e)
	}
	if x != x {
		x = math.NaN()
	}
	return fromFloat(e, x)
}

// number reads a word such as v12 or out3: a prefix and a number.
func (p *parser) number(prefix string) int {
	t := p.next()
	n, err := strconv.Atoi(strings.TrimPrefix(t, prefix))
	if !strings.HasPrefix(t, prefix) || err != nil || n < 0 {
		p.fail("want %sN, found %q", prefix, t)
	}
	return n
}

func isNumbered(t, prefix string) bool {
	rest, ok := strings.CutPrefix(t, prefix)
	_, err := strconv.Atoi(rest)
	return ok && err == nil
}

func (p *parser) val() Val { return Val(p.number("v")) }

// vals reads v1, v2, .., or nothing if the next token is no value.
func (p *parser) vals() []Val {
	var out []Val
	for isNumbered(p.peek(), "v") {
		out = append(out, p.val())
		if !p.accept(",") {
			break
		}
	}
	return out
}

// list reads items up to the token that ends the list.
func (p *parser) list(end string, item func()) {
	for !p.accept(end) {
		item()
		if p.peek() != end {
			p.want(",")
		}
	}
}

func (p *parser) operand() int {
	p.want("%")
	return int(p.int())
}

func (p *parser) nest() *Nest {
	n := &Nest{}
	p.scope = map[string]int{}
	p.want("nest")
	p.want("(")
	p.list(")", func() {
		if k := p.operand(); k != len(n.Params) {
			p.fail("operand %d stands at place %d", k, len(n.Params))
		}
		p.want(":")
		n.Params = append(n.Params, p.param())
		p.params = n.Params
	})
	p.want("(")
	p.list(")", func() { n.Space = append(n.Space, p.index()) })
	p.want("{")
	p.memory()
	n.Body = p.block("")
	p.want(":")
	p.want("(")
	p.list(")", func() { n.Results = append(n.Results, p.result()) })
	n.Names, n.Types, n.Locals, n.Tables = p.names, p.types, p.locals, p.tables
	return n
}

func (p *parser) function() *Function {
	f := &Function{}
	p.names, p.types, p.locals, p.tables, p.scope = nil, nil, nil, nil, map[string]int{}
	p.want("func")
	f.Name = p.next()
	p.want("(")
	p.list(")", func() {
		v := p.val()
		p.want(":")
		f.Params = append(f.Params, p.elem())
		p.define(v, f.Params[len(f.Params)-1])
	})
	p.want("(")
	var results []types.Elem
	p.list(")", func() { results = append(results, p.elem()) })
	doc, err := strconv.Unquote(p.next())
	if err != nil {
		p.fail("a function has a sentence in quotes")
	}
	f.Doc = doc
	p.want("{")
	p.memory()
	f.Body = p.block("yield")
	f.Names, f.Types, f.Tables = p.names, p.types, p.tables
	if len(p.locals) > 0 || !slices.Equal(results, f.Results()) {
		p.fail("%s has no locals and gives %v", f.Name, results)
	}
	return f
}

func (p *parser) param() Param {
	kind, e := ScalarParam, p.elem()
	if p.accept("[") {
		p.want("]")
		kind = DenseParam
	}
	return Param{kind, e}
}

func (p *parser) result() Result {
	r := Result{Over: -1}
	if c, ok := classNamed(p.peek()); ok {
		p.at++
		r.Class = c
	}
	r.Elem = p.elem()
	r.Rows, r.Cols = p.size()
	if p.accept("over") {
		r.Over = p.operand()
	}
	return r
}

// memory reads the locals and tables at the head of a body.
func (p *parser) memory() {
	for {
		switch p.peek() {
		case "table":
			p.at++
			p.isNext("t", len(p.tables))
			t := Table{Elem: p.elem()}
			p.want("[")
			p.list("]", func() { t.Words = append(t.Words, p.word(t.Elem)) })
			p.tables = append(p.tables, t)
		case "local":
			p.at++
			p.isNext("w", len(p.locals))
			l := Local{Elem: p.elem()}
			l.Rows, l.Cols = p.size()
			p.locals = append(p.locals, l)
		default:
			return
		}
	}
}

// isNext reads the name of what is declared, which has the next number.
func (p *parser) isNext(prefix string, next int) {
	if k := p.number(prefix); k != next {
		p.fail("%s%d stands at place %d", prefix, k, next)
	}
}

// size reads numbers of rows and columns.
func (p *parser) size() (rows, cols Lin) {
	p.want("[")
	rows = p.lin()
	p.want(",")
	cols = p.lin()
	p.want("]")
	return rows, cols
}

func (p *parser) index() Index {
	name := p.next()
	if _, seen := p.scope[name]; seen || slices.Contains(p.names, name) {
		p.fail("two indices are named %s", name)
	}
	p.want(":")
	x := Index{Name: len(p.names), Range: p.rng()}
	p.names = append(p.names, name)
	p.scope[name] = x.Name
	return x
}

// indexNamed reads the name of a visible index.
func (p *parser) indexNamed() int {
	t := p.next()
	n, ok := p.scope[t]
	if !ok {
		p.fail("no index %q here", t)
	}
	return n
}

func (p *parser) rng() Range {
	if p.accept("forever") {
		return Range{Kind: Forever, By: 1}
	}
	r := Range{From: p.lin(), By: 1}
	p.want("..")
	r.To = p.lin()
	if p.accept("by") {
		r.By = p.int()
	}
	return r
}

// lin reads a sum of constants and of symbols with coefficients.
func (p *parser) lin() Lin {
	var out Lin
	for sign := int64(1); ; {
		if p.accept("-") {
			sign = -sign
		}
		out = out.Plus(p.term().Times(sign))
		switch {
		case p.accept("+"):
			sign = 1
		case p.accept("-"):
			sign = -1
		default:
			return out
		}
	}
}

func (p *parser) term() Lin {
	t := p.peek()
	if t != "" && t[0] >= '0' && t[0] <= '9' {
		u, err := strconv.ParseUint(t, 10, 64)
		if err != nil {
			p.fail("%q is no integer", t)
		}
		p.at++
		if p.accept("*") {
			return p.term().Times(int64(u))
		}
		return Num(int64(u))
	}
	if t == "%" {
		k := p.operand()
		if p.accept(".") {
			switch p.next() {
			case "rows":
				return Of(RowsSym, k)
			case "cols":
				return Of(ColsSym, k)
			}
			p.fail("an operand has .rows and .cols")
		}
		return Of(ParamSym, k)
	}
	if isNumbered(t, "v") {
		return Of(ValSym, int(p.val()))
	}
	return Of(IndexSym, p.indexNamed())
}

func (p *parser) mem() Mem {
	t := p.peek()
	switch {
	case t == "%":
		return Mem{ParamMem, p.operand()}
	case isNumbered(t, "out"):
		return Mem{ResultMem, p.number("out")}
	case isNumbered(t, "w"):
		return Mem{LocalMem, p.number("w")}
	case isNumbered(t, "t"):
		return Mem{TableMem, p.number("t")}
	}
	p.fail("%q is no memory", t)
	return Mem{}
}

func (p *parser) origin() (o Origin) {
	if !p.accept("@") {
		return o
	}
	o.From = int32(p.int())
	p.want(":")
	o.To = int32(p.int())
	if p.accept("in") {
		o.Call = int32(p.int())
	}
	return o
}

// define sets the type of a value. Values are numbered in textual order.
func (p *parser) define(v Val, e types.Elem) {
	if int(v) != len(p.types) {
		p.fail("v%d stands where v%d is defined", v, len(p.types))
	}
	p.types = append(p.types, e)
}

func (p *parser) typeOf(v Val) types.Elem {
	if v < 0 || int(v) >= len(p.types) {
		p.fail("v%d is not defined above", v)
	}
	return p.types[v]
}
