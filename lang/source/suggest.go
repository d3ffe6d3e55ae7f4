package source

import "strings"

// This file defines Suggest, the did-you-mean of all messages about names.

// Suggest returns the candidate nearest to name by edit distance (a swap of neighbours is one
// edit), if it is a likely slip: at most a third of the name's length, and one edit for names of up
// to three letters. Among equally near candidates one with the same first letter wins, then the
// first in the caller's order.
//
// Names of more than 100 letters get no suggestion, because the distance is quadratic.
func Suggest(name string, candidates []string) (string, bool) {
	if len(name) > 100 {
		return "", false
	}
	best, at := "", max(1, len(name)/3)+1
	begins := func(c string) bool { return c != "" && name != "" && c[0] == name[0] }
	for _, c := range candidates {
		if c == name || c == "" || max(len(name)-len(c), len(c)-len(name)) > at {
			// lengths differ by more than the allowed edits; the rest is quadratic
			continue
		}
		d := distance(name, c)
		if strings.EqualFold(name, c) {
			d = 0 // a slip of case is the nearest there is
		} else if d >= len(name) {
			continue // every letter differs: not a misspelling
		}
		if d < at || d == at && best != "" && begins(c) && !begins(best) {
			best, at = c, d
		}
	}
	return best, best != ""
}

// distance returns the optimal string alignment distance over bytes.
func distance(a, b string) int {
	prev2, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], prev2[j-2]+1)
			}
		}
		prev2, prev, cur = prev, cur, prev2
	}
	return prev[len(b)]
}
