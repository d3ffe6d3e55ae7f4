package format

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// A CSV that is read by rows has the same shape, numbers and first mistake as one that is read from the
// beginning, wherever blocks and rows are cut.
func TestCuts(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	pieces := []string{"1", "2.5", ",", ",", ",3\n", "\n", "\r\n", " ", "\"", "\"4\n\"", "\"5\"", "\"\n\n6\"", "NA", "x", "\n1,2\n", "\n7,8\n", "\n\"9\",1\r\n", ",\"a\"\"b\""}
	cut, failed, quoted := 0, 0, 0
	for range 800 {
		text := strings.Repeat("1,2\n", r.IntN(3))
		if r.IntN(4) == 0 {
			text = []string{"a,b\n", "\n\n\"a\nb\",c\r\n", "\ufeff1,2\n", "\ufeffa,b\n"}[r.IntN(4)]
		}
		most := []int{2, 6, len(pieces)}[r.IntN(3)]
		for range r.IntN(20) {
			if r.IntN(2) == 0 {
				text += "3,4\n"
			} else {
				text += pieces[r.IntN(most)]
			}
		}
		if text == "" {
			continue
		}
		path := put(t, "a.csv", text)
		h, cuts, ok := cutRows(path, Options{}, 1+r.Int64N(9))
		want, wrong := statOf(path, Options{})
		if !ok {
			if wrong == nil && !strings.Contains(text, "\r") {
				t.Fatalf("%q is not cut", text)
			}
			continue
		}
		if cut++; wrong != nil || h.Type() != want.Type() {
			t.Fatalf("%q: %v and %v (%v)", text, h.Type(), want.Type(), wrong)
		}
		if h.Rows > 0 && len(cuts.At) > 1 && strings.Contains(text, "\"") {
			quoted++
		}
		d, err := Read(path, Options{})
		x, openErr := cuts.Open(path, Options{})
		if openErr != nil {
			t.Fatal(openErr)
		}
		for range 4 {
			lo := r.IntN(h.Rows + 1)
			hi := lo + r.IntN(h.Rows-lo+1)
			col := r.IntN(h.Cols)
			cols := h.Cols - col
			if r.IntN(2) == 0 {
				col, cols = 0, h.Cols
			}
			out := value.New(types.F64, hi-lo, cols)
			got := x.Read(out, lo, col)
			switch {
			case got != nil && (err == nil || got.Error() != err.Error() || got.(*Error).Help != err.(*Error).Help):
				t.Fatalf("%q, rows %d..%d: %v, want %v", text, lo, hi, got, err)
			case got == nil && err == nil:
				if a, b := fmt.Sprint(out.F64), fmt.Sprint(d.View(lo, col, hi-lo, cols).Clone().F64); a != b {
					t.Fatalf("%q, rows %d..%d: %s, want %s", text, lo, hi, a, b)
				}
			case got != nil:
				failed++
			}
		}
		if all := x.Read(value.New(types.F64, h.Rows, h.Cols), 0, 0); (all == nil) != (err == nil) {
			t.Fatalf("%q: %v, want %v", text, all, err)
		}
		x.Close()
	}
	if cut < 200 || failed < 30 || quoted < 30 {
		t.Errorf("%d files were cut, %d parts failed, %d files have quotes", cut, failed, quoted)
	}
}

// inRanges does a task in random ranges of blocks, as ranks do.
func inRanges(r *rand.Rand, c Task) (all Answer, err error) {
	for k := 0; k < c.Blocks() && err == nil; {
		n := 1 + r.IntN(c.Blocks()-k)
		var a Answer
		a, err = c.Range(k, k+n)
		all.Parts, k = append(all.Parts, a.Parts...), k+n
	}
	return all, err
}

// A list of edges that is read by blocks is the same graph as one that is read from the beginning. One
// with a mistake is not, so that the mistake is reported with its place.
func TestCutEdges(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 2))
	pieces := []string{"1 2\n", "3\t4\r\n", "# a comment\n", "\n", "17,5\n", "1 2\n", "0 0\n", " 8  9 \n", "x 1\n", "4\n"}
	cut, wrong := 0, 0
	for range 300 {
		text := []string{"", "from,to\n", "# from to\n"}[r.IntN(3)]
		most := len(pieces) - []int{0, 2, 2, 2}[r.IntN(4)]
		for range r.IntN(40) {
			text += pieces[r.IntN(most)]
		}
		if text += []string{"", "5 6", "5 "}[r.IntN(3)]; text == "" {
			continue
		}
		path := put(t, []string{"g.txt", "g.csv"}[r.IntN(2)], text)
		want, err := ReadGraph(path, Options{})
		got, ok := cutEdges(path, Options{Share: func(c Task) (Answer, error) { return inRanges(r, c) }}, 1+r.Int64N(30))
		switch {
		case ok && err != nil:
			t.Fatalf("%q is read, and not with %v", text, err)
		case ok:
			cut++
			if got.Rows != want.Rows || fmt.Sprint(got.Ptr, got.Col) != fmt.Sprint(want.Ptr, want.Col) {
				t.Fatalf("%q: %v, want %v", text, got, want)
			}
		case err != nil:
			wrong++
		}
	}
	if cut < 50 || wrong < 20 {
		t.Errorf("%d lists were cut, %d have mistakes", cut, wrong)
	}
}

