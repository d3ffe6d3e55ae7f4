package ir

import (
	"fmt"
	"slices"

	"flow/ir/op"
	"flow/ir/types"
)

// Verify checks the invariants that every pass must keep: inputs come before their node; every
// operator accepts its inputs and its type rule gives the edge's type; only effectful nodes read
// effects; a region reads only its arguments and yields existing nodes; chains that share a region
// read their operands alike. The error names the node and prints it.
func (g *Graph) Verify() error {
	if len(g.Nodes) != len(g.Edges) {
		return fmt.Errorf("BUG: %d nodes, %d edges", len(g.Nodes), len(g.Edges))
	}
	var in []types.Type
	modes := map[*Region][]int64{}
	for i := range g.Nodes {
		id := ID(i)
		n := &g.Nodes[i]
		bad := func(format string, args ...any) error {
			return fmt.Errorf("BUG: %s\n  in %s", fmt.Sprintf(format, args...), g.Line(id))
		}
		if n.Op == nil {
			return fmt.Errorf("BUG: node %%%d has no operator", i)
		}
		if n.Call < 0 || int(n.Call) >= len(g.Calls) {
			return bad("call %d of %d", n.Call, len(g.Calls))
		}
		if msg := arity(n.Op, len(g.In(id))); msg != "" {
			return bad("%s", msg)
		}
		in = in[:0]
		for _, x := range g.In(id) {
			if x < 0 || x >= id {
				return bad("reads %%%d, which is not above it", x)
			}
			t := g.Type(x)
			if t.Kind == types.Effect && !n.Op.Laws.Has(op.Effectful) && n.Op.Control == op.NoControl {
				return bad("reads the effect %%%d but is pure", x)
			}
			in = append(in, t)
		}
		// a region's node has the type that its body gives
		if n.Op.Type != nil && n.Region == nil {
			t, err := n.Op.Type(&op.Sig{Def: n.Op, In: in, Attrs: n.Attrs})
			if err != nil {
				return bad("its type rule refuses it: %v", err)
			}
			// drawn element by element
			if n.Op.Draw != nil && g.Type(id).Kind == types.Scalar {
				t = types.ScalarOf(t.Elem)
			}
			if !compatible(t, g.Type(id)) {
				return bad("its type rule says %v", t)
			}
		}
		for r := n.Region; r != nil; r = r.Next {
			if err := r.verify(); err != nil {
				return bad("region: %v", err)
			}
		}
		// the program of a region is made once, from the first node's modes
		if n.Region != nil && n.IsChain() {
			now := n.Attrs.Ints("modes")
			if was, shared := modes[n.Region]; shared && !slices.Equal(was, now) {
				return bad("shares its region with a node that reads it by modes %v", was)
			}
			modes[n.Region] = now
		}
		if err := g.verifyControl(id); err != nil {
			return bad("%v", err)
		}
	}
	return nil
}

// arity describes a wrong number of inputs. Rows without arguments, as in tests, take any number.
func arity(d *op.Def, n int) string {
	least, most := 0, 0
	for _, a := range d.Args {
		switch {
		case a.Attr:
		case a.Rest:
			most = n
		case a.Optional || a.Default != nil:
			most++
		default:
			least++
			most++
		}
	}
	if len(d.Args) > 0 && (n < least || n > max(most, least)) {
		return fmt.Sprintf("%d inputs, %s takes %d", n, d.Name, least)
	}
	return ""
}

// compatible compares two types. An unknown size fits any.
func compatible(a, b types.Type) bool {
	if a.Kind == types.Matrix && b.Kind == types.Matrix {
		if a.Rows == types.Unknown || b.Rows == types.Unknown {
			a.Rows, b.Rows = 0, 0
		}
		if a.Cols == types.Unknown || b.Cols == types.Unknown {
			a.Cols, b.Cols = 0, 0
		}
	}
	return a.Equal(b)
}
