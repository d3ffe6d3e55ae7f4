package types

import (
	"fmt"
	"strconv"
	"strings"
)

// Parse reads the output of String: Parse(t.String()) equals t.
func Parse(s string) (Type, error) {
	p := &parser{s: s}
	t, err := p.typ()
	if err == nil && strings.TrimSpace(p.s) != "" {
		err = fmt.Errorf("type %q: unexpected %q after it", s, p.s)
	}
	return t, err
}

type parser struct{ s string }

func (p *parser) eat(w string) bool {
	p.s = strings.TrimLeft(p.s, " ")
	if !strings.HasPrefix(p.s, w) {
		return false
	}
	p.s = p.s[len(w):]
	return true
}

func (p *parser) word() string {
	p.s = strings.TrimLeft(p.s, " ")
	i := 0
	for i < len(p.s) && (p.s[i] == '_' || p.s[i]|0x20 >= 'a' && p.s[i]|0x20 <= 'z' || p.s[i] >= '0' && p.s[i] <= '9') {
		i++
	}
	w := p.s[:i]
	p.s = p.s[i:]
	return w
}

func (p *parser) typ() (Type, error) {
	switch {
	case p.eat("frame {"):
		return p.fields(Frame, "}")
	case p.eat("{"):
		return p.fields(Record, "}")
	case p.eat("("):
		return p.fields(Tuple, ")")
	case p.eat("chan "):
		t, err := p.typ()
		return Type{Kind: Stream, Ext: &Ext{Token: &t}}, err
	case p.eat("sparse "):
		t, err := p.typ()
		t.Repr = CSR
		return t, err
	}
	w := p.word()
	if w == "effect" {
		return EffectType(), nil
	}
	e, ok := ElemNamed(w)
	if !ok {
		return Type{}, fmt.Errorf("no type %q", w)
	}
	if !p.eat("[") {
		return ScalarOf(e), nil
	}
	rows, err := p.dim()
	if err != nil {
		return Type{}, err
	}
	if !p.eat(",") {
		return Type{}, fmt.Errorf("want , before %q", p.s)
	}
	cols, err := p.dim()
	if err != nil {
		return Type{}, err
	}
	if !p.eat("]") {
		return Type{}, fmt.Errorf("want ] before %q", p.s)
	}
	return DenseOf(e, rows, cols), nil
}

func (p *parser) dim() (int, error) {
	w := p.word()
	if w == "_" {
		return Unknown, nil
	}
	return strconv.Atoi(w)
}

func (p *parser) fields(k Kind, end string) (Type, error) {
	t := Type{Kind: k, Ext: &Ext{}}
	for !p.eat(end) {
		if len(t.Ext.Fields) > 0 && !p.eat(",") {
			return t, fmt.Errorf("want , or %s before %q", end, p.s)
		}
		name, rest := "", p.s
		if w := p.word(); p.eat(":") {
			name = w
		} else {
			p.s = rest
		}
		ft, err := p.typ()
		if err != nil {
			return t, err
		}
		t.Ext.Fields = append(t.Ext.Fields, Field{name, ft})
	}
	return t, nil
}
