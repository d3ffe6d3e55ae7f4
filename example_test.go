package flow_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"os"

	"gonum.org/v1/gonum/mat"

	"flow"
)

// A program is compiled once and may run any number of times.
func Example() {
	ctx := context.Background()
	p, err := flow.Compile(ctx, "sums.flow", []byte(`
param n: i64 = 3
emit sum(seq(0, n)) as "sum"
`), flow.CompileOptions{Set: []flow.Setting{{Name: "n", Text: "5"}}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := p.Run(ctx, flow.RunOptions{Stdout: os.Stdout}); err != nil {
		log.Fatal(err)
	}
	// Output: sum: 10
}

// A program says what it can be given, and what the compiler remarks of it.
func ExampleProgram_Params() {
	p, err := flow.Compile(context.Background(), "grid.flow", []byte(`
param n: i64 = 3 "points a side"
param h: f64 = 0.5 "distance"
empty = sum(for i in 3..0 => i * h)
emit empty + n
`), flow.CompileOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, param := range p.Params() {
		fmt.Println(param.Name, param.Type, param.Doc)
	}
	fmt.Print(p.Warnings())
	// Output:
	// n i64 points a side
	// h f64 distance
	// warning[W005]: the range 3..0 is empty
	//  --> grid.flow:4:22
	//   |
	// 4 | empty = sum(for i in 3..0 => i * h)
	//   |                      ^^^^
	//   = help: a range that descends has a step: `3..0 by -1`
}

// Go values go in by name, and what is emitted comes out as Go values.
func ExampleProgram_Values() {
	ctx := context.Background()
	X := mat.NewDense(4, 2, []float64{1, 0, 1, 1, 1, 2, 1, 3})
	y := []float64{1, 3, 5, 7}
	p, err := flow.Compile(ctx, "fit.flow", []byte(`
param ridge: f64 = 0.0
X = read("X")
y = read("y")
w = solve(t(X) @ X + ridge * eye(X.cols), t(X) @ y)
emit w as "w"
emit norm(y - X @ w) < 1e-9 as "exact"
`), flow.CompileOptions{Values: map[string]any{"X": X, "y": y, "ridge": 0}})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		out, err := p.Values(ctx, flow.RunOptions{})
		if err != nil {
			log.Fatal(err)
		}
		w, err := flow.Get[flow.Matrix[float64]](out, "w")
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d x %d: %.3f %.3f\n", w.Rows, w.Cols, w.At(0, 0), w.At(1, 0))
		copy(y, []float64{2, 2, 2, 2}) // the next run reads what is there then
	}
	// Output:
	// 2 x 1: 1.000 2.000
	// 2 x 1: 2.000 0.000
}

// An elementwise operator is a function of numbers; one on matrices has a shape rule as well.
func ExampleOperator() {
	ctx := context.Background()
	hinge := flow.Operator{
		Name: "hinge", Args: []string{"x", "at"},
		Each: func(x []float64) float64 { return math.Max(0, x[0]-x[1]) },
	}
	kron := flow.Operator{
		Name: "outer2", Args: []string{"x", "y"},
		Shape: func(in []flow.Shape) (flow.Shape, error) {
			if in[0].Cols != 1 || in[1].Cols != 1 {
				return flow.Shape{}, errors.New("it takes two columns")
			}
			return flow.Shape{Rows: in[0].Rows, Cols: in[1].Rows}, nil
		},
		Apply: func(out flow.Matrix[float64], in []flow.Matrix[float64]) error {
			for i := range out.Rows {
				for j := range out.Cols {
					out.Row(i)[j] = in[0].At(i, 0) * in[1].At(j, 0)
				}
			}
			return nil
		},
	}
	p, err := flow.Compile(ctx, "own.flow", []byte(`
x = seq(0, 4)
emit sum(hinge(x, 1.5))
emit outer2(x[0..2], [1, 2, 3])
`), flow.CompileOptions{Operators: []flow.Operator{hinge, kron}})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := p.Run(ctx, flow.RunOptions{Stdout: os.Stdout}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 2
	// 0 0 0
	// 1 2 3
}
