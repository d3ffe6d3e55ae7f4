package main

import "testing"

// TestSavings: the median of what turns save, and the order statistics that enclose it with 95 %.
func TestSavings(t *testing.T) {
	ours := []float64{9, 8, 7, 6, 5, 4, 3, 2, 1}
	others := []float64{10, 10, 10, 10, 10, 10, 10, 10, 10}
	median, low, high := savings(ours, others)
	if median != .5 || low < .1999 || low > .2001 || high < .7999 || high > .8001 { // the second of nine on either side: at most one is beyond with 2 %
		t.Errorf("%g, %g to %g", median, low, high)
	}
	if _, low, high := savings(ours[:5], others[:5]); low > .1001 || high < .4999 { // of five the extremes enclose it with 94 %: there is nothing further out
		t.Errorf("%g to %g", low, high)
	}
}
