package inout

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/kernels/format"
	"flow/kernels/rowtest"
)

// The loop of read makes the matrix of its definition, all of it and blocks, from files that are cut.
func TestReadAsLoop(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	var text strings.Builder
	const rows, cols = 9000, 7
	for range rows {
		for j := range cols {
			fmt.Fprintf(&text, "%.*g%c", 1+r.IntN(15), r.NormFloat64(), ",\n"[j/(cols-1)])
		}
		if r.IntN(9) == 0 {
			text.WriteString(" \r\n")
		}
	}
	d := Rows(&Input{})[0]
	csv, npy := filepath.Join(t.TempDir(), "a.csv"), filepath.Join(t.TempDir(), "a.npy")
	if err := os.WriteFile(csv, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	made := false
	for _, path := range []string{csv, npy} {
		for _, at := range [][]int{nil, {1000, 0, 8000, cols}, {10, 2, 8000, 4}} {
			attrs := op.MakeAttrs(op.Attr{Name: "path", Val: op.Str(path)})
			if at != nil {
				attrs = attrs.With("at", op.Ints(at...))
			}
			c := &op.Call{Def: d, Attrs: attrs}
			var err error
			if c.Type, err = d.Type(&op.Sig{Def: d, Attrs: attrs}); err != nil {
				t.Fatal(err)
			}
			want, err := d.Ref(c)
			if err != nil {
				t.Fatal(err)
			}
			n, leaf := d.Loop.Space(c)
			if narrow := at != nil && at[3] < cols; (n == 0) != (path == csv && narrow) {
				t.Errorf("%s at %v: %d iterations in leaves of %d", path, at, n, leaf)
			}
			rowtest.CheckLoop(t, c, want)
			rowtest.Lend(c)
			if err := d.Kernel(c); err != nil {
				t.Fatal(err)
			}
			if msg := rowtest.Differ(c.Out, want); msg != "" {
				t.Errorf("%s at %v: %s", path, at, msg)
			}
			if !made {
				made = true
				var b bytes.Buffer
				if err := format.Write(&b, npy, c.Out, format.Options{}); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(npy, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}
