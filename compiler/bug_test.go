package compiler_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"flow/compiler"
	"flow/ir/op"
	"flow/ir/types"
)

// A mistake in a row or a pass is reported as one of Flow's, with the pass to blame, and never as a
// panic.
func TestBugsAreBlamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(d *op.Def)
		want   string
	}{
		{"sum", func(d *op.Def) { d.Shard.Partial = "nosuch" }, "this is a bug in Flow: pass partition: BUG: the operator table has no row nosuch"},
		{"sum", func(d *op.Def) { d.Type = func(*op.Sig) (types.Type, error) { panic("oops") } }, "this is a bug in Flow: pass elaborate: oops"},
		// A type rule that changes its mind: Verify blames the pass after which it was
		// asked.
		{"sqrt", func(d *op.Def) {
			rule, calls := d.Type, 0
			d.Type = func(s *op.Sig) (types.Type, error) {
				if calls++; calls > 1 {
					return types.ScalarOf(types.Bool), nil
				}
				return rule(s)
			}
		}, "this is a bug in Flow: after pass drop-dead: BUG: its type rule says bool"},
	} {
		rows := slices.Clone(tinyTable(t).Rows())
		for i, d := range rows {
			if d.Name == c.name {
				bad := *d
				c.damage(&bad)
				rows[i] = &bad
			}
		}
		table, err := op.NewTable(rows)
		if err != nil {
			t.Fatal(err)
		}
		_, ds := compiler.Compile(context.Background(), "x.flow", []byte("emit sum(sqrt(rand(12, 12, seed = 1)))"),
			compiler.Options{Table: table, Sizes: tinySizes, Blocks: true, Verify: true})
		if len(ds) != 1 || ds[0].Code != "B001" || !strings.HasPrefix(ds[0].Message, c.want) || !strings.Contains(ds[0].Help, "report") {
			t.Errorf("%s gives %v, want %q", c.name, ds, c.want)
		}
	}
}
