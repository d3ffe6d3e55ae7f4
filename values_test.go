package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

// This file tests Go values in and out and operators of a program's own, on every engine.

// Every kind of value comes back as it was given, from every engine, and is what the definition prints.
func TestValuesComeBack(t *testing.T) {
	text := `
param a: f64
param b: i64
param c: bool
param d: str
emit a as "a"
emit b as "b"
emit c as "c"
emit d as "d"
emit f32(a) as "e"
emit read("column") as "column"
emit read("rows") as "rows"
emit read("single") as "single"
emit read("whole") as "whole"
emit read("truth") as "truth"
emit read("sparse") as "sparse"
emit t(read("column")) @ read("sparse") as "product"
`
	sparse := Sparse{Rows: 3, Cols: 2, Row: []int{2, 0, 1}, Col: []int{0, 1, 1}, Value: []float64{5, -1, 0}}
	given := map[string]any{
		"a": math.Inf(-1), "b": math.MinInt64, "c": true, "d": "two words",
		"column": []float64{1, math.Copysign(0, -1), 3},
		"rows":   [][]int{{1, 2}, {3, 4}},
		"single": Matrix[float32]{1, 2, []float32{0.1, 2}},
		"whole":  []int64{math.MaxInt64, -1},
		"truth":  []bool{true, false},
		"sparse": sparse,
	}
	want := Results{
		{"a", math.Inf(-1)}, {"b", int64(math.MinInt64)}, {"c", true}, {"d", "two words"}, {"e", float32(math.Inf(-1))},
		{"column", Matrix[float64]{3, 1, []float64{1, math.Copysign(0, -1), 3}}},
		{"rows", Matrix[int64]{2, 2, []int64{1, 2, 3, 4}}},
		{"single", Matrix[float32]{1, 2, []float32{0.1, 2}}},
		{"whole", Matrix[int64]{2, 1, []int64{math.MaxInt64, -1}}},
		{"truth", Matrix[bool]{2, 1, []bool{true, false}}},
		{"sparse", Sparse{Rows: 3, Cols: 2, Row: []int{0, 2}, Col: []int{1, 0}, Value: []float64{-1, 5}}},
		{"product", Matrix[float64]{1, 2, []float64{15, -1}}},
	}
	var printed string
	for _, e := range engines(3) {
		p, err := Compile(context.Background(), "back.flow", []byte(text), CompileOptions{Values: given, Ranks: e.ranks, Disable: e.disable, Verify: true})
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		var out bytes.Buffer
		if e.eval {
			if err := p.Evaluate(&out); err != nil {
				t.Fatal(err)
			}
			printed = out.String()
			continue
		}
		got, err := p.Values(context.Background(), RunOptions{Threads: e.threads, Stdout: &out})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s gives %v, %v; want %v", e.name, got, err, want)
		}
		if out.Len() > 0 {
			t.Errorf("%s printed %q, too", e.name, out.String())
		}
		if _, err := p.Run(context.Background(), RunOptions{Threads: e.threads, Stdout: &out}); err != nil || out.String() != printed {
			t.Errorf("%s prints\n%s(%v)\nwant\n%s", e.name, out.String(), err, printed)
		}
	}
}

// What cannot be given is refused with what is wrong.
func TestValuesRefused(t *testing.T) {
	for _, c := range []struct {
		text  string
		given map[string]any
		want  string
	}{
		{`emit read("x")`, map[string]any{"x": []float64{1}, "y": []float64{2}}, `does not read "y"`},
		{`emit 1`, map[string]any{"n": 3}, "no param `n`"},
		{`emit read("x")`, map[string]any{"x": [][]float64{{1, 2}, {3}}}, "row 0 has 2 elements and row 1 has 1"},
		{`emit read("x")`, map[string]any{"x": Matrix[float64]{2, 2, []float64{1}}}, "2 x 2 with 1 elements"},
		{`emit read("x")`, map[string]any{"x": struct{}{}}, "neither a scalar nor a matrix"},
		{`emit read("x")`, map[string]any{"x": Sparse{Rows: 1, Cols: 1, Row: []int{0, 0}, Col: []int{0, 0}, Value: []float64{1, 1}}}, "two entries are at (0, 0)"},
		{`emit read("x")`, map[string]any{"x": Sparse{Rows: 1, Cols: 1, Row: []int{1}, Col: []int{0}, Value: []float64{1}}}, "entry 0 is at (1, 0) of 1 x 1"},
		{`emit nnz(read("x", sparse = true))`, map[string]any{"x": []float64{1}}, "dense matrix that the program is given"},
		{`emit nnz(read_graph("x"))`, map[string]any{"x": []float64{1}}, "not a list of edges"},
	} {
		_, err := Compile(context.Background(), "p.flow", []byte(c.text+"\n"), CompileOptions{Values: c.given})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %v: %v; want %q", c.text, c.given, err, c.want)
		}
	}
	out := Results{{"x", 1.5}}
	if _, err := Get[int64](out, "x"); err == nil || err.Error() != "x is a float64, not a int64" {
		t.Errorf("Get of another type: %v", err)
	}
	if _, err := Get[float64](out, "y"); err == nil {
		t.Error("Get of a label that is not there succeeds")
	}
}

