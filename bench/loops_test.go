package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// This file tests what the sections loops and everyday read and print.

func TestReadPrograms(t *testing.T) {
	for _, c := range []struct{ text, err string }{
		{"# nothing\na a n=1,m=2 n=1,m=1 1e-9 -\nb b n=1,m=2 n=1,m=1 1e-9 a\n", ""},
		{"b b n=1 n=1 1e-9 a\na a n=1 n=1 1e-9 -\n", "b comes before a"},
		{"a a n=1 n=1 1e-9\n", "5 fields"},
		{"a a n=1 n=1 much -\n", "much"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "programs.txt"), []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		list, err := readPrograms(dir)
		if c.err == "" {
			if err != nil || len(list) != 2 || list[1].twin != "a" || strings.Join(values(list[0].sizes), " ") != "1 2" || params(list[0].sizes)[1] != "--set=m=2" {
				t.Errorf("%q: %+v, %v", c.text, list, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: error %v, want one with %q", c.text, err, c.err)
		}
	}
	for _, folder := range []string{"loops", "everyday"} {
		if list, err := readPrograms(folder); err != nil || len(list) < 10 {
			t.Errorf("%s: %d loops, %v", folder, len(list), err)
		}
	}
}

// A result that is too far from C's, another formulation with another result and a loop that does
// not end are said.
func TestLoopRows(t *testing.T) {
	c, quick, slow := &result{seconds: []float64{0.5}}, &result{seconds: []float64{0.25}}, &result{err: errSlow}
	broken := &result{err: errors.New("no such file\nmore")}
	for _, r := range []struct {
		row              *loopRow
		ratio, verdict   string
		differ, hasFlows bool
	}{
		{beside(c, quick, "2.0000000001", "2", 1e-9), "2.00", "agree", false, true},
		{beside(c, quick, "2.01", "2", 1e-9), "2.00", "DIFFER: 2 and 2.01", true, true},
		{beside(c, quick, "", "2", 1e-9), "2.00", "DIFFER: 2 and ", true, true},
		{beside(c, slow, "2", "", 1e-9), "< 0.05", "not compared", false, true},
		{beside(c, broken, "2", "", 1e-9), "", "not compared", false, false},
		{beside(broken, quick, "", "2", 1e-9), "", "not compared", false, false},
	} {
		if got := r.row.ratioText(); got != r.ratio || r.row.verdict != r.verdict || r.row.differ != r.differ || (r.row.seconds > 0) != r.hasFlows {
			t.Errorf("%+v: ratio %s, want %+v", r.row, got, r)
		}
	}
	for _, r := range []struct {
		bits                  *result
		check, ratio, verdict string
		differ                bool
	}{
		{quick, "2", "1.00", "agree", false},
		{c, "2", "2.00", "agree", false},
		{c, "2.0000000000000004", "2.00", "DIFFER in bytes: 2 and 2.0000000000000004", true},
		{broken, "", "", "agree", false},
	} {
		row := beside(c, quick, "2.0000000001", "2", 1e-9)
		if row.besideBits(r.bits, r.check); row.bitsRatio != r.ratio || row.verdict != r.verdict || row.differ != r.differ || row.bits == "" {
			t.Errorf("%+v, want %+v", row, r)
		}
	}
	var out bytes.Buffer
	b := &bench{out: &out}
	list := []loop{{name: "a"}, {name: "b", twin: "a"}, {name: "c", twin: "a"}, {name: "d", twin: "a"}}
	rows := map[string]*loopRow{"a": {seconds: 1, check: "7"}, "b": {seconds: 2, check: "7"}, "c": {seconds: 0.5, check: "8"}, "d": {seconds: loopSlow, slow: true}}
	if n := b.formulations(list, rows); n != 1 {
		t.Errorf("%d results differ, want 1", n)
	}
	for _, want := range []string{"| a | b | 2.00 | same |", "| a | c | 2.00 | DIFFER: 7 and 8 |", "| a | d | more than 10.00 | not compared |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s\nlacks %s", out.String(), want)
		}
	}
	if g := geometricMean([]float64{1, 4, 2}); g < 1.9999 || g > 2.0001 {
		t.Errorf("the geometric mean of 1, 4 and 2 is %g", g)
	}
}
