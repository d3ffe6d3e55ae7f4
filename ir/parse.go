package ir

import (
	"fmt"
	"strconv"
	"strings"

	"flow/ir/op"
	"flow/ir/types"
	"flow/lang/source"
)

// Parse reads the output of Print and looks operators up in table. It skips blank lines and lines
// that begin with #. Errors name the line.
func Parse(text string, table *op.Table) (*Graph, error) {
	p := &parser{lines: strings.Split(text, "\n"), table: table}
	g, _, err := p.graph(false)
	return g, err
}

type parser struct {
	lines []string
	at    int
	table *op.Table
	texts *texts // of the program
}

func (p *parser) errorf(format string, args ...any) error {
	return fmt.Errorf("ir text line %d: %s", p.at, fmt.Sprintf(format, args...))
}

// next returns the next line with content, trimmed.
func (p *parser) next() (string, bool) {
	for p.at < len(p.lines) {
		l := strings.TrimSpace(p.lines[p.at])
		p.at++
		if l != "" && !strings.HasPrefix(l, "#") {
			return l, true
		}
	}
	return "", false
}

func (p *parser) graph(region bool) (*Graph, *Region, error) {
	g := New()
	g.texts = p.texts
	r := &Region{Graph: g}
	for {
		l, ok := p.next()
		if !ok {
			if region {
				return nil, nil, p.errorf("the region is not closed")
			}
			return g, nil, nil
		}
		word, rest, _ := strings.Cut(l, " ")
		var err error
		switch word {
		case "}":
			if !region {
				return nil, nil, p.errorf("} without a region")
			}
			return g, r, nil
		case "args":
			r.Args, err = p.ids(rest, g)
		case "yield":
			r.Yields, err = p.ids(rest, g)
		case "scope":
			f := strings.Fields(rest)
			if len(f) < 1 {
				return nil, nil, p.errorf("scope wants a number and names")
			}
			g.Scopes = append(g.Scopes, Scope{Names: f[1:]})
		case "text":
			var i int
			var s string
			if _, err = fmt.Sscanf(rest, "%d %q", &i, &s); err == nil && firstText-i != g.TextIndex(s) {
				err = p.errorf("texts are numbered in their order")
			}
			p.texts = g.texts
		case "grid":
			err = p.grid(g, rest)
		case "call":
			var c Call
			var i int
			_, err = fmt.Sscanf(rest, "%d %s @%d:%d in %d", &i, &c.Name, &c.Span.From, &c.Span.To, &c.Parent)
			g.Calls = append(g.Calls, c)
		case "region":
			if g.Len() == 0 {
				return nil, nil, p.errorf("a region before any node")
			}
			var body *Region
			if _, body, err = p.graph(true); err == nil {
				at := &g.Nodes[g.Len()-1].Region
				for *at != nil {
					at = &(*at).Next
				}
				*at = body
			}
		default:
			err = p.node(g, l)
		}
		if err != nil {
			if !strings.HasPrefix(err.Error(), "ir text") {
				err = p.errorf("%v", err)
			}
			return nil, nil, err
		}
	}
}

func (p *parser) grid(g *Graph, rest string) error {
	_, rest, ok := strings.Cut(rest, " ")
	name, rest, ok2 := strings.Cut(rest, "[")
	dims, rest, ok3 := strings.Cut(rest, "]")
	if !ok || !ok2 || !ok3 {
		return p.errorf("grid wants: grid 0 NAME[4,4]")
	}
	gr := Grid{Name: name}
	var err error
	if gr.Dims, err = splitInts(dims); err != nil {
		return err
	}
	place, at, found := strings.Cut(rest, "@")
	gr.Place = Placement(strings.TrimSpace(place))
	if found {
		if gr.Span, err = span(at); err != nil {
			return err
		}
	}
	g.Grids = append(g.Grids, gr)
	return nil
}

func (p *parser) ids(s string, g *Graph) ([]ID, error) {
	var out []ID
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' }) {
		n, err := strconv.Atoi(strings.TrimPrefix(w, "%"))
		if err != nil || !strings.HasPrefix(w, "%") || n < 0 || n >= g.Len() {
			return nil, p.errorf("%q is no node above", w)
		}
		out = append(out, ID(n))
	}
	return out, nil
}

