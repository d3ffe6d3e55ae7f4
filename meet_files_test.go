package flow

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"flow/ir"
	"flow/ir/plan"
	"flow/kernels/format"
	"flow/memory"
	"flow/runtime/dist/transport/mem"
)

// tasksShared counts what rank 0 has read together with others.
var tasksShared atomic.Int32

// readTogether compiles and runs a program on ranks that share no Input, as processes do.
func readTogether(t *testing.T, ranks int, text string) (out string, ins []*Input, errs []error) {
	t.Helper()
	out, ins, errs, _ = reportTogether(t, ranks, text)
	return out, ins, errs
}

// reportTogether is readTogether, with rank 0's report of all ranks.
func reportTogether(t *testing.T, ranks int, text string) (out string, ins []*Input, errs []error, report *Report) {
	t.Helper()
	comms := mem.New(ranks, mem.Options{})
	var printed bytes.Buffer
	ins, errs = make([]*Input, ranks), make([]error, ranks)
	var all sync.WaitGroup
	for rank, comm := range comms {
		ins[rank] = &Input{}
		all.Go(func() {
			ctx, in := context.Background(), ins[rank]
			var p *Program
			var err error
			compile := func() {
				p, err = Compile(ctx, "a.flow", []byte(text), CompileOptions{Ranks: ranks, Input: in, Dump: func(pass string, _ *ir.Graph) {
					if in.Share != nil {
						t.Errorf("rank 0 has not told what it has read when pass %s ends", pass)
					}
				}})
			}
			told := ReadTogether(ctx, comm, in)
			if rank == 0 {
				if share := in.Share; share != nil {
					in.Share = func(task format.Task) (format.Answer, error) {
						tasksShared.Add(1)
						return share(task)
					}
				}
				compile()
			}
			if late := told(); late != nil || in.Share != nil {
				t.Error(late, "or rank 0 asks on")
			}
			if rank > 0 {
				compile()
			}
			if err != nil {
				if late := Decline(ctx, comm, err, "no", MeetOptions{}); late != nil {
					t.Error(late)
				}
				errs[rank] = err
				return
			}
			if p, err = p.Meet(ctx, comm, MeetOptions{}); err == nil {
				o := RunOptions{Threads: 1}
				if rank == 0 {
					o.Stdout = &printed
				}
				var r *Report
				if r, err = p.RunRank(ctx, comm, o); rank == 0 {
					report = r
				}
			}
			errs[rank] = err
		})
	}
	all.Wait()
	return printed.String(), ins, errs, report
}

// What a whole file has to be read for, one rank reads.
func TestOneRankReadsFiles(t *testing.T) {
	dir := t.TempDir()
	var edges, table strings.Builder
	for i := range 100000 {
		fmt.Fprintf(&edges, "%d %d\n", i%300, i*7%300)
	}
	for i := range 300 {
		fmt.Fprintf(&edges, "%d %d\n", i, i*i%300)
		fmt.Fprintf(&table, "%d,%d.5\n", i, i*7%11)
	}
	files := map[string]string{"g.txt": edges.String(), "x.csv": table.String()}
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte(edges.String())); err != nil || zip.Close() != nil {
		t.Fatal(err)
	}
	files["g.txt.gz"] = packed.String() // which has no blocks that other ranks could read
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	// To order a chain of products, the counts of rows and columns are needed early.
	chain := "emit sum(G @ t(G) @ X)\n"
	for _, c := range []struct{ graph, more string }{{"g.txt", chain}, {"g.txt.gz", chain}, {"g.txt.gz", ""}} {
		graph := c.graph
		g, x := filepath.Join(dir, graph), filepath.Join(dir, "x.csv")
		text := fmt.Sprintf("G = read_graph(%q)\nX = read(%q)\niterate c = seq(1, G.rows + 1), k = 0 until k == 5 {\n  next c = max(c, rowmax(G * t(c)))\n  next k = k + 1\n}\n"+
			"emit sum(c)\nemit sum(G @ X)\n", g, x) + c.more
		want, _, _ := readTogether(t, 1, text)
		for _, ranks := range []int{2, 3} {
			out, ins, errs := readTogether(t, ranks, text)
			if out != want || want == "" {
				t.Errorf("%s: %d ranks print %q, not %q (%v)", graph, ranks, out, want, errs)
			}
			for rank, in := range ins {
				if read := len(in.Learned()); (read == 2) != (rank == 0) || rank > 0 && read != 0 {
					t.Errorf("%s: rank %d of %d has read %d files before the run", graph, rank, ranks, read)
				}
			}
		}
	}
}

