package op

import "flow/ir/types"

// MostText is the number of bytes of the longest str that is computed. Doubling one forty times would ask for 5 TB.
const MostText = 16 << 20

// TextTooLong is the failure of a call whose result would be a str of size bytes, nil where it may be.
func TextTooLong(size int) error {
	if size <= MostText {
		return nil
	}
	return Failf("E605", "a str of %s: it has at most %s", types.InBytes(float64(size)), types.InBytes(MostText)).
		WithHelp("numbers are kept in matrices, and written to files by emit .. to")
}
