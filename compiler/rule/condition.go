package rule

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"flow/ir"
	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
)

// This file defines the words that rules use beside rows: classes of rows, conditions, and
// functions of attributes and constants.

// classes are sets of rows, by their properties.
var classes = map[string]func(d *op.Def) bool{
	"Elementwise": func(d *op.Def) bool { return d.Laws.Has(op.Elementwise|op.Pure) && d.Elt != nil },
	"Involution":  func(d *op.Def) bool { return d.Laws.Has(op.Involution | op.Pure) },
	"Idempotent":  func(d *op.Def) bool { return d.Laws.Has(op.Idempotent | op.Pure) },
	"Conversion": func(d *op.Def) bool {
		_, is := types.ElemNamed(d.Name)
		return is && d.Laws.Has(op.Pure)
	},
	// A reduction of a whole matrix that is cut into blocks does not depend on order: its
	// partial results merge in any (op.Shard). var is cut so too, with two passes and exact
	// sums.
	"Reduction": func(d *op.Def) bool { return d.Shard.Kind == op.ShardReduce && len(d.Args) == 1 && !d.Hidden },
	"Rowwise":   func(d *op.Def) bool { return d.Shard.Kind == op.ShardRows },
	"Colwise":   func(d *op.Def) bool { return d.Shard.Kind == op.ShardCols },
	"Bind":      func(d *op.Def) bool { return d.Role == op.Below || d.Role == op.Beside },
}

// operand is what a letter of a rule is bound to: a node or an attribute.
type operand struct {
	val   op.Val
	id    ir.ID
	typ   types.Type
	m     *match
	place int // the number of the input that ".." stands for
}

// operand returns the binding of a letter. ".." is input number place.
func (m *match) operand(name string, place int) operand {
	switch {
	case name == "..":
		return operand{id: m.rest[place], typ: m.s.g.Type(m.rest[place]), m: m, place: place}
	case name == "root":
		return operand{id: ir.None, typ: m.s.typ, m: m}
	}
	if id, ok := m.vars.get(name); ok {
		return operand{id: id, typ: m.s.g.Type(id), m: m}
	}
	return operand{val: m.vals.of(name), id: ir.None, m: m}
}

// condition is a compiled condition.
type condition struct {
	test func(x []operand) bool // see conditionWords
	args []string
}

func (c *condition) holds(m *match) bool {
	m.args = m.args[:0]
	for _, name := range c.args {
		if isClass(name) {
			m.args = append(m.args, operand{m: m, id: ir.None, val: op.Str(name)})
			continue
		}
		m.args = append(m.args, m.operand(name, noPlace))
	}
	return c.test(m.args)
}

// isClass reports whether a name is that of a class. Names of variables begin in lower case (see
// parseRewrite).
func isClass(name string) bool { return unicode.IsUpper(rune(name[0])) }

// fewRows is up to how many rows are few.
const fewRows = 8

// fewColumns is the most columns of a matrix that are read as fast as a mask is searched.
const fewColumns = 4

