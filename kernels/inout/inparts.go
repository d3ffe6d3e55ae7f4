package inout

// This file defines the row `inparts`: a loop over the rows of files that is out of core. Each worker
// reads a part of the rows, runs the loop on it, and gives the memory of the part back. So at most one
// part a worker is in memory.

import (
	"errors"
	"slices"
	"sort"
	"sync"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/define"
	"flow/kernels/window"
	"flow/memory"
)

// inParts returns the row. Its body has reads, views of their columns, chains on them, and at last the
// loop whose results the row returns, or a view that it copies. An iteration of the row is `each` rows
// of the files, and `per` iterations of that loop. Its attributes are these two, `rows`, the rows of
// the files, `part`, the iterations of a part, and `bytes`, the bytes of a part.
//
// A matrix that is made in parts has addresses for all of its rows. So kernels and compiled loops are
// those of whole matrices.
//
// loop has its results in memory. written has an effect: it writes the rows to a file, in one chunk,
// since they must come in order.
func inParts() (loop, written *op.Def) {
	run := &op.Loop{
		Rows: func(s *op.Sig, _ types.Type) int {
			if s.Attrs.Int("each") > 1 {
				return 0
			}
			return s.Attrs.Int("rows")
		},
		Space: func(c *op.Call) (n, leaf int) {
			each := c.Attrs.Int("each")
			if n = (c.Attrs.Int("rows") + each - 1) / each; c.Def.Laws.Has(op.Effectful) {
				return n, n
			}
			return n, c.Attrs.Int("part")
		},
		Begin: func(c *op.Call, workers int) (op.LoopBody, error) { return beginParts(c, workers) },
	}
	loop = define.OfBody(op.Def{
		Name: "inparts",
		Doc:  "inparts goes over rows of files that it reads part by part, so that no file is in memory as a whole; the compiler makes it where memory is scarce.",
		Cost: func(s *op.Sig, out types.Type) op.Work {
			w := define.ReadCost(s, 0)
			w.Bytes += float64(s.Attrs.Int("bytes")) * float64(s.Attrs.Int("rows")) / float64(max(1, s.Attrs.Int("part")*s.Attrs.Int("each")))
			w.Flops = w.Bytes
			return w
		},
		Beside: func(s *op.Sig, _ types.Type) float64 {
			return float64(s.Attrs.Int("bytes")) * float64(max(1, s.Attrs.Int("ranks")))
		},
		Loop: run,
	})
	w := *loop
	w.Name, w.Laws, w.Shard = "inparts.write", op.Effectful, op.Shard{Kind: op.ShardSink}
	w.Doc = "inparts.write is inparts for a matrix that is written to a file."
	return loop, &w
}

// lastOf returns the index of the action of a body that is the loop: the last one but for parts of its
// results.
func lastOf(b *op.Body) int {
	k := len(b.Acts) - 1
	for b.Acts[k].Def.Control == op.Part {
		k--
	}
	return k
}

// callOf returns the call of an action, without operands and result.
func callOf(c *op.Call, a *op.Action) op.Call {
	return op.Call{Def: a.Def, Attrs: a.Attrs, Type: a.Type, Body: a.Chain, Bodies: a.Bodies,
		Part: c.Part, From: c.From, To: c.To, Env: c.Env, Read: c.Read, Stopped: c.Stopped, Wanted: c.Wanted}
}

// copied is a loop that copies a window. It goes over the rows of the window, or over those of the
// matrix if ranks share these, as they do to find mistakes in a file.
type copied struct {
	of, to *value.Dense
	row    int // the window begins in this iteration
}

// Chunk copies those of the rows lo..hi-1 that are in the window.
func (x *copied) Chunk(_, lo, hi int) error {
	if lo, hi = max(lo-x.row, 0), min(hi-x.row, x.to.Rows); lo < hi {
		window.CopyRect(x.to, window.Rect{Row: lo, Rows: hi - lo, Cols: x.to.Cols}, x.of, lo, 0)
	}
	return nil
}

