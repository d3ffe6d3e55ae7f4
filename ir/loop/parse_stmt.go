package loop

// This file reads statements.

import "flow/ir/types"

// block reads statements up to the closing brace. yield is the word before the yielded values, or
// "".
func (p *parser) block(yield string) (b Block) {
	for !p.accept("}") {
		if yield != "" && p.accept(yield) {
			b.Yield = p.vals()
			p.want("}")
			return b
		}
		b.Stmts = append(b.Stmts, p.stmt())
	}
	return b
}

func (p *parser) stmt() Stmt {
	s := Stmt{Dst: NoVal}
	results := []Val(nil)
	if isNumbered(p.peek(), "v") {
		results = p.vals()
		p.want("=")
		s.Dst, s.N = results[0], len(results)
		for k, v := range results {
			p.define(v, types.NoElem) // its type follows
			if v != s.Dst+Val(k) {
				p.fail("results of one statement have consecutive numbers")
			}
		}
	}
	given := p.body(&s)
	if len(given) != s.N {
		p.fail("the statement gives %d values, not %d", len(given), s.N)
	}
	for k, e := range given {
		p.types[int(s.Dst)+k] = e
	}
	return s
}

// body reads a statement after its results and returns their types.
func (p *parser) body(s *Stmt) []types.Elem {
	word, gives := p.next(), types.NoElem
	elem, constant := types.ElemNamed(word)
	op, operation := opNamed(word)
	switch {
	case constant:
		s.Code, s.Imm, gives = Const, p.word(elem), elem
	case operation:
		s.Code, s.Args = op, p.vals()
		var err error
		if gives, err = opType(op, p.typesOf(s.Args)); err != nil {
			p.fail("%v", err)
		}
	case word == "index":
		s.Code, s.Imm, gives = IndexOf, uint64(p.indexNamed()), types.I64
	case word == "load":
		s.Code = Load
		p.place(s)
		gives = p.memElem(s.Mem)
	case word == "store", word == "reduce":
		s.Code = map[string]Code{"store": Store, "reduce": Reduce}[word]
		p.place(s)
		s.Args = p.vals()
	case word == "look":
		s.Code, s.Mem, s.Args = Look, p.mem(), p.vals()
		gives = p.memElem(s.Mem)
	case word == "check":
		s.Code, s.Imm = Check, uint64(p.int())
		s.Args = p.vals()
	case word == "break":
		s.Code, s.Args = Break, p.vals()
	case word == "call":
		return p.call(s)
	case word == "if":
		return p.branch(s)
	case word == "for":
		return p.loop(s)
	default:
		p.at--
		p.fail("no statement begins with %q", word)
	}
	s.Origin = p.origin()
	if gives == types.NoElem {
		return nil
	}
	return []types.Elem{gives}
}

func (p *parser) call(s *Stmt) []types.Elem {
	name := p.next()
	if s.Code = Apply; p.lib != nil {
		s.Func = p.lib.Function(name)
	}
	if s.Func == nil {
		p.fail("no function %q", name)
	}
	p.want("(")
	s.Args = p.vals()
	p.want(")")
	s.Origin = p.origin()
	return s.Func.Results()
}

func (p *parser) branch(s *Stmt) []types.Elem {
	s.Code, s.Args = If, p.vals()
	p.want("{")
	s.Origin = p.origin()
	then := p.block("yield")
	p.want("else")
	p.want("{")
	other := p.block("yield")
	s.Then, s.Else = &then, &other
	return p.typesOf(then.Yield)
}

func (p *parser) loop(s *Stmt) []types.Elem {
	l := &Loop{Index: p.index(), Carry: NoVal}
	s.Code, s.Loop = For, l
	var carried []types.Elem
	if p.accept("(") {
		var inside []Val
		p.list(")", func() {
			inside = append(inside, p.val())
			p.want("=")
			l.Init = append(l.Init, p.val())
		})
		carried = p.typesOf(l.Init)
		for k, v := range inside {
			p.define(v, carried[k])
			if v != inside[0]+Val(k) {
				p.fail("carried values have consecutive numbers")
			}
		}
		if len(inside) > 0 {
			l.Carry = inside[0]
		}
	}
	if p.accept("adds") {
		for l.Sums = append(l.Sums, p.terms()); p.accept(","); l.Sums = append(l.Sums, p.terms()) {
		}
	}
	p.want("{")
	s.Origin = p.origin()
	l.Body = p.block("next")
	delete(p.scope, p.names[l.Index.Name])
	return carried
}

// terms reads what Terms.String writes.
func (p *parser) terms() *Terms {
	c, ok := classNamed(p.next())
	if !ok {
		p.fail("no class of reductions")
	}
	t := TermsOf(c, p.elem(), int(p.int()))
	if t == nil {
		p.fail("no reduction that loops carry")
	}
	t.bounded, t.watched = p.accept("bounded"), p.accept("watched")
	return t
}

func (p *parser) place(s *Stmt) {
	s.Mem = p.mem()
	if p.accept("[") {
		p.list("]", func() { s.At = append(s.At, p.lin()) })
	}
}

func (p *parser) typesOf(list []Val) []types.Elem { return each(list, p.typeOf) }

// memElem returns the element type of memory that is read. Results are declared after the body and
// are not read.
func (p *parser) memElem(m Mem) types.Elem {
	switch {
	case m.Kind == ParamMem && m.N < len(p.params):
		return p.params[m.N].Elem
	case m.Kind == LocalMem && m.N < len(p.locals):
		return p.locals[m.N].Elem
	case m.Kind == TableMem && m.N < len(p.tables):
		return p.tables[m.N].Elem
	}
	p.fail("%v cannot be read", m)
	return types.NoElem
}
