package enginetest

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"

	"flow/ir"
	"flow/ir/eval"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
)

// Random makes a plan of about n tasks for ranks ranks. Its values are of every sort that engines
// treat differently: matrices of a few sizes including none, scalars, strings, shapes known only in
// the run.
func Random(seed uint64, n, ranks int) *plan.Plan {
	return newRandom(seed, ranks).plan(seed, n, func() {})
}

// RandomShown is Random with nodes of rank 0 that print numbers in the order of the plan.
func RandomShown(seed uint64, n, ranks int) *plan.Plan {
	r := newRandom(seed, ranks)
	last := ir.None
	return r.plan(seed, n, func() {
		if len(r.nums) == 0 || r.rng.IntN(4) > 0 {
			return
		}
		in := []ir.ID{r.bring(r.nums[r.rng.IntN(len(r.nums))], 0)}
		if last != ir.None {
			in = append(in, last)
		}
		r.owner = append(r.owner, 0)
		last = r.g.Add(r.t.Must("print"), nil, types.EffectType(), ir.Origin{}, in...)
	})
}

// Printed returns what the reference evaluator prints of p, up to a failure.
func Printed(p *plan.Plan) string {
	e := &Env{}
	_, _ = eval.Run(p.Graph, e) // other tests compare the failure with runs
	return e.Printed()
}

func newRandom(seed uint64, ranks int) *random {
	return &random{rng: rand.New(rand.NewPCG(seed, 7)), t: Table(), g: ir.New(), ranks: ranks}
}

// plan draws about n tasks and calls also after each.
func (r *random) plan(seed uint64, n int, also func()) *plan.Plan {
	for r.g.Len() < n {
		r.task()
		also()
	}
	ranks := r.ranks
	p := &plan.Plan{Graph: r.g, Ranks: ranks, Uses: r.g.Uses()}
	if ranks > 1 {
		p.Owner = r.owner
	}
	if seed%2 == 0 {
		p.Prio = make([]int32, r.g.Len())
		for i := range p.Prio {
			p.Prio[i] = r.rng.Int32N(1000)
		}
	}
	if err := p.Verify(); err != nil {
		panic(err)
	}
	return p
}

type random struct {
	rng   *rand.Rand
	t     *op.Table
	g     *ir.Graph
	ranks int
	owner []int32
	mats  []ir.ID // f64[s,s]
	nums  []ir.ID // f64
	strs  []ir.ID
	vecs  []ir.ID // f64[_,1]
}

// node adds a node on a random rank. Inputs from elsewhere come through exchanges.
func (r *random) node(name string, attrs *op.Attrs, t types.Type, in ...ir.ID) ir.ID {
	rank := r.rng.Int32N(int32(r.ranks))
	for i, x := range in {
		in[i] = r.bring(x, rank)
	}
	r.owner = append(r.owner, rank)
	return r.g.Add(r.t.Must(name), attrs, t, ir.Origin{}, in...)
}

// bring finds or makes an edge by which rank may read x.
func (r *random) bring(x ir.ID, rank int32) ir.ID {
	if r.owner[x] == rank {
		return x
	}
	for e := int(x) + 1; e < r.g.Len(); e++ {
		id := ir.ID(e)
		if n := &r.g.Nodes[e]; n.Op.Role == op.Exchange && r.g.In(id)[0] == x && slices.Contains(n.Attrs.Ints("to"), int64(rank)) {
			return id
		}
	}
	to := []int{}
	for k := range r.ranks {
		if k == int(rank) || r.rng.IntN(3) == 0 { // some ranks get what they never read
			to = append(to, k)
		}
	}
	r.owner = append(r.owner, r.owner[x])
	return r.g.Add(r.t.Must("exchange"), op.MakeAttrs(op.Attr{Name: "to", Val: op.Ints(to...)}), r.g.Type(x), ir.Origin{}, x)
}

var sizes = []int{0, 1, 3, 8, 30}

// mat returns a matrix of the wanted type, among the newest, or a new one.
func (r *random) mat(t types.Type) ir.ID {
	for try := 0; try < 6 && len(r.mats) > 0; try++ {
		if x := r.mats[max(0, len(r.mats)-1-r.rng.IntN(20))]; r.g.Type(x) == t {
			return x
		}
	}
	x := r.node("fill", op.MakeAttrs(op.Attr{Name: "v", Val: op.Float(float64(r.rng.IntN(100)))}), t)
	r.mats = append(r.mats, x)
	return x
}

