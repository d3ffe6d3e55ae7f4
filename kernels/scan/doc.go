// Package scan defines the running reductions: cumsum, cumprod, cummin and cummax down columns, and
// rowcumsum .. along rows. Rows and little work are done in Go, more work on columns by compiled loops.
package scan
