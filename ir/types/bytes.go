package types

import "fmt"

// InBytes formats a number of bytes.
func InBytes(n float64) string {
	units := [...]string{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"}
	unit := 0
	for ; n >= 1024 && unit < len(units)-1; unit++ {
		n /= 1024
	}
	return fmt.Sprintf("%.3g %s", n, units[unit])
}
