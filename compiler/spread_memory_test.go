package compiler_test

import (
	"context"
	"strings"
	"testing"

	"flow/memory"
	"flow/runtime/dist"
)

// A matrix whose rows ranks share may be larger than the memory of each rank. One that is brought
// together may not.
func TestSpreadMemory(t *testing.T) {
	const shared = `x = parfor i in 0..300000 { exp(-1e-6 * i) }
emit sum(x * x)
emit max(abs(x - 0.5))`
	for _, c := range []struct {
		name, text string
		limit      int64
		fits       bool
	}{
		{"rows stay where they are", shared, 1200 << 10, true},
		{"too little for the rows of a rank", shared, 300 << 10, false},
		{"all rows are read", shared + "\nemit sum(parfor i in 0..300000 { x[299999 - i, 0] + x[i, 0] })", 1200 << 10, false},
		{"all rows are read, and fit", shared + "\nemit sum(parfor i in 0..300000 { x[299999 - i, 0] + x[i, 0] })", 20 << 20, true},
	} {
		r, err := compileTiny(tinyTable(t), c.text, 4, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.fits {
			want = evaluated(c.name, r.Program).out
		}
		p := &printer{}
		_, err = dist.RunInProcess(context.Background(), r.Plan, 1, func(int) dist.Options {
			return dist.Options{Env: p, Memory: memory.Limit{Bytes: c.limit, By: "this test"}, Agree: true}
		})
		const refused = "more than there is ("
		switch {
		case c.fits && (err != nil || p.out.String() != want):
			t.Errorf("%s: %v, %s", c.name, err, difference(want, p.out.String()))
		case !c.fits && (err == nil || !strings.Contains(err.Error(), refused)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
