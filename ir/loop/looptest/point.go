package looptest

import "flow/ir/loop"

// Point returns the case as a nest of one point, whose inner loops are the indices of the space.
func (c *Case) Point() *Case {
	n := *c.Nest
	for k := len(n.Space) - 1; k >= 0; k-- {
		n.Body = loop.Block{Stmts: []loop.Stmt{{Code: loop.For, Loop: &loop.Loop{Index: n.Space[k], Body: n.Body}}}}
	}
	n.Space = nil
	parsed, err := loop.Parse(n.String(), loop.Standard{})
	if err != nil {
		panic(err.Error() + "\n" + n.String())
	}
	point := *c
	point.Nest, point.Rows, point.Lanes = parsed, 1, 1
	return &point
}
