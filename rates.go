package flow

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels"
	"flow/kernels/blas"
)

// This file defines kernel costs on this machine: measured in a few milliseconds and cached. They
// affect the order of tasks and predictions, never a bit of a result.

// ratesVersion is part of the file name. Files of other versions are ignored.
const ratesVersion = 3

// measureBudget bounds the time of one rate class, so that all stay below 50 ms on a fast set.
const measureBudget = 6 * time.Millisecond

// Rates are measured costs of one kernel set. They implement plan.Rates, and are immutable and safe
// for concurrent use.
type Rates struct {
	Set     string             `json:"set"`              // of kernels
	CPU     string             `json:"cpu"`              // on which they were measured
	PerFlop map[string]float64 `json:"seconds_per_flop"` // by rate class
	PerOp   float64            `json:"seconds_per_op"`   // of everything else, while its operands are in a cache
	PerByte float64            `json:"seconds_per_byte"` // of everything else, past the caches
}

// overhead is the cost of any task beside its work: queue, counters, buffers.
const overhead = 0.5e-6

// Seconds returns the predicted time of one task of a rate class with this work. The f64 rates
// stand for all element types, so f32 kernels are predicted at half their speed, which does not
// affect the order.
func (r *Rates) Seconds(class string, w op.Work) float64 {
	per, ok := r.PerFlop[class]
	if !ok {
		per = r.PerOp
	}
	return overhead + max(per*w.Flops, r.PerByte*w.Bytes)
}