// End has nothing to do: Chunk completes rows.
func (x *copied) End() error { return nil }

// picked is a loop over the rows of a matrix that takes those at the positions of a list.
type picked struct {
	c       *op.Call // the call that takes all of them
	at      *value.Dense
	rows    int  // of the matrix
	ordered bool // the positions are ascending rows, and none counts from the end
}

// beginPicked lends call c its result, whose rows only the list tells. It fails without memory for it.
func beginPicked(c *op.Call) (op.LoopBody, error) {
	x := &picked{c: c, at: c.Dense(1), rows: c.Dense(0).Rows}
	if err := c.Settle(); err != nil {
		return nil, err
	}
	if err := define.Fits(c.Type); err != nil {
		return nil, err
	}
	if c.Out == nil {
		c.Out = value.New(c.Type.Elem, c.Type.Rows, c.Type.Cols)
	}
	last := int64(0)
	x.ordered = true
	for k := range x.at.Rows {
		p := x.at.I64[k*x.at.Stride]
		x.ordered, last = x.ordered && p >= last && p < int64(x.rows), p
	}
	return x, nil
}

// Chunk takes those of the rows lo..hi-1 that are in the list. Positions that the matrix does not have
// fail in the chunk with its first row.
func (x *picked) Chunk(_, lo, hi int) error {
	row := func(k int) int {
		p := int(x.at.I64[k*x.at.Stride])
		if p < 0 {
			p += x.rows
		}
		if p < 0 || p >= x.rows {
			return 0
		}
		return p
	}
	k, end := 0, x.at.Rows
	if x.ordered {
		k = sort.Search(end, func(k int) bool { return row(k) >= lo })
		end = k + sort.Search(end-k, func(i int) bool { return row(k+i) >= hi })
	}
	for k < end {
		from := k
		for k < end && lo <= row(k) && row(k) < hi {
			k++
		}
		if from == k {
			k++
			continue
		}
		some := *x.c
		some.In = []value.Value{x.c.In[0], x.at.View(from, 0, k-from, 1)}
		some.Type.Rows, some.Out = k-from, x.c.Result().View(from, 0, k-from, x.c.Result().Cols)
		if err := some.Def.Kernel(&some); err != nil {
			return err
		}
	}
	return nil
}

// End has nothing to do: Chunk completes rows.
func (x *picked) End() error { return nil }

// alone is a loop of one iteration, which is a call.
type alone struct{ c *op.Call }

// Chunk runs the call.
func (x *alone) Chunk(_, _, _ int) error { return x.c.Def.Kernel(x.c) }

// End has nothing to do: the call has its result.
func (x *alone) End() error { return nil }

// firstRow returns the first row of operand 0 that a call reads (op.Def.RowsRead). A number that
// subscripts cannot have is brought into the range of the rows: the call fails because of it.
func firstRow(c *op.Call) int {
	r := c.Def.RowsRead(c.Attrs)
	if r.FromArg == 0 {
		return r.From
	}
	rows := c.Dense(0).Rows
	at := c.Scalar(r.FromArg).I
	if at < 0 {
		at += int64(rows)
	}
	return int(max(0, min(at, int64(rows-r.Count))))
}

// partsRun is one execution of the loop.
type partsRun struct {
	c, last    *op.Call
	made       []*made
	reads      []rowsFrom // what the loop reads of them
	body       op.LoopBody
	start      *value.Dense // the matrix that the result starts from (op.Def.Accum); nil: there is none
	rows, each int
	part, per  int
	lock       sync.Mutex // of the states of blocks
	settled    sync.Cond  // some block is there
}