// conditionWords are the words of Where.
var conditionWords = map[string]func(x []operand) bool{
	// total(x): neither x nor its inputs, at any depth, can fail. Without it a rewrite that
	// drops x would make a failing program succeed. total(Class): the matched rows cannot fail.
	"total": func(x []operand) bool {
		if x[0].val.S != "" {
			for _, c := range x[0].m.class {
				if !c.to.Laws.Has(op.Total) {
					return false
				}
			}
			return true
		}
		return x[0].m.s.total(x[0].id)
	},
	"integers": func(x []operand) bool {
		for _, o := range x {
			if o.typ.Elem != types.I64 && o.typ.Elem != types.Bool {
				return false
			}
		}
		return true
	},
	// row(x): one line of numbers side by side.
	"row": func(x []operand) bool { return x[0].typ.IsDense() && x[0].typ.Rows == 1 },
	// flat(x): a few rows that are longer, so that turning them takes little of a product. low(x): a row,
	// or so few that only ranks win.
	"flat": func(x []operand) bool { return lines(x[0].typ, 3, 64) },
	"low":  func(x []operand) bool { return x[0].typ.IsDense() && x[0].typ.Rows == 1 || lines(x[0].typ, 2, 2) },
	// lies(x): one row of several numbers. stays(x): x may be one.
	"lies":  func(x []operand) bool { return lies(x[0].typ) },
	"stays": func(x []operand) bool { return !lies(x[0].typ) || !x[0].m.set.upright },
	// stands(Class): the result is such a row, and an input is the transpose of a column.
	"stands": func(x []operand) bool { return x[0].m.stands() },
	// line(p): window p is all of a row of the matrix that the root cuts. The matrix has a few rows
	// and more columns, so each row is likely to be a variable.
	"line": func(x []operand) bool {
		p, t := window(x[0]), x[0].m.shapeCut()
		return p[2] == 1 && p[3] == t.Cols && t.Rows <= fewRows && t.Cols > t.Rows
	},
	// spares(p): less work is left if window p is cut from the bound matrices. The root cuts it from the
	// whole of them. That holds if window p alone reads the whole. It also holds if only windows read the
	// whole, and p needs one bound matrix alone or at most half of the whole. spares would be wrong if a
	// matrix outside of p could fail, because nothing would compute that matrix.
	"spares": func(x []operand) bool {
		m, p := x[0].m, window(x[0])
		single := m.s.single(m.inner[0])
		if len(m.rest) == 1 || !single && !m.s.cut(m.inner[0]) {
			return false
		}
		met := 0
		for k, w := range m.cutBound(p) {
			if w[2] > 0 && w[3] > 0 {
				met++
			} else if !m.s.total(m.rest[k]) {
				return false
			}
		}
		if m.below() {
			return single || met == 1 || 2*p[2] <= m.shapeCut().Rows
		}
		return single || met == 1 || 2*p[3] <= m.shapeCut().Cols
	},
	// uncoded(x): x is not made of a matrix of codes element by element. A sum of one needs no matrix,
	// only the codes.
	"uncoded": func(x []operand) bool { return !madeOf(x[0].m.s.g, x[0].id, codedDepth, codes) },
	// plain(Class): the matched rows read nothing that operators on tiles make, element by element. Of
	// a product whose triangle alone is read, half need not be computed.
	"plain": func(x []operand) bool {
		m := x[0].m
		return !slices.ContainsFunc(m.rest, func(id ir.ID) bool { return madeOf(m.s.g, id, plainDepth, tiles) })
	},
	// ofmore(p, x, y): x and y have as many rows, and at least twice as many as window p.
	"ofmore": func(x []operand) bool {
		rows := x[1].typ.Rows
		return rows > 0 && rows == x[2].typ.Rows && 2*window(x[0])[2] <= rows
	},
	// mask(c, n, x): c is a column with a truth for each of the n rows of a dense x. Finding the
	// rows of a mask costs about as much as reading four columns; of a wider x a mask that chooses
	// few rows leaves less to read than all.
	"mask": func(x []operand) bool {
		n, known := constantOf(x[1].m.s.g, x[1].id)
		rows := x[0].typ.Rows
		return known && x[0].typ.Cols == 1 && x[0].typ.Elem == types.Bool && rows == x[2].typ.Rows && n.Float() == float64(rows) && x[2].typ.IsDense() && x[2].typ.Cols <= fewColumns
	},
	"sparse": func(x []operand) bool { return x[0].typ.IsSparse() },
	"known":  func(x []operand) bool { return x[0].typ.Known() },
	// few(s, a): a sparse s has few of the elements of a product with factor a. Of a dense one each takes
	// some ten times as long as in the whole, and of a sparse one less.
	"few": func(x []operand) bool {
		s, known := x[0].typ, x[0].typ.IsSparse() && x[0].typ.Known()
		return known && (x[1].typ.IsSparse() || 16*ir.NewEstimator(x[0].m.s.g).Of(x[0].id).NNZ <= float64(s.Rows)*float64(s.Cols))
	},
	"floats": func(x []operand) bool { return x[0].typ.Elem.IsFloat() },
	"bools":  func(x []operand) bool { return x[0].typ.Elem == types.Bool },
	"doubles": func(x []operand) bool {
		return x[0].typ.Elem == types.F64
	},
	// single(a, b): a product of these has one term, whichever way round b is read.
	"single": func(x []operand) bool {
		t := x[0].m.s.typ
		return x[0].typ.Known() && x[1].typ.Known() && x[0].typ.Count() == t.Rows && x[1].typ.Count() == t.Cols
	},
	// alike(a, b): the same element type, so no conversion is needed.
	"alike": func(x []operand) bool {
		for _, o := range x {
			if o.typ.Elem != x[0].typ.Elem {
				return false
			}
		}
		return true
	},
	"either": func(x []operand) bool { return x[0].val.I != 0 || x[1].val.I != 0 },
	// power(c): a constant that is a power of two, as is its reciprocal, both far from
	// underflow.
	"power": func(x []operand) bool {
		v, ok := constantOf(x[0].m.s.g, x[0].id)
		f, e := math.Frexp(v.Float())
		return ok && math.Abs(f) == 0.5 && e > -120 && e < 120
	},
	// cancels(Class): transposing the inputs instead of the result leaves fewer transposes,
	// looking through elementwise operators with one reader.
	"cancels": func(x []operand) bool {
		gone, made := x[0].m.turns(x[0].m.rest, 8, true)
		return gone > 0 && made < 1+gone
	},
	// unturns(Class): the same where nothing transposes the result, a matrix. A vector is as wide
	// turned.
	"unturns": func(x []operand) bool {
		gone, made := x[0].m.turns(x[0].m.rest, 8, false)
		t := x[0].m.shapeCut()
		return made < gone && t.Rows > 1 && t.Cols > 1
	},
	// cheaper(root): the replacement has fewer operations by the fixed counts of chain.go.
	"cheaper": func(x []operand) bool { return x[0].m.cheaper() },
}

