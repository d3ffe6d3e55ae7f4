package format

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
)

// TestScanFloatIsCorrectlyRounded compares with strconv on all shapes of decimals.
func TestScanFloatIsCorrectlyRounded(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(s string) {
		want, err := strconv.ParseFloat(s, 64)
		got, next, ok := scanFloat([]byte(s+" "), 0)
		if err != nil {
			if ok && next == len(s) {
				t.Fatalf("%s is %v, strconv refuses it: %v", s, got, err)
			}
			return
		}
		if !ok || next != len(s) || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s is %v (%v), want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"0", "-0", "+1", "1.", ".5", "-.5e-3", "1e22", "1e23", "9007199254740993", "9007199254740992", "00000000000000000000001",
		"0.000000000000000000000000000001", "1e-400", "1e309", "4.9e-324", "2.2250738585072011e-308", "123456789012345678901234567890",
		"0e999999999999", "1e99999999999999999999", "18446744073709551616", "1e+5", "1e+", "1e", "-", ".", ""} {
		check(s)
	}
	for range 100000 {
		x := math.Float64frombits(r.Uint64())
		if x-x != 0 {
			continue
		}
		check(strconv.FormatFloat(x, 'g', r.IntN(20)-1, 64))
		check(strconv.FormatFloat(r.NormFloat64(), 'f', r.IntN(20), 64))
		check(strconv.FormatInt(r.Int64()>>r.IntN(63), 10) + "e" + strconv.Itoa(r.IntN(60)-30))
	}
}

func TestScanInt(t *testing.T) {
	for s, want := range map[string]int64{"0": 0, "-9223372036854775808": math.MinInt64, "9223372036854775807": math.MaxInt64, "+12": 12} {
		if got, next, ok := scanInt([]byte(s), 0); !ok || got != want || next != len(s) {
			t.Errorf("%s is %d, %v", s, got, ok)
		}
	}
	for _, s := range []string{"", "-", "x", "9223372036854775808", "-9223372036854775809", "99999999999999999999"} {
		if got, _, ok := scanInt([]byte(s), 0); ok {
			t.Errorf("%q is %d", s, got)
		}
	}
}
