package source

import "strings"

// This file defines SuggestWord, the did-you-mean among names that the user did not choose.

// SuggestWord is Suggest for a long list of unfamiliar words, such as all operators. Nearly every
// short word is one letter away from one of them, so it is stricter. Case does not count. A name of
// up to three letters may differ by case or by two swapped neighbours. A longer one may differ by
// one edit if the first letters agree, or by up to two letters added or missing at its end; from
// eight letters on, two edits are allowed.
func SuggestWord(name string, words []string) (string, bool) {
	if len(name) > 100 {
		return "", false
	}
	best, at := "", 1<<30
	low := strings.ToLower(name)
	for _, w := range words {
		if w == name || len(w) < 2 || max(len(w)-len(name), len(name)-len(w)) > 2 {
			continue
		}
		lw := strings.ToLower(w)
		d := distance(low, lw)
		switch {
		case low == lw:
		case d == 1 && len(low) == len(lw) && swapped(low, lw):
		case d == 1 && len(low) == 3 && len(lw) == 3 && lw[:2] == low[:2]:
			// in short words only the last letter: ans is no abs
		case len(low) <= 3 || lw[0] != low[0]:
			continue
		case d == 1:
		case d == 2 && (len(low) >= 8 || len(lw) >= 4 && (strings.HasPrefix(low, lw) || strings.HasPrefix(lw, low))):
		default:
			continue
		}
		if d < at {
			best, at = w, d
		}
	}
	return best, best != ""
}

// swapped reports whether two words of equal length and one edit apart differ by two swapped
// neighbours.
func swapped(a, b string) bool {
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i]
		}
	}
	return false
}