// constantWords make a constant of a constant.
var constantWords = map[string]func(v value.Scalar) (value.Scalar, bool){
	"inverse": func(v value.Scalar) (value.Scalar, bool) {
		e := v.Elem
		if !e.IsFloat() {
			e = types.F64
		}
		return value.F64(1 / v.Float()).Convert(e), v.Float() != 0
	},
}

// attributeWords compute attributes of a replacement; false abandons the rewrite.
var attributeWords = map[string]func(x []operand) (op.Val, bool){
	"not": func(x []operand) (op.Val, bool) { return op.Bool(x[0].val.I == 0), true },
	// within(p, q): window q of window p.
	"within": func(x []operand) (op.Val, bool) {
		p, q := window(x[0]), window(x[1])
		return op.Ints(p[0]+q[0], p[1]+q[1], q[2], q[3]), true
	},
	// spot(p, q): element q of window p.
	"spot": func(x []operand) (op.Val, bool) {
		p, q := window(x[0]), window(x[1])
		return op.Ints(p[0]+q[0], p[1]+q[1]), true
	},
	// turned(p): the window in the transpose; for an element, [j, i].
	"turned": func(x []operand) (op.Val, bool) {
		p := window(x[0])
		if len(x[0].val.L) == 2 {
			return op.Ints(p[1], p[0]), true
		}
		return op.Ints(p[1], p[0], p[3], p[2]), true
	},
	// cut(p, ..): the part of an input, possibly stretched along an axis, that window p of the
	// result reads.
	"cut": func(x []operand) (op.Val, bool) {
		p, t, whole := window(x[0]), x[1].typ, x[1].m.shapeCut()
		if t.Rows == 1 && whole.Rows != 1 {
			p[0], p[2] = 0, 1
		}
		if t.Cols == 1 && whole.Cols != 1 {
			p[1], p[3] = 0, 1
		}
		if len(x[0].val.L) == 2 {
			return op.Ints(p[0], p[1]), true
		}
		return op.Ints(p[0], p[1], p[2], p[3]), true
	},
	// piece(p, ..): the part of an input that window p reads, where p is cut from the inputs bound
	// together.
	"piece": func(x []operand) (op.Val, bool) {
		w := x[1].m.cutBound(window(x[0]))[x[1].place]
		return op.Ints(w[:]...), true
	},
	// rows(p, a, f): the rows of window p of a product with left factor a, transposed if f.
	// cols: the same for the right factor.
	"rows": func(x []operand) (op.Val, bool) { return band(x, true) },
	"cols": func(x []operand) (op.Val, bool) { return band(x, false) },
	// lines(p, x): the whole rows of x in window p of a column. columns(p, x): the same for a
	// row.
	"lines": func(x []operand) (op.Val, bool) {
		p := window(x[0])
		return op.Ints(p[0], 0, p[2], x[1].typ.Cols), p[3] == 1
	},
	"columns": func(x []operand) (op.Val, bool) {
		p := window(x[0])
		return op.Ints(0, p[1], x[1].typ.Rows, p[3]), p[2] == 1
	},
	// down(p, x): the columns of window p, in all rows of x. beside(p): the rows of p in one column.
	// first(p): its first element, within it.
	"down": func(x []operand) (op.Val, bool) {
		p := window(x[0])
		return op.Ints(0, p[1], x[1].typ.Rows, p[3]), true
	},
	"beside": func(x []operand) (op.Val, bool) {
		p := window(x[0])
		return op.Ints(p[0], 0, p[2], 1), true
	},
	"first": func([]operand) (op.Val, bool) { return op.Ints(0, 0), true },
	// onward(v, p): the seed whose numbers begin with those of window p, which is a row of a
	// constructor with seed v. The states of the numbers have equal distances, so a later number is
	// the first one of another seed.
	"onward": func(x []operand) (op.Val, bool) {
		m, p := x[0].m, window(x[1])
		n := &m.s.g.Nodes[m.s.in[0]]
		row := n.Op.Draw.Words(n.Attrs, p[0], 0)
		seed := op.Int(int(x[0].val.I + row[0] - n.Op.Draw.Words(n.Attrs, 0, 0)[0]))
		column := n.Op.Draw.Words(n.Attrs.With("seed", seed).With("m", op.Int(1)), 0, 0)
		return seed, column[0] == row[0] && column[1] == row[2]
	},
	"height": func(x []operand) (op.Val, bool) { return op.Int(window(x[0])[2]), true },
	"width":  func(x []operand) (op.Val, bool) { return op.Int(window(x[0])[3]), true },
	// nrow(x), ncol(x): the shape of x.
	"nrow": func(x []operand) (op.Val, bool) { return op.Int(x[0].typ.Rows), x[0].typ.Known() },
	"ncol": func(x []operand) (op.Val, bool) { return op.Int(x[0].typ.Cols), x[0].typ.Known() },
}