func (p *parser) node(g *Graph, l string) error {
	head, rest, ok := strings.Cut(l, " = ")
	if want := "%" + strconv.Itoa(g.Len()); !ok || head != want {
		return p.errorf("want `%s = op(...)`, found %q", want, l)
	}
	name, rest, ok := strings.Cut(rest, "(")
	d := p.table.Named(name)
	if !ok || d == nil {
		return p.errorf("no operator %q", name)
	}
	args, rest, ok := strings.Cut(rest, ")")
	if !ok {
		return p.errorf("missing ) after %s", name)
	}
	in, err := p.ids(args, g)
	if err != nil {
		return err
	}
	rest = strings.TrimSpace(rest)
	var attrs *op.Attrs
	if strings.HasPrefix(rest, "{") {
		if attrs, rest, err = parseAttrs(rest); err != nil {
			return err
		}
	}
	typ, tail, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(rest), ":"), " @")
	if tail != "" {
		tail = "@" + tail
	}
	for _, w := range []string{" loop ", " dest ", " call "} {
		if i := strings.Index(typ, w); i >= 0 {
			typ, tail = typ[:i], typ[i:]+tail
		}
	}
	t, err := types.Parse(strings.TrimSpace(typ))
	if err != nil {
		return err
	}
	var o Origin
	f := strings.Fields(tail)
	for i := 0; i < len(f); i++ {
		switch {
		case strings.HasPrefix(f[i], "@"):
			o.Span, err = span(f[i][1:])
		case f[i] == "loop" && i+1 < len(f):
			i++
			var s, at []int
			if s, at, err = indexed(f[i]); err == nil {
				if s[0] < 0 || s[0] >= len(g.Scopes) || len(g.Scopes[s[0]].Names) != len(at) {
					return p.errorf("no scope for loop %s", f[i])
				}
				o.loop = g.Loop(s[0], at)
			}
		case f[i] == "dest" && i+1 < len(f):
			i++
			var s, at []int
			if s, at, err = indexed(f[i]); err == nil {
				if s[0] < 0 || s[0] >= len(g.Grids) || len(s) != 2 || len(g.Grids[s[0]].Dims) != len(at) {
					return p.errorf("no grid for dest %s", f[i])
				}
				o = g.Sends(o, s[0], s[1], at)
			}
		case f[i] == "call" && i+1 < len(f):
			i++
			var c int
			c, err = strconv.Atoi(f[i])
			o.Call = int32(c)
		default:
			return p.errorf("unexpected %q", f[i])
		}
		if err != nil {
			return err
		}
	}
	g.Add(d, attrs, t, o, in...)
	return nil
}

// indexed reads `3(1,2)` or `3(1,2)v4`. head holds 3 and, if present, 4.
func indexed(s string) (head, at []int, err error) {
	h, rest, ok := strings.Cut(s, "(")
	idx, rest, ok2 := strings.Cut(rest, ")")
	if !ok || !ok2 {
		return nil, nil, fmt.Errorf("want N(i,j), found %q", s)
	}
	if head, err = splitInts(h); err != nil || len(head) != 1 {
		return nil, nil, fmt.Errorf("want N(i,j), found %q", s)
	}
	if v, found := strings.CutPrefix(rest, "v"); found {
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, nil, err
		}
		head = append(head, n)
	}
	at, err = splitInts(idx)
	return head, at, err
}

func splitInts(s string) ([]int, error) {
	var out []int
	for _, w := range strings.Split(s, ",") {
		if w = strings.TrimSpace(w); w == "" {
			continue
		}
		text, isText := strings.CutPrefix(w, "#")
		if isText {
			w = text
		}
		n, err := strconv.Atoi(w)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func span(s string) (source.Span, error) {
	a, b, _ := strings.Cut(s, ":")
	x, err := strconv.Atoi(a)
	if err != nil {
		return source.Span{}, err
	}
	y, err := strconv.Atoi(b)
	return source.Span{From: source.Pos(x), To: source.Pos(y)}, err
}

// parseAttrs reads `{a=1, b="x,}"}` and returns the rest.
func parseAttrs(s string) (*op.Attrs, string, error) {
	var list []op.Attr
	depth, quoted, start := 0, false, 1
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 1, c == '}':
			if piece := strings.TrimSpace(s[start:i]); piece != "" {
				name, val, ok := strings.Cut(piece, "=")
				if !ok {
					return nil, "", fmt.Errorf("attribute %q has no value", piece)
				}
				v, err := op.ParseVal(val)
				if err != nil {
					return nil, "", err
				}
				list = append(list, op.Attr{Name: name, Val: v})
			}
			start = i + 1
			if c == '}' {
				return op.MakeAttrs(list...), s[i+1:], nil
			}
		}
	}
	return nil, "", fmt.Errorf("attributes are not closed: %q", s)
}