// LoadRates returns the cached costs of this kernel set on this kind of CPU, or nil. It takes well
// under a millisecond and never measures.
func LoadRates(set string) *Rates {
	path, cpu, err := ratesPath(set)
	if err != nil {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	r := &Rates{}
	if json.Unmarshal(text, r) != nil || r.CPU != cpu || r.PerOp <= 0 || r.PerByte <= 0 || len(r.PerFlop) != len(measured)+len(measuredAlone) {
		return nil
	}
	for _, per := range r.PerFlop {
		if per <= 0 {
			return nil
		}
	}
	return r
}

// Save stores the costs for later runs. The file appears whole or not at all.
func (r *Rates) Save() error {
	path, _, err := ratesPath(r.Set)
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return saveCache(path, text)
}

// saveCache writes a cache file, whole or not at all.
func saveCache(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	o := NewOutput(nil)
	defer o.Discard()
	w, err := o.Create(path)
	if err != nil {
		return err
	}
	if _, err := w.Write(append(text, '\n')); err != nil {
		return err
	}
	return o.Commit()
}

// ratesPath returns the cache file of a kernel set, and the description of the CPU that the file
// must name. FLOW_CACHE overrides the directory.
func ratesPath(set string) (path, cpu string, err error) {
	s, err := blas.Select(set)
	if err != nil {
		return "", "", err
	}
	dir, err := cacheDir()
	if err != nil {
		return "", "", err
	}
	cpu = fmt.Sprintf("%s %s", runtime.GOARCH, blas.Names())
	return filepath.Join(dir, fmt.Sprintf("rates-%s-v%d.json", s.Name, ratesVersion)), cpu, nil
}

// cacheDir returns $FLOW_CACHE, or flow in the user's cache directory.
func cacheDir() (string, error) {
	if dir := os.Getenv("FLOW_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "flow"), err
}

// measured lists the rate classes with a kernel of their own, as calls on tiles of one order. All
// others take the longer of their operations and of their memory.
var measured = [...]struct {
	class string
	in    int // inputs, all of the same shape
	attrs *op.Attrs
}{
	{"gemm", 3, op.MakeAttrs(op.Attr{Name: "tb", Val: op.Bool(true)}, op.Attr{Name: "sub", Val: op.Bool(true)}, op.Attr{Name: "ta", Val: op.Bool(false)})},
	{"syrk", 2, op.MakeAttrs(op.Attr{Name: "sub", Val: op.Bool(true)}, op.Attr{Name: "ta", Val: op.Bool(false)})},
	{"trsm", 2, nil},
	{"potrf", 1, nil},
}

// measuredAlone lists rate classes of operators whose time goes into searching for places, such as
// sorts, and for each a call that is measured. op.Work counts their operations, not the steps of the
// searches, so no rate of the arithmetic holds for them.
var measuredAlone = [...]struct {
	class, row string
	attrs      *op.Attrs // of the row
	of         string    // the row that makes its operand
	ofAttrs    *op.Attrs
}{
	{"order", "sort", nil, "rand", sizes(1<<15, 1)},
	{plan.StoredRate, "sp.t", nil, "rand_sparse", sizes(1<<12, 1<<12).With("density", op.Float(0.004))},
}

// sizes returns the attributes of a constructor of n x m random numbers.
func sizes(n, m int) *op.Attrs {
	return op.MakeAttrs(op.Attr{Name: "n", Val: op.Int(n)}, op.Attr{Name: "m", Val: op.Int(m)}, op.Attr{Name: "seed", Val: op.Int(1)})
}

// MeasureRates times the kernels of a set on this machine, one core, tiles in cache.
func MeasureRates(set string) (*Rates, error) {
	table, err := kernels.Table(set)
	if err != nil {
		return nil, err
	}
	chosen, err := blas.Select(set)
	if err != nil {
		return nil, err
	}
	_, cpu, err := ratesPath(set)
	if err != nil {
		return nil, err
	}
	r := &Rates{Set: chosen.Name, CPU: cpu, PerFlop: map[string]float64{}}
	const order = 192 // an order at which all sets reach their speed
	for _, m := range measured {
		best, work, err := timeKernel(table, m.class, m.in, m.attrs, types.F64, order)
		if err != nil {
			return nil, err
		}
		r.PerFlop[m.class] = best.Seconds() / work.Flops
	}
	for _, m := range measuredAlone {
		of, err := called(table.Must(m.of), m.ofAttrs)
		if err == nil {
			err = of.Def.Kernel(of)
		}
		if err != nil {
			return nil, fmt.Errorf("BUG: measuring %s: %w", m.row, err)
		}
		c, err := called(table.Must(m.row), m.attrs, of.Out)
		if err != nil {
			return nil, fmt.Errorf("BUG: measuring %s: %w", m.row, err)
		}
		best, work, err := timeCall(c)
		if err != nil {
			return nil, err
		}
		r.PerFlop[m.class] = best.Seconds() / work.Flops
	}
	// exp computes far longer than it takes to read its operand.
	of, done, err := timeKernel(table, "exp", 1, nil, types.F64, order)
	if err != nil {
		return nil, err
	}
	r.PerOp = of.Seconds() / done.Flops
	// 6 MiB in all: beyond the second-level cache
	best, work, err := timeKernel(table, "add", 2, nil, types.F64, 512)
	if err != nil {
		return nil, err
	}
	r.PerByte = best.Seconds() / work.Bytes
	return r, nil
}

// called returns a call of a row, with room for a dense result. It fails where the type rule does.
func called(d *op.Def, attrs *op.Attrs, in ...value.Value) (*op.Call, error) {
	c := &op.Call{Def: d, Attrs: attrs, In: in}
	t, err := d.Type((&op.Sig{}).Of(c))
	if c.Type = t; err == nil && t.IsDense() {
		c.Out = value.New(t.Elem, t.Rows, t.Cols)
	}
	return c, err
}

// timeKernel returns the least time of a few calls of a row on square tiles.
func timeKernel(table *op.Table, row string, inputs int, attrs *op.Attrs, elem types.Elem, order int) (time.Duration, op.Work, error) {
	d := table.Named(row)
	if d == nil || d.Kernel == nil || d.Cost == nil {
		return 0, op.Work{}, fmt.Errorf("BUG: the operator table has no kernel %s to measure", row)
	}
	c := &op.Call{Def: d, Attrs: attrs, Type: types.DenseOf(elem, order, order)}
	for i := range inputs {
		c.In = append(c.In, tame(elem, order, i))
	}
	return timeCall(c)
}

// timeCall returns the least time of a few runs of a call, and its work. It fails where the kernel
// does.
func timeCall(c *op.Call) (time.Duration, op.Work, error) {
	d, sig := c.Def, (&op.Sig{}).Of(c)
	sig.Counted(c)
	work := d.Cost(sig, c.Type)
	least := time.Duration(0)
	begin := time.Now()
	for n := 0; n < 20 && (n < 2 || time.Since(begin) < measureBudget); n++ {
		if t := c.Type; t.IsDense() {
			out := value.New(t.Elem, t.Rows, t.Cols)
			if d.Accum > 0 {
				out.CopyFrom(c.In[d.Accum-1].(*value.Dense))
			}
			c.Out = out
		}
		start := time.Now()
		if err := d.Kernel(c); err != nil {
			return 0, work, fmt.Errorf("BUG: measuring %s: %w", d.Name, err)
		}
		if took := max(time.Since(start), 1); least == 0 || took < least {
			least = took
		}
	}
	return least, work, nil
}

// tame returns a matrix of f64 or f32 that every kernel accepts: diagonally dominant, positive
// definite, a usable triangle.
func tame(elem types.Elem, order, salt int) *value.Dense {
	d := value.New(elem, order, order)
	for i := range order {
		for j := range order {
			x := 1 / float64(1+(i-j)*(i-j)+salt)
			if i == j {
				x += float64(order)
			}
			if elem == types.F32 {
				d.F32[i*order+j] = float32(x)
			} else {
				d.F64[i*order+j] = x
			}
		}
	}
	return d
}

// TileSpeed is the speed of a kernel with tiles of several orders.
type TileSpeed struct {
	Kernel string     // its name in the table
	Elem   types.Elem // of the tiles
	Tiles  []int      // their orders
	Gflops []float64  // one a tile
}

// tuneTiles are the orders that TuneTiles tries: micro-kernels prefer multiples of 24 and 48, users
// powers of two.
var tuneTiles = [...]int{96, 128, 192, 256, 384, 512, 768, 1024}

// TuneTiles times every tile kernel of a set over tile orders, f64 and f32, on one core. It takes
// seconds.
func TuneTiles(set string) ([]TileSpeed, error) {
	table, err := kernels.Table(set)
	if err != nil {
		return nil, err
	}
	var out []TileSpeed
	for _, elem := range []types.Elem{types.F64, types.F32} {
		for _, m := range measured {
			s := TileSpeed{Kernel: m.class, Elem: elem}
			for _, order := range tuneTiles {
				best, work, err := timeKernel(table, m.class, m.in, m.attrs, elem, order)
				if err != nil {
					return nil, err
				}
				s.Tiles = append(s.Tiles, order)
				s.Gflops = append(s.Gflops, work.Flops/best.Seconds()/1e9)
			}
			out = append(out, s)
		}
	}
	return out, nil
}
