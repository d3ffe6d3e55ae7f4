package lang

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// This file parses expressions by precedence climbing. The parser of a correct text is the grammar
// with climber.expr in place of the production of expressions: through participle every operand costs
// eleven productions, one a precedence level, and most of a text are operands. A text that it does not
// accept is parsed again by the whole grammar, which says what the mistake is.
//
// It would be wrong if a climber accepted a text that the whole grammar refuses, or understood it
// otherwise (TestClimbing).

// gClimbed is an operator with its operands, or an operand. It has no grammar tags: a climber makes it.
type gClimbed struct {
	at               // set for an operator before its operand
	op   string      // "" for an operand
	sign lexer.Token // the operator's
	x, y *gClimbed   // y is nil if the operator is before its operand
	post *gPost
}

// climber parses one expression. After a mistake its lexer is at the token that does not fit, and
// what its methods return has no meaning.
type climber struct {
	*lexer.PeekingLexer
	operands *participle.Parser[gPrim] // those that begin with a keyword, [ or {
	err      error
}

func (c *climber) fail() {
	if c.err == nil {
		c.err = &participle.UnexpectedTokenError{Unexpected: *c.Peek()}
	}
}

func (c *climber) is(value string) bool { return c.Peek().Value == value }

// accept consumes the next token if it is the given one.
func (c *climber) accept(value string) bool {
	if !c.is(value) {
		return false
	}
	c.Next()
	return true
}

func (c *climber) expect(value string) {
	if c.err == nil && !c.accept(value) {
		c.fail()
	}
}

// since returns the tokens from start to here.
func (c *climber) since(start lexer.RawCursor) at { return at{c.Range(start, c.RawCursor())} }

func (c *climber) expr() *gClimbed {
	x := c.level(levelOr)
	for c.err == nil && c.is("|>") {
		x = &gClimbed{op: "|>", sign: *c.Next(), x: x, y: &gClimbed{post: c.post()}}
	}
	return x
}

// level parses operators of level least and tighter. What is tighter than the last operator belongs
// to its operand, or does not fit: comparisons do not chain.
func (c *climber) level(least int) *gClimbed {
	start, most := c.RawCursor(), levelMM
	var x *gClimbed
	if least <= levelNot && c.accept("not") {
		x, most = &gClimbed{op: "not", x: c.level(levelCmp)}, levelAnd
		x.at = c.since(start)
	} else {
		x = c.unary()
	}
	for c.err == nil {
		own, _, right := levels(c.Peek().Value)
		if own < least || own > most {
			break
		}
		t := *c.Next()
		x = &gClimbed{op: t.Value, sign: t, x: x, y: c.level(right)}
		if most = own; own == levelCmp {
			most = levelAnd
		}
	}
	return x
}

// unary parses a power, which is right associative, with or without a sign.
func (c *climber) unary() *gClimbed {
	start, sign := c.RawCursor(), ""
	if c.is("-") || c.is("+") {
		sign = c.Next().Value
	}
	x := &gClimbed{post: c.post()}
	if c.err == nil && c.is("^") {
		x = &gClimbed{op: "^", sign: *c.Next(), x: x, y: c.unary()}
	}
	if sign != "" {
		x = &gClimbed{at: c.since(start), op: sign, x: x}
	}
	return x
}

func (c *climber) post() *gPost {
	start := c.RawCursor()
	g := &gPost{X: c.operand()}
	for c.err == nil {
		from := c.RawCursor()
		s := &gSuffix{}
		switch c.Peek().Value {
		case "(":
			s.Call = &gArgs{Args: c.args(true)}
			s.Call.at = c.since(from)
		case "[":
			s.Index = c.index()
		case ".":
			c.Next()
			s.Field = c.ident()
		default:
			g.at = c.since(start)
			return g
		}
		s.at = c.since(from)
		g.Suffix = append(g.Suffix, s)
	}
	return g
}

// operand parses an operand. What holds blocks, types or ranges is left to participle.
func (c *climber) operand() *gPrim {
	start, t := c.RawCursor(), c.Peek()
	g := &gPrim{}
	switch {
	case c.err != nil:
		return g
	case t.Type == tokIdent:
		g.Name = c.ident()
	case t.Type == tokInt || t.Type == tokFloat || t.Type == tokString || t.Type == tokDuration || isOp(*t, "true", "false", "inf", "nan"):
		g.Lit = c.Next().Value
	case t.Value == "(":
		g.Tuple = c.args(false)
	case t.Value == ".":
		c.Next()
		g.Column = c.ident()
	default:
		g, c.err = c.operands.ParseFromLexer(c.PeekingLexer, participle.AllowTrailing(true))
		return g
	}
	g.at = c.since(start)
	return g
}

func (c *climber) ident() *gIdent {
	start := c.RawCursor()
	if c.err != nil || c.Peek().Type != tokIdent {
		c.fail()
		return nil
	}
	name := c.Next().Value
	return &gIdent{at: c.since(start), Name: name}
}

// args parses arguments in parentheses. Those of a call may be none and may end in a comma.
func (c *climber) args(call bool) (out []*gArg) {
	c.expect("(")
	for c.err == nil && !(call && c.is(")")) {
		start := c.RawCursor()
		a := &gArg{}
		if c.Peek().Type == tokIdent && c.Range(start+1, start+2)[0].Value == "=" {
			a.Name = c.ident()
			c.Next()
		}
		a.Value = c.expr()
		a.at = c.since(start)
		if out = append(out, a); c.err != nil || !c.accept(",") {
			break
		}
	}
	c.expect(")")
	return out
}

func (c *climber) index() *gIndex {
	start := c.RawCursor()
	g := &gIndex{}
	for c.expect("["); c.err == nil; {
		if g.Subs = append(g.Subs, c.sub()); c.err != nil || !c.accept(",") {
			break
		}
	}
	c.expect("]")
	g.at = c.since(start)
	return g
}

func (c *climber) sub() *gSub {
	start := c.RawCursor()
	g := &gSub{}
	if g.All = c.accept(":"); !g.All {
		g.Lo = c.expr()
		if c.err == nil && (c.is("..") || c.is("..=")) {
			g.Dots = c.Next().Value
			c.stop(g)
		}
	}
	g.at = c.since(start)
	return g
}

// stop parses what follows the dots of a range in an index.
func (c *climber) stop(g *gSub) {
	if c.is(",") || c.is("]") {
		return
	}
	if back := c.MakeCheckpoint(); c.accept("by") {
		from := c.RawCursor()
		if g.Step = c.expr(); c.err == nil || c.RawCursor() > from {
			return
		}
		// No expression begins there, so by is a name.
		g.Step, c.err = nil, nil
		c.LoadCheckpoint(back)
	}
	g.Hi = c.expr()
	if c.err == nil && c.accept("by") {
		g.By = c.expr()
	}
}
