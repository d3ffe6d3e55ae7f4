// Package scan defines the running reductions: cumsum, cumprod, cummin and cummax down columns, and
// rowcumsum .. along rows. Little work is done in Go, more of it by compiled loops.
package scan