// A Matrix Market file that is read by blocks gives the same matrix, or the same mistake, as one that
// is read from the beginning, dense and sparse.
func TestCutMarket(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 3))
	cut, wrong := 0, 0
	for range 300 {
		n, m := 1+r.IntN(6), 1+r.IntN(6)
		field := []string{"real", "integer", "pattern"}[r.IntN(3)]
		kind := []string{"coordinate", "array"}[r.IntN(2)]
		sym := []string{"general", "general", "symmetric", "skew-symmetric"}[r.IntN(4)]
		if field == "pattern" {
			kind, sym = "coordinate", []string{"general", "symmetric"}[r.IntN(2)]
		}
		if sym != "general" {
			m = n
		}
		value := func() string {
			switch field {
			case "real":
				return fmt.Sprintf(" %.3g", r.NormFloat64())
			case "integer":
				return fmt.Sprint(" ", r.IntN(9)-4)
			}
			return ""
		}
		entries := r.IntN(40)
		var body strings.Builder
		if kind == "array" {
			entries = n * m
			switch sym {
			case "symmetric":
				entries = n * (n + 1) / 2
			case "skew-symmetric":
				entries = n * (n - 1) / 2
			}
		}
		for range entries {
			i, j := 1+r.IntN(n), 1+r.IntN(m)
			if sym != "general" {
				i, j = max(i, j), min(i, j)
			}
			if sym == "skew-symmetric" && i == j && r.IntN(20) > 0 {
				if i = n; n == 1 {
					continue
				}
				j = 1 + r.IntN(n-1)
			}
			if kind == "coordinate" {
				fmt.Fprint(&body, i, " ", j)
			}
			body.WriteString(value() + []string{"\n", "\r\n", "\n\n", "\n% a comment\n"}[r.IntN(4)])
		}
		if r.IntN(6) == 0 {
			body.WriteString([]string{"x\n", "1 1 1 1 1\n", "7 1 1"}[r.IntN(3)])
		}
		size := fmt.Sprint(n, " ", m)
		if kind == "coordinate" {
			size += fmt.Sprint(" ", entries)
		}
		path := put(t, "a.mtx", fmt.Sprintf("%%%%MatrixMarket matrix %s %s %s\n%% c\n%s\n%s", kind, field, sym, size, body.String()))
		for _, sparse := range []bool{false, true} {
			if sparse && kind == "array" {
				continue
			}
			read := func(whole bool) (text string, was bool, err error) {
				err = open(path, MatrixMarket, Options{}, func(in *input) (err error) {
					r := &marketReader{lineReader: lineReader{in: in}}
					if sparse {
						r.sparse = &triples{}
					}
					if err = r.head(); err != nil {
						return err
					}
					if r.out, err = in.matrix(r.Header); err != nil {
						return err
					}
					if sparse {
						r.sparse.header = r.Header
					}
					if !whole {
						was, err = r.cut(Options{Share: Task.All}, 1+int64(len(body.String())%20))
					}
					if !was && err == nil {
						err = r.body()
					}
					if err != nil {
						return err
					}
					if sparse {
						m, err := r.sparse.build(in)
						text = fmt.Sprint(m)
						return err
					}
					text = fmt.Sprint(r.out)
					return nil
				})
				return text, was, err
			}
			want, _, err := read(true)
			got, was, failed := read(false)
			if got != want || fmt.Sprint(failed) != fmt.Sprint(err) {
				t.Fatalf("%s %s %s: %s (%v), want %s (%v), of\n%s", kind, field, sym, got, failed, want, err, body.String())
			}
			if was {
				cut++
			}
			if err != nil {
				wrong++
			}
		}
	}
	if cut < 100 || wrong < 20 {
		t.Errorf("%d files were cut, %d have mistakes", cut, wrong)
	}
}
