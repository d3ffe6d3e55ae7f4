package op

import "flow/ir/types"

// MostText is the size of the longest computed str in bytes. Doubling one forty times would need 5
// TB.
const MostText = 16 << 20

// TextTooLong returns the failure of a call whose result would be a str of size bytes, or nil if it
// is allowed.
func TextTooLong(size int) error {
	if size <= MostText {
		return nil
	}
	return Failf("E605", "a str of %s: it has at most %s", types.InBytes(float64(size)), types.InBytes(MostText)).
		WithHelp("numbers are kept in matrices, and written to files by emit .. to")
}