// Ranks parse a large Matrix Market file together, and the others read none of it alone.
func TestRanksParseTogether(t *testing.T) {
	dir := t.TempDir()
	dense, sparse := filepath.Join(dir, "d.mtx"), filepath.Join(dir, "s.mtx")
	made := compiled(t, fmt.Sprintf("emit rand(200, 300, seed = 3) to %q\nemit rand_sparse(3000, 3000, 0.01, seed = 2) to %q\n", dense, sparse), 1)
	if _, err := made.Run(context.Background(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("D = read(%q)\nS = read(%q, sparse = true)\nemit sum(t(D) @ D)\nemit S @ ones(3000, 1)\nemit sum(S)\n", dense, sparse)
	want, _, _ := readTogether(t, 1, text)
	for _, ranks := range []int{2, 5} {
		tasksShared.Store(0)
		got, _, errs := readTogether(t, ranks, text)
		if got != want || want == "" {
			t.Errorf("%d ranks print %q, not %q (%v)", ranks, got, want, errs)
		}
		if n := tasksShared.Load(); n != 2 {
			t.Errorf("%d ranks share %d tasks of reading, not 2", ranks, n)
		}
	}
}

// Ranks read the parts of a file that they need, if it has parts that can be read alone; otherwise one
// rank reads all of it.
func TestRanksReadParts(t *testing.T) {
	dir := t.TempDir()
	for name, most := range map[string]int{"a.npy": 3, "a.npy.gz": 1, "a.csv": 3, "a.csv.gz": 1, "a.mtx": 1} {
		path := filepath.Join(dir, name)
		made := compiled(t, fmt.Sprintf("emit rand(600, 500, seed = 3) to %q\n", path), 1)
		if _, err := made.Run(context.Background(), RunOptions{}); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("A = read(%q)\nemit sum(t(A) @ A)\nemit sum(A * 2)\n", path)
		var want, got bytes.Buffer
		if _, err := compiled(t, text, 1).Run(context.Background(), RunOptions{Stdout: &want}); err != nil {
			t.Fatal(err)
		}
		p := compiled(t, text, 3)
		if _, err := p.Run(context.Background(), RunOptions{Stdout: &got, Threads: 1}); err != nil || got.String() != want.String() {
			t.Errorf("%s: three ranks print %q, not %q (%v)", name, got.String(), want.String(), err)
		}
		readers := map[int]bool{}
		for i, n := range p.Compiled().Plan.Graph.Nodes {
			switch r := p.Compiled().Plan.Rank(ir.ID(i)); {
			case n.Op.Reads == nil:
			case r != plan.Everywhere:
				readers[r] = true
			case n.Attrs.Int(plan.SharedRows) == 0:
				t.Errorf("%s: every rank reads the whole file", name)
			default:
				for r := range 3 {
					readers[r] = true
				}
			}
		}
		if len(readers) != most {
			t.Errorf("%s: %d ranks read the file, not %d", name, len(readers), most)
		}
	}
}

// Ranks that share the rows of a file in units, because a loop adds panels of its rows, read whole
// units.
func TestRanksReadUnits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.npy")
	if _, err := compiled(t, fmt.Sprintf("emit rand(60000, 20, seed = 3) to %q\n", path), 1).Run(context.Background(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("A = read(%q)\nemit sum(A * 2)\nemit t(onehot(i64(A[:, 0] * 10), 10)) @ A\n", path)
	want := ""
	for _, ranks := range []int{1, 2, 3, 5} {
		var got bytes.Buffer
		p := compiled(t, text, ranks)
		if _, err := p.Run(context.Background(), RunOptions{Stdout: &got, Threads: 1}); err != nil {
			t.Fatal(err)
		}
		if ranks == 1 {
			want = got.String()
		}
		if got.String() != want {
			t.Errorf("%d ranks print %q, not %q", ranks, got.String(), want)
		}
		units := slices.ContainsFunc(p.Compiled().Plan.Graph.Nodes, func(n ir.Node) bool { return n.Op.Reads != nil && n.Attrs.Int(plan.Unit) > 1 })
		if ranks == 2 && !units {
			t.Error("the rows of the file are not shared in units")
		}
	}
}

// Ranks that share the rows of a .csr read their own; a damaged file is the same failure on all.
func TestRanksReadRowsOfCSR(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.csr")
	made := compiled(t, fmt.Sprintf("emit rand_sparse(9000, 9000, 0.003, seed = 2) to %q\n", path), 1)
	if _, err := made.Run(context.Background(), RunOptions{}); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("S = read(%q, sparse = true)\niterate c = f64(seq(1, S.rows + 1)), k = 0 until k == 4 {\n  next c = max(c, rowmax(S * t(c)))\n  next k = k + 1\n}\nemit sum(c)\nemit c[-1, :]\n", path)
	for _, damaged := range []bool{false, true} {
		if damaged {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)-100] ^= 1
			if err := os.WriteFile(path, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, _, told := readTogether(t, 1, text)
		if (told[0] != nil) != damaged {
			t.Fatal(told)
		}
		for _, ranks := range []int{2, 3, 5, 16} {
			got, _, errs := readTogether(t, ranks, text)
			var one bytes.Buffer
			p := compiled(t, text, ranks)
			_, err := p.Run(context.Background(), RunOptions{Stdout: &one, Threads: 1})
			for rank, e := range append(errs, err) {
				if got != want || one.String() != want || onRank.ReplaceAllString(fmt.Sprint(e), "") != fmt.Sprint(told[0]) {
					t.Errorf("%d ranks print %q and %q, not %q; rank %d: %v, not %v", ranks, got, one.String(), want, rank, e, told[0])
				}
			}
			for i, n := range p.Compiled().Plan.Graph.Nodes {
				if n.Op.Reads != nil && (p.Compiled().Plan.Rank(ir.ID(i)) != plan.Everywhere || n.Attrs.Int(plan.SharedRows) == 0) {
					t.Errorf("%d ranks do not share the rows", ranks)
				}
			}
		}
	}
}

// A file that is written to between check and run is a failure, the same on any number of ranks.
func TestFilesThatChange(t *testing.T) {
	row := "1,2,3,4,5,6,7,8\n"
	for name, change := range map[string]string{
		"shorter": strings.Repeat(row, 9999),
		"cut":     strings.Repeat(row, 9999) + "1,2",
		"longer":  strings.Repeat(row, 20001),
		"other":   strings.Repeat(row, 19999) + "8,7,6,5,4,3,2,1\n",
	} {
		for _, ranks := range []int{1, 2, 3, 5, 16} {
			path := filepath.Join(t.TempDir(), "x.csv")
			write := func(text string, at time.Time) {
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
			write(strings.Repeat(row, 20000), time.Unix(1e9, 0))
			p := compiled(t, fmt.Sprintf("X = read(%q)\nemit sum(X * 2)\nemit sum(t(X) @ X)\n", path), ranks)
			write(change, time.Unix(2e9, 0))
			var out bytes.Buffer
			_, err := p.Run(context.Background(), RunOptions{Stdout: &out})
			if err == nil || !strings.Contains(err.Error(), "error[E606]: read: "+path+" changed while the program ran") || out.Len() > 0 {
				t.Errorf("%s, %d ranks: %v, printed %q", name, ranks, err, out.String())
			}
		}
	}
}

// compiled compiles a program for so many ranks.
func compiled(t *testing.T, text string, ranks int) *Program {
	t.Helper()
	p, err := Compile(context.Background(), "a.flow", []byte(text), CompileOptions{Ranks: ranks})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A mistake in a file is the same failure on any number of ranks, in whichever rank's rows it is, and
// so is a file that is read without one.
func TestMistakesInParts(t *testing.T) {
	failed := func(err error) string { // without the rank
		return onRank.ReplaceAllString(fmt.Sprint(err), "")
	}
	rows := func(n int, change func(i int) string) string {
		var b strings.Builder
		for i := range n {
			if s := change(i); s != "" {
				b.WriteString(s)
			} else {
				fmt.Fprintf(&b, "%d,%d.25,%d\n", i, i%7, i*i%100)
			}
		}
		return b.String()
	}
	at := func(line int, text string) func(int) string {
		return func(i int) string {
			if i == line {
				return text
			}
			return ""
		}
	}
	const n = 60000 // enough for blocks and for ranks to share
	for name, text := range map[string]string{
		"right":       rows(n, at(-1, "")),
		"first part":  rows(n, at(5, "1,x,3\n")),
		"last part":   rows(n, at(n-2, "1,2\n")),
		"two":         rows(n, func(i int) string { return at(n/3, "1,2,3,4\n")(i) + at(n/2, "y,2,3\n")(i) }),
		"field":       rows(n, at(n*2/3, "1, 2.5x,3\n")),
		"names":       "a,b,c\n" + rows(n, at(n*2/3, "1,2,\"x\"\n")),
		"no end":      rows(n, at(n-1, "1,2,3")),
		"returns":     strings.ReplaceAll(rows(n, at(n/2, "1,2,3\n\n\n")), "\n", "\r\n"),
		"quotes":      rows(n, at(n/2, "\"1\",\"\n2\",3\n4,5,6\n")),
		"more quotes": rows(n, at(n/2, "\"1\",\"\n2\",3\n4,5\n")),
		"not closed":  rows(n, at(n/2, "\"1,2,3\n")),
		"few":         "1,2,3\n4,5,6\n",
		"few wrong":   "1,2,3\n4,5\n",
		"empty":       "",
		"one line":    "1,2,3",
		"return":      strings.ReplaceAll(rows(9, at(-1, "")), "\n", "\r"),
	} {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		program := fmt.Sprintf("emit \"first\"\nX = read(%q)\nemit sum(X * 2)\nemit sum(t(X) @ X)\nemit X[-1, :]\n", path)
		want, told := "", ""
		for _, ranks := range []int{1, 2, 3, 5, 16} {
			got, _, errs := readTogether(t, ranks, program)
			if ranks == 1 {
				want, told = got, failed(errs[0])
			}
			if got != want {
				t.Errorf("%s: %d ranks print %q, not %q", name, ranks, got, want)
			}
			for rank, e := range errs {
				if failed(e) != told {
					t.Errorf("%s: rank %d of %d fails with\n%v\nnot\n%s", name, rank, ranks, e, told)
				}
			}
		}
		if (told == "<nil>") != slices.Contains([]string{"right", "no end", "returns", "quotes", "few", "one line", "return"}, name) {
			t.Errorf("%s: %q", name, told)
		}
	}
}

// Ranks with more memory, or fewer beside them, choose the plan that fits on the one with the least.
func TestRanksAgreeOnMemory(t *testing.T) {
	const square = "A = rand(1000, 1000, seed = 1)\nB = t(A) + A\nemit sum(B @ A)\nemit B[0..2, 0..2]"
	rooms := []room{{memory.Limit{Bytes: 100 << 20, By: "a"}, 2}, {memory.Limit{Bytes: 27 << 20, By: "b"}, 0}, {memory.Limit{}, 1}}
	errs, shares := make([]error, len(rooms)), make([]string, len(rooms))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	for rank, comm := range mem.New(len(rooms), mem.Options{}) {
		all.Go(func() {
			o := CompileOptions{Ranks: len(rooms), Memory: rooms[rank].Memory, Together: rooms[rank].Together, Input: &Input{}}
			if errs[rank] = ShareMemory(ctx, comm, &o); errs[rank] != nil {
				return
			}
			p, err := Compile(ctx, "x.flow", []byte(square), o)
			if errs[rank] = err; err != nil {
				stop() // the others would wait for this rank
				return
			}
			shares[rank] = p.made.Plan.Shares
			_, errs[rank] = p.Meet(ctx, comm, MeetOptions{})
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil || !strings.HasPrefix(shares[0], "in blocks: by rows their values") {
		t.Fatalf("%v, matrices are shared %q", err, shares)
	}
}
