package compiler_test

import (
	"testing"

	"flow/ir/op"
	"flow/runtime/dist/transport/mem"
)

// columnPrograms reduce the columns of tiles to extremes, counts and truths.
var columnPrograms = []string{
	`chan T: grid[3] of f64[4,3]
for i in 0..3 { T[i] <- rand(4, 3, seed = i + 1) - 0.5 }
X = untile(T)
emit colmax(abs(X))
emit colmin(X * 2)
emit colcount(X > 0.1)
emit sum(X / colmax(X))`,
	`A = randn(10, 7, seed = 3)
chan T = tiles(A @ t(A), 4)
for i in 0..T.rows, j in 0..T.cols { T[i,j] <- T[i,j] - 1 }
emit colmax(untile(T) + 1)
emit sum(colmin(abs(untile(T))))
emit max(colmax(-untile(T)))
emit colany(untile(T) > 3)
emit colargmax(untile(T))`,
	`chan T: grid[2] of f64[4,4]
for i in 0..2 { T[i] <- ifelse(rand(4, 4, seed = i + 1) < 0.2, nan, -0.0) }
emit colmax(untile(T) * 1.0)
emit colmin(untile(T) + 0.0)`,
}

// Ranks reduce the columns of the tiles that they have, and send one number for each column. No rank
// makes the whole matrix.
func TestColumnsOfTiles(t *testing.T) {
	table := tinyTable(t)
	for k, text := range columnPrograms {
		known := meanings{}
		for _, ranks := range []int{1, 2, 3, 5} {
			c, err := compileTiny(table, text, ranks, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			joins := 0
			for i := range c.Plan.Graph.Nodes {
				switch n := &c.Plan.Graph.Nodes[i]; {
				case n.Op.Name == "max.join" || n.Op.Name == "min.join":
					joins++
				case n.Op.Role == op.Lays && ranks > 1 && k != 1: // program 1 has other reductions, too
					t.Errorf("program %d on %d ranks lays a matrix out", k, ranks)
				}
			}
			if ranks > 1 && joins < 2 {
				t.Errorf("program %d on %d ranks: %d extremes are joined", k, ranks, joins)
			}
			want := known.of("the meaning", c.Program)
			if of := known.of("the plan", c.Plan.Graph); of.out != want.out || of.failed {
				t.Errorf("program %d, %d ranks: by its definition the plan prints %s (%v)", k, ranks, difference(want.out, of.out), of.err)
			}
			if ranks == 1 {
				continue
			}
			for _, o := range slowTransports {
				if out, err := runOver(mem.New(ranks, o), c, 1); err != nil || out != want.out {
					t.Errorf("program %d, %d ranks: %v, %s", k, ranks, err, difference(want.out, out))
				}
			}
		}
	}
}

// Tiles of reductions of columns: how their readers cut the row of results says nothing about the rows
// that are reduced. Those were as few as the tiles have.
func TestTilesOfColumns(t *testing.T) {
	table := tinyTable(t)
	for _, of := range []string{"colsum(X)", "colmax(X * 2)", "colcount(X > 0)", "colargmin(X)", "colmean(X)", "colany(X == 3)"} {
		text := "X = randint(17, 8, -4, 5, seed = 28)\ny = " + of + "\nchan T = tiles(y, 2)\nemit untile(T)\n" +
			"chan U = tiles(y != 0, 1)\nU[0,3] <- not U[0,2]\nemit untile(U)\n"
		var rs runs
		for ranks := 1; ranks <= 5; ranks++ {
			rs = append(rs, runs{{ranks, 1, nil, false, ""}, {ranks, 1, []string{"fuse"}, true, ""}}...)
		}
		if o, err := rs.differ(table, text); err != nil || o.failed {
			t.Errorf("%v, %v in\n%s", err, o.err, text)
		}
	}
}

// A large matrix, or its transpose, times a column is a loop, and the matrix stays whole. If the matrix
// is in blocks for another product, this one is by blocks, too: no program lays the matrix out.
func TestTimesColumn(t *testing.T) {
	table := tinyTable(t)
	for _, p := range []struct {
		text   string
		blocks bool
	}{
		{"emit A @ x\nemit rowsum(A)", false},
		{"emit A @ x\nemit max(A @ B)", true},
		{"emit t(B) @ x", false},
	} {
		text := "A = exp(-abs(seq(0, 61) - t(seq(0, 8))))\nB = exp(-abs(seq(0, 8) - t(seq(0, 61))))\nx = rand(8, 1, seed = 1)\n" + p.text
		c, err := compileTiny(table, text, 1, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		products, lays := 0, 0
		for i := range c.Plan.Graph.Nodes {
			switch c.Plan.Graph.Nodes[i].Op.Role {
			case op.Multiplies, op.MultipliesOnto:
				products++
			case op.Lays:
				lays++
			}
		}
		if lays > 0 && !p.blocks || products > 1 != p.blocks {
			t.Errorf("%d products, %d matrices laid out:\n%s\n%s", products, lays, text, c.Plan.Graph)
		}
		if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, []string{"partition"}, false, "SS"}, {3, 1, nil, false, ""}}).differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
}