// What a failed run emits above the failure is there.
func TestValuesOfAFailedRun(t *testing.T) {
	p, err := Compile(context.Background(), "p.flow", []byte("emit 1 as \"one\"\nassert sum(read(\"x\")) > 3, \"small\"\nemit 2\n"), CompileOptions{Values: map[string]any{"x": []float64{1, 2}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Values(context.Background(), RunOptions{})
	if err == nil || !strings.Contains(err.Error(), "small") || !reflect.DeepEqual(got, Results{{"one", int64(1)}}) {
		t.Errorf("%v, %v", got, err)
	}
}

// Programs that are given different matrices are told apart by ranks.
func TestRanksCompareValues(t *testing.T) {
	print := func(x ...float64) string {
		p, err := Compile(context.Background(), "p.flow", []byte("emit sum(read(\"x\"))\n"), CompileOptions{Values: map[string]any{"x": x}})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(p.fingerprint())
	}
	first, again := print(1, 2), print(1, 2)
	if first != again || first == print(1, 3) {
		t.Error("the fingerprint does not follow the given values")
	}
}

// A picture comes out as the text that is printed.
func TestPictureAsValue(t *testing.T) {
	p, err := Compile(context.Background(), "p.flow", []byte("emit bar([1, 2]) as \"bars\"\n"), CompileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Values(context.Background(), RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if text, err := Get[string](out, "bars"); err != nil || !strings.Contains(text, "█") {
		t.Errorf("%q, %v", text, err)
	}
}

func ownOperators() []Operator {
	return []Operator{
		{Name: "bump", Args: []string{"x"}, Each: func(x []float64) float64 { return x[0]*x[0] + 1 }},
		{Name: "fma3", Args: []string{"x", "y", "z"}, Each: func(x []float64) float64 { return math.FMA(x[0], x[1], x[2]) }},
		{Name: "spread", Args: []string{"x"}, Shape: func([]Shape) (Shape, error) { return Shape{Scalar: true}, nil },
			Apply: func(out Matrix[float64], in []Matrix[float64]) error {
				lo, hi := math.Inf(1), math.Inf(-1)
				for _, x := range in[0].Data {
					lo, hi = min(lo, x), max(hi, x)
				}
				if !(lo <= hi) {
					return errors.New("no elements to compare")
				}
				out.Data[0] = hi - lo
				return nil
			}},
		{Name: "turned", Args: []string{"X"}, Shape: func(in []Shape) (Shape, error) {
			if in[0].Scalar {
				return Shape{}, errors.New("a number cannot be turned")
			}
			return Shape{Rows: in[0].Cols, Cols: in[0].Rows}, nil
		}, Apply: func(out Matrix[float64], in []Matrix[float64]) error {
			for i := range out.Rows {
				for j := range out.Cols {
					out.Row(i)[j] = in[0].At(j, in[0].Cols-1-i)
				}
			}
			return nil
		}},
		{Name: "broken", Args: []string{"x"}, Shape: func(in []Shape) (Shape, error) { return in[0], nil },
			Apply: func(Matrix[float64], []Matrix[float64]) error { panic("out of ideas") }},
	}
}

// Operators of one's own give the same bytes on every engine: alone, fused, in bodies, of slices
// and of every type of element.
func TestOwnOperators(t *testing.T) {
	text := `
X = reshape(seq(0, 12), 3, 4)
emit bump(X) * 2 - 1
emit fma3(X, t([1, 2, 3, 4]), 0.5)
emit sum(bump(X) + sqrt(X))
emit bump(f32(0.1))
emit spread(X) + spread(X[1, :]) + spread(X > 3)
emit turned(X[1.., 0..2])
emit t(parfor i in 0..3 { bump(X[i, 1]) + spread(X[i, :]) })
emit parfor i in 0..3 { t(turned(X[i, :])) }
`
	want := "1 3 9 19\n33 51 73 99\n129 163 201 243\n0.5 2.5 6.5 12.5\n4.5 10.5 18.5 28.5\n8.5 18.5 30.5 44.5\n"
	var first string
	for _, e := range engines(5) {
		p, err := Compile(context.Background(), "own.flow", []byte(text), CompileOptions{Operators: ownOperators(), Ranks: e.ranks, Disable: e.disable, Verify: true})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if e.eval {
			err = p.Evaluate(&out)
		} else {
			_, err = p.Run(context.Background(), RunOptions{Threads: e.threads, Stdout: &out})
		}
		if err != nil {
			t.Fatalf("%s: %v", e.name, err)
		}
		if first == "" {
			first = out.String()
		}
		if got := out.String(); !strings.HasPrefix(inWords(got), inWords(want)) || got != first {
			t.Errorf("%s prints\n%s", e.name, got)
		}
	}
	for text, want := range map[string]string{
		"emit turned(2)":                                 "a number cannot be turned",
		"emit turned(\"x\")":                             "takes numbers and dense matrices",
		"emit spread(zeros(0, 3))":                       "no elements to compare",
		"emit broken(ones(2, 2))":                        "out of ideas",
		"emit spread(sparse(eye(2)))":                    "dense",
		"emit bump(1, 2)":                                "bump",
		"x = seq(0, 9)\nemit spread(x[x > sum(x) / 20])": "known before the run",
	} {
		p, err := Compile(context.Background(), "own.flow", []byte(text+"\n"), CompileOptions{Operators: ownOperators()})
		if err == nil {
			_, err = p.Run(context.Background(), RunOptions{})
		}
		var refused *Refusal
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want a refusal with %q", text, err, want)
		}
	}
	for _, o := range []Operator{
		{Name: "a b", Args: []string{"x"}, Each: math3}, {Name: "f", Each: math3}, {Name: "f", Args: []string{"x"}},
		{Name: "sqrt", Args: []string{"x"}, Each: math3},
	} {
		if _, err := Compile(context.Background(), "p.flow", []byte("emit 1\n"), CompileOptions{Operators: []Operator{o}}); err == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// inWords is a text with one space between words, whatever the layout of matrices.
func inWords(s string) string { return strings.Join(strings.Fields(s), " ") }

func math3(x []float64) float64 { return x[0] }
