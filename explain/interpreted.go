package explain

import (
	"fmt"
	"strings"

	"flow/ir"
	"flow/ir/op"
	"flow/kernels/loop/launch"
	"flow/lang/source"
)

// This file finds work over an index space that no compiled loop does. Users can often write it
// otherwise.

// Interpreted describes work over an index space that no compiled loop does.
type Interpreted struct {
	Where      string `json:"where"`
	Expression string `json:"expression"`
	// Why names what no loop computes. If Rounds is set, it names what keeps the rounds from being
	// compiled.
	Why     string `json:"why"`
	Instead string `json:"instead,omitempty"` // what to write
	Within  bool   `json:"within,omitempty"`  // loops do the rest
	Rounds  bool   `json:"rounds,omitempty"`  // it is a loop whose rounds are tasks of the runtime
	Dense   bool   `json:"dense,omitempty"`   // it is a dense matrix, named by Why, of a sparse one whose zeros it keeps
	// Seconds is the time that all workers took for it, added up. 0: unknown.
	Seconds float64 `json:"seconds,omitempty"`

	operator string // of the plan, and its place
	body     bool
}

// Text returns the message for the user: the place, what runs it, the reason, the text and the advice.
func (x Interpreted) Text() string {
	what := "this runs an operator at a time"
	switch {
	case x.Rounds:
		what = "each round of this loop is tasks of the runtime, which take microseconds"
	case x.body && x.Within:
		what = "a loop or branch in this body runs an operator at a time"
	case x.body:
		what = "this body runs an operator at a time"
	}
	if what += ": no compiled loop computes " + x.Why; x.Dense {
		what = "this makes " + x.Why + " of a sparse matrix, whose zeros it keeps"
	}
	what = x.Where + ": " + what
	if x.Seconds > 0 {
		what += fmt.Sprintf(" (%.4g s)", x.Seconds)
	}
	what += "\n    " + x.Expression
	if x.Instead != "" {
		what += "\n    instead: " + x.Instead
	}
	return what
}

// Machine returns a line for the user if an interpreter runs all loops of this process; "" if machine
// code does.
func Machine() string {
	if target, err := launch.Target(); err != nil || target != launch.Interp {
		return ""
	}
	return "an interpreter runs all loops: there is no machine code for them here (flowrun version)"
}

// InterpretedWork returns the work of a plan that no compiled loop does, in the order of the plan, and
// dense matrices that could be sparse. The error is that of Loops.
func InterpretedWork(g *ir.Graph, files *source.FileSet) (list []Interpreted, err error) {
	all, err := Loops(g, func(*ir.Node) bool { return true })
	for _, l := range all {
		if l.why == "" {
			continue
		}
		x := Interpreted{Within: len(l.loops) > 0, body: l.op.Role == op.Points || l.op.Role == op.Rounds}
		x.tell(l.at, l.why, files)
		if x.operator = l.op.Name + " " + x.Where; !x.body && l.part.IsValid() {
			x.tell(append([]source.Span{l.part}, l.at[1:]...), l.why, files)
		}
		list = append(list, x)
	}
	return append(append(list, rounds(g, files)...), widened(g, files)...), err
}

// tell sets the place, the text, the reason and the advice. why is the reason, with the advice behind a
// semicolon. at has the place of the operator and those of the calls around it. The place is the first
// one that is not in the library, whose files users do not have.
func (x *Interpreted) tell(at []source.Span, why string, files *source.FileSet) {
	x.Why, x.Instead, _ = strings.Cut(why, "; ")
	for _, s := range at {
		x.Where, x.Expression = placeAndText(s, files)
		if f := files.File(s.From); f != nil && !f.Library {
			break
		}
		x.Instead = ""
	}
}

// few is the most elements of a matrix in rounds so fast that the time of tasks counts.
const few = 1 << 15

// rounds finds the loops of g over few numbers that have not become one task.
func rounds(g *ir.Graph, files *source.FileSet) (list []Interpreted) {
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if n.Op.Control != op.Iterate {
			continue
		}
		if why, small := obstacle(n.Region); small && why != "" {
			x := Interpreted{Rounds: true}
			x.tell(placesOf(g, n), why, files)
			list = append(list, x)
		}
		for r := n.Region; r != nil; r = r.Next {
			list = append(list, rounds(r.Graph, files)...)
		}
	}
	return list
}

// obstacle returns what keeps the rounds of a loop from being one task. small reports that no matrix of
// a round has more than few elements.
func obstacle(r *ir.Region) (why string, small bool) {
	for ; r != nil; r = r.Next {
		g := r.Graph
		for i := range g.Nodes {
			n, id := &g.Nodes[i], ir.ID(i)
			t := g.Type(id)
			argument := n.Op.Role == op.Argument
			switch {
			case n.Op.Control != op.NoControl:
				inner, fine := obstacle(n.Region)
				if !fine {
					return "", false
				}
				if why == "" {
					why = inner
				}
			case t.IsMatrix() && t.Known() && t.Count() > few && (!argument || !t.IsDense()):
				return "", false
			case why != "" || argument && t.IsDense() && t.Known():
			case t.IsMatrix() && !t.IsDense():
				why = "a sparse matrix; a small one can be dense: dense(S)"
			case t.IsMatrix() && !t.Known():
				why = "a matrix of a size that only the run tells; compute all elements, with ifelse(mask, x, 0) where a mask chooses some"
			}
		}
	}
	return why, true
}

// placesOf lists the place of a node and those of the calls around it.
func placesOf(g *ir.Graph, n *ir.Node) []source.Span {
	at := []source.Span{n.Span}
	for c := n.Call; c > 0; c = g.Calls[c].Parent {
		at = append(at, g.Calls[c].Span)
	}
	return at
}

// Timed sets Seconds in list. seconds has the time of loops by the name and place of their operator.
// alone has the time of all operators of a name, which is used if the plan g has one of them.
func Timed(list []Interpreted, g *ir.Graph, seconds map[string]float64, alone map[string]float64) {
	names := map[string]int{}
	for i := range g.Nodes {
		names[g.Nodes[i].Op.Name]++
	}
	for k := range list {
		x := &list[k]
		name, _, _ := strings.Cut(x.operator, " ")
		if x.Seconds = seconds[x.operator]; x.Seconds == 0 && names[name] == 1 {
			x.Seconds = alone[name]
		}
	}
}