// window is an attribute [first row, first column, rows, columns], or [row, column] of one element.
func window(o operand) [4]int {
	w := [4]int{0, 0, 1, 1}
	for i, v := range o.val.L {
		w[i] = int(v)
	}
	return w
}

// band returns the rows (or columns) of a factor that a window of the product needs.
func band(x []operand, left bool) (op.Val, bool) {
	p, t, turned := window(x[0]), x[1].typ, x[2].val.I != 0
	first, n := p[0], p[2]
	if !left {
		first, n = p[1], p[3]
	}
	if left != turned { // the window is along the rows of the stored matrix
		return op.Ints(first, 0, n, t.Cols), true
	}
	return op.Ints(0, first, t.Rows, n), true
}

// cutBound returns, for each of the bound matrices, the part of it that window p of the whole reads.
func (m *match) cutBound(p [4]int) [][4]int {
	if len(m.pieces) > 0 {
		return m.pieces
	}
	axis := 1
	if m.below() {
		axis = 0
	}
	from, to := p[axis], p[axis]+p[axis+2]
	for _, id := range m.rest {
		n := m.s.g.Type(id).Cols
		if axis == 0 {
			n = m.s.g.Type(id).Rows
		}
		w := p
		w[axis] = min(max(from, 0), n)
		w[axis+2] = min(max(to, 0), n) - w[axis]
		m.pieces = append(m.pieces, w)
		from, to = from-n, to-n
	}
	return m.pieces
}