func beginParts(c *op.Call, workers int) (run op.LoopBody, err error) {
	b := c.Bodies[0]
	end := lastOf(b)
	last := callOf(c, &b.Acts[end])
	x := &partsRun{c: c, last: &last, rows: c.Attrs.Int("rows"), each: c.Attrs.Int("each"), part: c.Attrs.Int("part"), per: c.Attrs.Int("per")}
	x.settled.L = &x.lock
	defer func() {
		if err != nil {
			x.Quit()
		}
	}()
	registers := append(slices.Clone(c.In), make([]value.Value, len(b.Acts))...)
	from := make([]rowsFrom, len(registers))
	for k := range b.Acts[:end+1] {
		a := &b.Acts[k]
		call := &last
		if k < end {
			made := callOf(c, a)
			call = &made
		}
		var reads []rowsFrom
		for _, r := range a.Args {
			call.In = append(call.In, registers[r])
			if f := from[r]; f.of != nil && !slices.Contains(reads, f) {
				reads = append(reads, f)
			}
		}
		if a.Def.RowsRead != nil && len(reads) > 0 && (k < end || !c.Part) {
			reads[0].down += firstRow(call)
		}
		if k == end {
			x.reads = reads
			break
		}
		at := len(c.In) + k
		if registers[at], err = x.make(k, call, workers); err != nil {
			return nil, a.Failed(k, err)
		}
		if a.Def.Look != nil {
			from[at] = reads[0]
			continue
		}
		m := x.made[len(x.made)-1]
		m.reads, from[at] = reads, rowsFrom{of: m}
	}
	x.cut()
	x.lend(b, end)
	if n := last.Def.Accum; n > 0 {
		x.start = last.Dense(n - 1)
	}
	switch {
	case last.Def.Look != nil:
		of, err := last.Def.Look(&last)
		body := &copied{of: of, to: last.Result()}
		if x.body = body; c.Part {
			body.row = firstRow(&last)
		}
		return x, err
	case last.Def.Writes != nil:
		if x.body, err = last.Def.Writes(&last); err != nil {
			return nil, x.first(len(x.made), err)
		}
		return x, nil
	case last.Def.Numbers == 1:
		if x.body, err = beginPicked(&last); err != nil {
			return nil, b.Acts[end].Failed(end, err)
		}
		return x, nil
	case last.Def.RowsRead != nil:
		x.body = &alone{&last}
		return x, nil
	case last.Def.Loop == nil:
		return nil, errors.New("BUG: inparts ends with " + last.Def.Name + ", which is no loop")
	}
	if x.body, err = last.Def.Loop.Begin(&last, workers); err != nil {
		return nil, b.Acts[end].Failed(end, err)
	}
	return x, nil
}

// make begins the loop of c, the call of action k, and returns its result. No row of it is made yet. A
// view is returned at once. It fails where the loop does, and without address space for the result.
func (x *partsRun) make(k int, c *op.Call, workers int) (value.Value, error) {
	if c.Def.Look != nil {
		return c.Def.Look(c)
	}
	m := &made{act: k, call: *c, each: c.Type.Bytes() / c.Type.Rows}
	var err error
	if m.rows, err = memory.Sparse(c.Type.Bytes()); err != nil {
		return nil, op.NoMemory(err)
	}
	x.made = append(x.made, m)
	out := value.Over(m.rows, c.Type.Elem, c.Type.Rows, c.Type.Cols)
	out.Buf, m.call.Out = nil, out
	body, err := c.Def.Loop.Begin(&m.call, workers)
	if err == nil { // otherwise it may hold a nil pointer
		m.body = body
	}
	return out, err
}

// lend gives the loop, which is action end of b, the memory that the call has for its results.
func (x *partsRun) lend(b *op.Body, end int) {
	x.last.Out = x.c.Out
	if x.last.Type.Kind != types.Tuple {
		return
	}
	x.last.Out = nil
	define.LendResults(x.last)
	given, _ := x.c.Out.(value.Tuple)
	if given == nil && x.c.Out != nil {
		given = value.Tuple{x.c.Out}
	}
	for k, r := range b.Yields {
		if k < len(given) && given[k] != nil {
			x.last.Out.(value.Tuple)[b.Acts[r-len(b.Args)].Attrs.Int("at")] = given[k]
		}
	}
}

