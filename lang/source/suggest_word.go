package source

import "strings"

// This file defines SuggestWord, the did-you-mean among names that the user has not chosen.

// SuggestWord is Suggest for a long list of words that the user need not know, such as all
// operators: nearly every short word is one letter away from one of them, so it asks for more. The
// case of letters does not count. A name of up to three letters differs by case or by two
// neighbours that changed places. A longer one differs by one edit and begins alike, or is the word
// with up to two letters more or less at its end; from eight letters on two edits are a slip, too.
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
		case d == 1 && len(low) == 3 && len(lw) == 3 && lw[:2] == low[:2]: // of short words the last letter alone: ans is no abs
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

// swapped reports two words of one length, one edit apart, that differ by two neighbours in the
// other order.
func swapped(a, b string) bool {
	for i := 0; i+1 < len(a); i++ {
		if a[i] != b[i] {
			return a[i] == b[i+1] && a[i+1] == b[i]
		}
	}
	return false
}
