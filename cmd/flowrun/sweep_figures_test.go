package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"flow/sweep"
)

// tableOf is a sweep of three schedules with these seconds in every round, those of the second ones
// noisy if asked.
func tableOf(t *testing.T, rounds int, noisy bool) *sweep.Table {
	configs := sweep.Cross([]string{"STATIC", "GSS", "SS"}, []string{"CENTRALIZED"}, []string{""}, []int{2})
	calls := 0
	table, err := sweep.Run(context.Background(), configs, func(sweep.Config) int { return 0 }, sweep.Options{Repeat: rounds, Seed: 1},
		func(_ context.Context, c sweep.Config) (sweep.Measurement, error) {
			calls++
			s := map[string]float64{"STATIC": 3, "GSS": 1, "SS": 2}[c.Technique]
			if noisy && c.Technique == "SS" && calls%2 == 0 {
				s = .5
			}
			return sweep.Measurement{Seconds: s, Output: "x"}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// A schedule is called the fastest only if its intervals say so.
func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		rounds int
		noisy  bool
		want   string
	}{
		{7, false, "Fastest: GSS (CENTRALIZED, 2 threads), median 1 s. Against each of the other 2 "},
		{2, false, "The smallest median is that of GSS (CENTRALIZED, 2 threads): 1 s. Which schedule is the fastest is not shown"},
	} {
		if got := verdict(tableOf(t, c.rounds, c.noisy)); !strings.HasPrefix(got, c.want) {
			t.Errorf("%d rounds: %s", c.rounds, got)
		}
	}
	if got := verdict(tableOf(t, 9, true)); !strings.HasPrefix(got, "No schedule is shown to be the fastest.") || strings.Contains(got, "Fastest:") {
		t.Error(got)
	}
}

// Every column of the page has a cell in each row and, if it has a name, an explanation.
func TestSweepColumns(t *testing.T) {
	columns := sweepColumns()
	for _, c := range append(columns, sweepTerms()...) {
		if (c.Name == "") != (c.Means == "") {
			t.Errorf("column %q means %q", c.Name, c.Means)
		}
	}
	row := sweepPage[strings.Index(sweepPage, "{{range .Rows}}"):]
	row, _, _ = strings.Cut(row, "{{else}}<td colspan")
	if n := strings.Count(row, "<td"); n != len(columns) {
		t.Errorf("%d cells a row, %d columns", n, len(columns))
	}
	for _, c := range columns {
		if c.Name != "" && !strings.Contains(row, `data-of="`+c.Name+`"`) {
			t.Errorf("no cell says that it is of %q", c.Name)
		}
	}
	if !bytes.Contains([]byte(sweepPage), []byte("overflow-wrap: anywhere")) || strings.Contains(sweepPage, "overflow-x") {
		t.Error("the table does not wrap: it is cut off in a narrow window")
	}
}