// below reports whether the matrices are bound below each other, and not beside each other.
func (m *match) below() bool { return m.class.of("Bind").Role == op.Below }

// turns counts the transposes that vanish and those that appear if the inputs are transposed,
// looking through depth operators. Scalars and vectors do not count, but transposes of vectors may.
func (m *match) turns(in []ir.ID, depth int, vectors bool) (gone, made int) {
	g := m.s.g
	for k, id := range in {
		n, t := &g.Nodes[id], g.Type(id)
		times := int32(0)
		for _, x := range in {
			if x == id {
				times++
			}
		}
		switch {
		case slices.Contains(in[:k], id): // its transpose is made once
		case n.Op.Shard.Kind == op.ShardTranspose && (vectors || t.Rows > 1 && t.Cols > 1) && g.Nodes[g.In(id)[0]].Op != n.Op && m.s.inside(id):
			gone++
		case !t.IsMatrix() || t.Rows == 1 || t.Cols == 1:
		case classes["Elementwise"](n.Op) && n.Region == nil && m.s.inside(id) && m.s.uses(id) == times && depth > 0:
			a, b := m.turns(g.In(id), depth-1, vectors)
			gone, made = gone+a, made+b
		default:
			made++
		}
	}
	return gone, made
}

// stands reports whether the root is a row and one of its inputs the transpose of a column.
func (m *match) stands() bool {
	g, turned := m.s.g, false
	for _, id := range m.rest {
		turned = turned || g.Nodes[id].Op.Shard.Kind == op.ShardTranspose && lies(g.Type(id))
	}
	return turned && lies(m.s.typ)
}

// lies reports one row of several numbers.
func lies(t types.Type) bool { return t.IsDense() && t.Rows == 1 && t.Cols > 1 }

// shapeCut returns the type of the node that a slice, an item or a reduction at the root reads.
func (m *match) shapeCut() types.Type { return m.s.g.Type(m.s.in[0]) }

// checkWords reports a word that this file does not define.
func checkWords(p *pattern) error {
	for _, a := range p.attrs {
		if a.word != "" && attributeWords[a.word] == nil {
			return fmt.Errorf("no word %q makes an attribute", a.word)
		}
	}
	if p.class && classes[p.name] == nil {
		return fmt.Errorf("no class %q", p.name)
	}
	for _, a := range p.args {
		if err := checkWords(a); err != nil {
			return err
		}
	}
	return nil
}

// compileCondition parses one condition.
func compileCondition(text string) (condition, error) {
	word, args, err := parseCondition(text)
	if err == nil && conditionWords[word] == nil {
		err = fmt.Errorf("no condition %q; there are %s", word, strings.Join(sortedWords(), ", "))
	}
	return condition{conditionWords[word], args}, err
}

// codedDepth and plainDepth are the numbers of operators through which codes and tiles are looked for.
const codedDepth, plainDepth = 4, 8

// codes reports a matrix of codes, tiles the result of a product or of another operator on tiles.
func codes(d *op.Def) bool { return d.Role == op.Codes }
func tiles(d *op.Def) bool { return d.Shard.Kind == op.ShardContract }

// madeOf reports whether node id is such an operator's, or made of one by at most depth elementwise
// operators.
func madeOf(g *ir.Graph, id ir.ID, depth int, such func(d *op.Def) bool) bool {
	d := g.Nodes[id].Op
	return such(d) || depth > 0 && d.Laws.Has(op.Elementwise) &&
		slices.ContainsFunc(g.In(id), func(x ir.ID) bool { return madeOf(g, x, depth-1, such) })
}

// lines reports a dense matrix of known size with from to most rows, and more columns.
func lines(t types.Type, from, most int) bool {
	return t.IsDense() && t.Known() && t.Rows >= from && t.Rows <= most && t.Rows < t.Cols
}
