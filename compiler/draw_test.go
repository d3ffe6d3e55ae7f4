package compiler_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"flow/compiler"
	"flow/kernels"
	"flow/runtime/local"
)

// A parfor that reads its own rows of a constructor gives what it gives when the matrix is stored,
// whatever part of it is read, in loops and branches of the body, on any number of workers, and
// fails in the same iteration.
func TestParforDraws(t *testing.T) {
	table := tinyTable(t)
	made := []string{"rand(%d, 3, seed = 1)", "randn(%d, 3, seed = 2)", "seq(0, %d)", "zeros(%d, 3)", "fill(2, %d, 3)", "eye(%d)[:, 0..3]", "ones(%d, 3)"}
	for seed := range uint64(24) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n, lo := 1+rng.IntN(520), rng.IntN(3)
		read := func() string {
			return []string{"f64(X[i, 0])", "f64(X[i, -1])", "f64(X[i, k])", "f64(Y[i, 0])", "f64(Y[i, 2 * (i % 2)])", "f64(i)"}[rng.IntN(6)]
		}
		k := []string{"0", "X.cols - 1", "i % X.cols", "(7 - i) // 5"}[rng.IntN(4)] // the last leaves the matrix, in some iterations
		body := []string{"%s + %s", "a = %s\n b = %s\n if a < 0.5 { a - b } else { b * 2 }", "a = %s\n b = %s\n iterate z = a, j = 0 until z > 4 or j == 20 { next z = z * 1.5 + b\n next j = j + 1 }\n z"}[rng.IntN(3)]
		text := fmt.Sprintf("X = %s\nY = %s\nemit parfor i in %d..%d { k = %s\n %s }\n", fmt.Sprintf(made[rng.IntN(len(made))], n+lo), fmt.Sprintf(made[rng.IntN(2)], n+lo+1), lo, n+lo,
			k, fmt.Sprintf(body, read(), read()))
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {1, 2, []string{"fuse"}, false, ""}, {2, 1, nil, false, ""}}).differ(table, text); err != nil {
			t.Fatalf("seed %d: %v\nin\n%s", seed, err, text)
		}
	}
}

// What is not the iteration's own row is not made by it: rows beyond the matrix, counted from its
// end, or of other iterations.
func TestParforDrawsItsOwnRows(t *testing.T) {
	table := tinyTable(t)
	for _, c := range []struct {
		loop  string
		fails bool
	}{
		{"parfor i in 0..5 { X[i, 0] - X[i, 2] }", false},
		{"parfor i in 0..6 { X[i, 0] }", true},
		{"parfor i in 2..6 { X[i, 1] }", true},
		{"parfor i in -2..3 { X[i, 0] }", false},
		{"parfor i in -6..3 { X[i, 0] }", true},
		{"parfor i in 0..5 by 2 { X[i, 0] }", false},
		{"parfor i in 0..7 by 2 { X[i, 0] }", true},
		{"parfor i in 0..5 { X[4 - i, 0] }", false},
		{"parfor i in 0..5 { X[i, 0] + X[4 - i, 0] }", false},
		{"parfor i in 0..5, j in 0..5 { X[i, 0] * X[j, 1] }", false},
		{"parfor i in 0..5 { X[i, :] + X[i, 0] }", false},
		{"parfor i in 0..5 { if i % 2 == 0 { X[i, 0] } else { 0.0 } }", false},
		{"(parfor i in 0..5 { X[i, 0] }) + X[:, 1]", false},
	} {
		for _, made := range []string{"rand(5, 3, seed = 1)", "seq(0, 15, step = 0.5)[0..5, :] @ ones(1, 3)", "fill(2.5, 5, 3)"} {
			text := "X = " + made + "\nemit " + c.loop + "\n"
			o, err := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, ""}, {1, 2, []string{"fuse"}, false, ""}}.differ(table, text)
			if err != nil {
				t.Errorf("%v\nin\n%s", err, text)
			} else if o.failed != c.fails {
				t.Errorf("failed: %v, want %v (%v), in\n%s", o.failed, c.fails, o.err, text)
			}
		}
	}
}

// lending is what a program takes without some passes, in bytes.
type lending struct {
	disable []string
	lent    int64
}

// The darts of examples/pi.flow are thrown and stored nowhere; nor are their distances, where rows are
// added.
func TestDartsAreNotStored(t *testing.T) {
	const n = 300_000
	text := fmt.Sprintf("X = rand(%d, 2, seed = 1)\nhits = parfor i in 0..%d { X[i,0] ^ 2 + X[i,1] ^ 2 < 1 }\nemit 4 * mean(hits)\n", n, n)
	lends(t, text, []lending{{nil, n}, {[]string{"fuse"}, 17 * n}}) // a truth value a dart, and two f64 where they are stored
	text = fmt.Sprintf("X = rand(%d, 2, seed = 1)\nemit 4 * count(rowsum(X ^ 2) < 1) / %d\n", n, n)
	lends(t, text, []lending{{nil, 0}, {[]string{"row-blocks"}, 8 * n}})
}

// lends runs a program on one to three workers.
func lends(t *testing.T, text string, ways []lending) {
	t.Helper()
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	printed := ""
	for _, c := range ways {
		r, ds := compiler.Compile(context.Background(), "x.flow", []byte(text), compiler.Options{Table: table, Disable: c.disable, Verify: true})
		if ds.HasErrors() {
			t.Fatal(ds)
		}
		for workers := 1; workers <= 3; workers++ {
			p := &printer{}
			pool := local.NewPool(workers)
			rep, err := local.RunPlan(context.Background(), pool, r.Plan, local.EngineOptions{Env: p})
			pool.Close()
			if err != nil {
				t.Fatal(err)
			}
			if got := rep.BytesLent + rep.BytesReused; got < c.lent || got > c.lent+1000 {
				t.Errorf("without %v, %d workers lent %d bytes, want %d", c.disable, workers, got, c.lent)
			}
			if printed == "" {
				printed = p.out.String()
			} else if printed != p.out.String() {
				t.Errorf("without %v, %d workers print %s, and before %s", c.disable, workers, p.out.String(), printed)
			}
		}
	}
}