func (r *random) task() {
	s := sizes[r.rng.IntN(len(sizes))]
	t := types.DenseOf(types.F64, s, s)
	num := func() ir.ID {
		if len(r.nums) == 0 {
			r.nums = append(r.nums, r.node("total", nil, types.ScalarOf(types.F64), r.mat(t)))
		}
		return r.nums[max(0, len(r.nums)-1-r.rng.IntN(5))]
	}
	switch k := r.rng.IntN(15); k {
	case 0, 1:
		r.mats = append(r.mats, r.node("add", nil, t, r.mat(t), r.mat(t)))
	case 2, 3, 4:
		x := r.node("mac", nil, t, r.mat(t), r.mat(t), r.mat(t))
		r.mats = append(r.mats, r.node("scale", nil, t, x, num()))
	case 5:
		r.mats = append(r.mats, r.node("neg", nil, t, r.mat(t)))
	case 6:
		r.nums = append(r.nums, r.node("total", nil, types.ScalarOf(types.F64), r.mat(t)))
	case 7:
		v := r.node("evens", nil, types.DenseOf(types.F64, types.Unknown, 1), r.mat(t))
		r.vecs = append(r.vecs, v, r.node("self", nil, r.g.Type(v), v))
	case 8:
		if len(r.vecs) > 0 {
			x := r.node("count", nil, types.ScalarOf(types.I64), r.vecs[len(r.vecs)-1])
			r.strs = append(r.strs, r.node("label", nil, types.ScalarOf(types.Str), x, num()))
		}
	case 9:
		if len(r.strs) > 0 {
			r.strs = append(r.strs, r.node("label", nil, types.ScalarOf(types.Str), r.strs[len(r.strs)-1]))
		}
	case 10:
		r.node("less", nil, t.With(types.Bool), r.mat(t), r.mat(t))
	case 11:
		modes := op.Ints(int(op.Full), int(op.Trans))
		x := r.node("map", op.MakeAttrs(op.Attr{Name: "modes", Val: modes}), t, r.mat(t), r.mat(t))
		r.g.Nodes[x].Region = r.region()
		r.mats = append(r.mats, x)
	case 12:
		r.mats = append(r.mats, r.node("check", nil, t, r.mat(t)))
	case 13, 14:
		r.mats = append(r.mats, r.node("look", nil, t, r.mat(t)))
	}
}

// region returns fn(a, b) => a + neg(b).
func (r *random) region() *ir.Region {
	g := ir.New()
	f := types.ScalarOf(types.F64)
	a := g.Add(r.t.Must("arg"), nil, f, ir.Origin{})
	b := g.Add(r.t.Must("arg"), nil, f, ir.Origin{})
	n := g.Add(r.t.Must("neg"), nil, f, ir.Origin{}, b)
	y := g.Add(r.t.Must("add"), nil, f, ir.Origin{}, a, n)
	return &ir.Region{Graph: g, Args: []ir.ID{a, b}, Yields: []ir.ID{y}}
}

// Oracle holds the values of the reference evaluator and compares them with an engine's. It is safe
// for concurrent use.
type Oracle struct {
	p    *plan.Plan
	want []value.Value
	mu   sync.Mutex
	seen []bool
	errs []error
}

// NewOracle evaluates p.
func NewOracle(p *plan.Plan) (*Oracle, error) {
	want, err := eval.Run(p.Graph, &Env{})
	return &Oracle{p: p, want: want, seen: make([]bool, p.Graph.Len())}, err
}

// Observe is for EngineOptions.Observe.
func (o *Oracle) Observe(id ir.ID, v value.Value) {
	same := value.Same(v, o.want[id]) || v == nil && o.want[id] == nil
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.seen[id]:
		o.errs = append(o.errs, fmt.Errorf("%s ran twice", o.p.Graph.Line(id)))
	case !same:
		o.errs = append(o.errs, fmt.Errorf("%s: got %v, want %v", o.p.Graph.Line(id), v, o.want[id]))
	}
	o.seen[id] = true
}

// Err returns the first difference, or a task that did not run.
func (o *Oracle) Err() error { return o.ErrOf(func(int) bool { return true }) }

// ErrOf is Err for the tasks that mine selects.
func (o *Oracle) ErrOf(mine func(id int) bool) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.errs) > 0 {
		return fmt.Errorf("%d differences, the first: %w", len(o.errs), o.errs[0])
	}
	for i, s := range o.seen {
		d := o.p.Graph.Nodes[i].Op
		// of those the parts are seen
		if !s && mine(i) && d.Role != op.Exchange && d.Control != op.Iterate && d.Control != op.Select {
			return fmt.Errorf("%s did not run", o.p.Graph.Line(ir.ID(i)))
		}
	}
	return nil
}

// Env is an op.Env that stores what was printed.
type Env struct {
	mu  sync.Mutex
	out bytes.Buffer
}

// Stdout is where print writes.
func (e *Env) Stdout() io.Writer { return e }

// Write is for one line at a time.
func (e *Env) Write(b []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.out.Write(b)
}

// Printed returns what was written so far.
func (e *Env) Printed() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.out.String()
}

// Create refuses: no row of the table writes files.
func (e *Env) Create(path string) (io.WriteCloser, error) { return nil, fmt.Errorf("no files here") }

// Path is path.
func (e *Env) Path(path string) string { return path }