// Chunk runs iterations lo..hi-1, part by part.
func (x *partsRun) Chunk(worker, lo, hi int) error {
	for at := lo; at < hi; at += x.part {
		to := min(at+x.part, hi)
		from, until := x.rowsOf(at, to)
		if m, err := x.wait(worker, x.reads, from, until); err != nil {
			return x.first(slices.Index(x.made, m), err)
		}
		if d := x.start; d != nil {
			window.CopyRect(x.last.Result(), window.Rect{Row: from, Rows: until - from, Cols: d.Cols}, d, from, 0)
		}
		if err := x.body.Chunk(worker, at*x.per, to*x.per); err != nil {
			return x.first(len(x.made), err)
		}
		x.done(x.reads, from, until)
	}
	return nil
}

// rowsOf returns the rows that iterations lo..hi-1 read. A chain adds some rows of each panel, and a
// rank may have no others.
func (x *partsRun) rowsOf(lo, hi int) (from, until int) {
	if _, chain := x.last.Attrs.Get("from"); !chain {
		return lo * x.each, min(hi*x.each, x.rows)
	}
	for p := lo; p < hi; p++ {
		if a, b := define.ChainRows(x.last, p); a < b {
			if from == until {
				from = a
			}
			until = b
		}
	}
	return from, until
}

// first returns the failure that comes first in the program. err is that of matrix k, or of the loop if
// there are only k matrices. An earlier file may have a mistake in rows that are not read yet, so first
// reads all rows of the files before matrix k.
func (x *partsRun) first(k int, err error) error {
	for _, m := range x.made[:k] {
		if e := x.again(m, 0, m.call.Type.Rows); e != nil {
			return e
		}
	}
	act := lastOf(x.c.Bodies[0])
	if k < len(x.made) {
		act = x.made[k].act
	}
	return x.c.Bodies[0].Acts[act].Failed(act, err)
}

// others reads the rows of tables that the loop does not read. A mistake in them fails the run.
func (x *partsRun) others() error {
	for _, m := range x.made {
		r, ok := m.body.(*rowsRead)
		if !ok || r.cuts == nil || len(m.cuts) == 0 {
			continue
		}
		if !x.c.Part || x.c.From == 0 {
			if err := x.again(m, 0, m.cuts[0]); err != nil {
				return err
			}
		}
		if !x.c.Part || x.c.To*x.each >= x.rows {
			if err := x.again(m, m.cuts[len(m.cuts)-1], m.call.Type.Rows); err != nil {
				return err
			}
		}
	}
	return nil
}

// again reads rows from..until-1 of matrix m again, if it is a file, and forgets them. It returns the
// failure of a mistake in them.
func (x *partsRun) again(m *made, from, until int) error {
	if m.call.Def.Reads == nil || from == until { // a chain cannot fail
		return nil
	}
	again := partsRun{c: x.c}
	defer again.Quit()
	_, err := again.make(m.act, &m.call, 1)
	for at := from; err == nil && at < until; at += rowsAtATime {
		to := min(at+rowsAtATime, until)
		err = again.made[0].body.Chunk(0, at, to)
		memory.Discard(again.made[0].rows[at*m.each : to*m.each])
	}
	if err != nil {
		return x.c.Bodies[0].Acts[m.act].Failed(m.act, err)
	}
	return nil
}

// End ends the loop and hands its results to the call. It fails where the loop, or a read, does.
func (x *partsRun) End() error {
	defer x.Quit()
	if err := x.others(); err != nil {
		return err
	}
	err := x.body.End()
	for _, m := range x.made {
		if e := m.body.End(); err == nil {
			err = e
		}
	}
	if err != nil {
		return err
	}
	out, several := x.last.Out.(value.Tuple)
	if !several {
		x.c.Out = x.last.Out
		return nil
	}
	b := x.c.Bodies[0]
	for k, r := range b.Yields {
		x.c.Give(k, out[b.Acts[r-len(b.Args)].Attrs.Int("at")])
	}
	return nil
}

// Quit gives back the matrices that are made in parts, and what their loops hold.
func (x *partsRun) Quit() {
	op.Quit(x.body)
	for _, m := range x.made {
		op.Quit(m.body)
		memory.Unmap(m.rows)
	}
	x.made = nil
}
