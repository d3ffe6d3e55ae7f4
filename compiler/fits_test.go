package compiler_test

import (
	"context"
	"regexp"
	"testing"

	"flow/compiler"
	"flow/kernels"
	"flow/lang/source"
	"flow/memory"
)

// A plan that stores a value, or reads values together, that no memory holds is refused at the
// operator; what is not stored or not reached is not looked at.
func TestPlansThatFitNoMemory(t *testing.T) {
	const stored = "x = sort(rand(100, 100, 1), 0)\n" // 78 KiB in memory of 80, and 3.3 beside them for the order
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text  string
		ranks int
		bytes int64
		want  string // of the message, "" for none
	}{
		{stored + "emit sum(x[5, :])", 1, 167_140, ""}, // before and after the sort
		{stored + "emit sum(x[5, :])", 1, 167_139, `^the values of this program take 163 KiB at one time, more than there is \(163 KiB, this test\)`},
		{stored + "emit sum(x[5, :])", 1, 79_999, `a f64\[100,100\] takes 78.1 KiB, more than there is \(78.1 KiB, this test\)`},
		{stored + "emit sum(x[5, :])", 1, 0, ""}, // no limit
		{"emit sum(ones(1000000, 1000000))", 1, 1 << 20, ""},
		{"emit ones(2000, 2000)", 1, 1 << 20, `^ones: a f64\[2000,2000\] takes 30.5 MiB, more than there is \(1 MiB, this test\)`},
		{"emit ones(2000, 2000)", 4, 1 << 20, `a f64\[2000,2000\] takes 30.5 MiB`},
		{"y = sum(ones(3, 3))\nemit if y > 10 { sum(sort(rand(100, 100, 1), 0)) } else { y }", 1, 10_000, ""},
		{stored + "y = sort(rand(100, 100, 2), 0)\nemit sum(sort(x @ y, 0))", 1, 100_000, `its 2 operands take 156 KiB, more than there is \(97.7 KiB, this test\)`},
		{stored + "emit sum(sort(x @ x, 0))", 1, 167_140, ""}, // one operand, twice
		{stored + "iterate z = x times 3 { next z = sort(z @ x, 0) }\nemit sum(z)", 1, 249_059, `take 243 KiB at one time`},
		{stored + "iterate z = x times 3 { next z = sort(z @ x, 0) }\nemit sum(z)", 1, 249_061, ""},
		// Nothing but what is inside of the loop is there.
		{"iterate z = rand(100, 100, 1) times 9 { next z = sort(z * 1.5 % 1, 0) }\nemit sum(z)", 1, 167_139, `take 163 KiB at one time`},
		{stored + "emit if sum(x) > 1 { sum(x) } else { sum(sort(x @ x, 0)) }", 1, 167_140, ""},
		{stored + "emit if sum(x) > 1 { sum(x * 2) } else { sum(sort(x @ x, 0)) }", 1, 80_000, `takes? .*, more than there is`},                  // no branch fits
		{"x = parfor i in 0..300000 { exp(i * 1e-9) }\ny = parfor i in 0..300000 { x[i, 0] + sin(i) }\nemit sum(sort(y, 0))", 4, 14_900_000, ""}, // ranks share x
	} {
		o := compiler.Options{Table: table, Ranks: c.ranks, Memory: memory.Limit{Bytes: c.bytes, By: "this test"}}
		_, ds := compiler.Compile(context.Background(), "p.flow", []byte(c.text), o)
		got := ""
		for _, d := range ds {
			if d.Severity == source.Error {
				if got = d.Message; d.Code != "E605" || d.Help == "" || !d.Span.IsValid() {
					t.Errorf("%s: %+v", c.text, d)
				}
			}
		}
		if (got == "") != (c.want == "") || !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s, %d bytes, %d ranks: %q, want %q", c.text, c.bytes, c.ranks, got, c.want)
		}
	}
}

// Ranks take matrices in blocks where they gain little by rows. If the values in blocks do not fit in
// memory and those by rows do, the plan by rows is taken; if neither do, the message tells what the
// values in blocks take.
func TestPlansByRowsWhereBlocksDoNotFit(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	const text = "A = rand(2000, 500, seed = 1)\nemit eigvals(t(A) @ A)[0,0]"
	for _, c := range []struct {
		bytes int64
		want  string // of what the plan says of shares, or of the message
	}{
		{40 << 20, `^in blocks: by rows 4 ranks would be 1 times as fast as one`},
		{16 << 20, `^by rows: in blocks their values take more memory than there is$`},
		{8 << 20, `^the values of this program take 18.9 MiB at one time on 4 ranks`},
	} {
		o := compiler.Options{Table: table, Ranks: 4, Memory: memory.Limit{Bytes: c.bytes, By: "this test"}}
		r, ds := compiler.Compile(context.Background(), "p.flow", []byte(text), o)
		got := ""
		if ds.HasErrors() {
			got = ds[0].Message
		} else {
			got = r.Plan.Shares
		}
		if !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("of %d bytes: %q, want %q", c.bytes, got, c.want)
		}
	}
}
