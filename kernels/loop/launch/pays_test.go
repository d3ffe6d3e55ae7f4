package launch

import (
	"testing"

	"flow/ir/loop"
)

// TestPay: machine code pays once interpreting has taken as long as making it, so after fewer elements
// the larger the body is, and after some thousands even of the largest one.
func TestPay(t *testing.T) {
	for _, c := range []struct{ operations, few, enough int64 }{{4, 36_000, 38_000}, {32, 8_000, 8_400}, {200, 4_700, 4_800}, {1 << 20, 4_000, 4_200}} {
		var s Steps
		operations := func() int { return int(c.operations) }
		if s.Pay(c.few-c.few/2, operations) || s.Pay(c.few/2, operations) {
			t.Errorf("%d operations: code pays for %d elements", c.operations, c.few)
		}
		if !s.Pay(c.enough-c.few, operations) || !s.Pay(0, operations) {
			t.Errorf("%d operations: code does not pay for %d elements", c.operations, c.enough)
		}
	}
	var s Steps
	if s.Pay(1000, func() int { t.Error("the operations are counted for 1000 elements"); return 1 }) {
		t.Error("code pays for 1000 elements")
	}
}

// TestOperations: what a body does to an element counts, and reductions count for more.
func TestOperations(t *testing.T) {
	n, err := loop.Parse(scaledNest, loop.Standard{})
	if err != nil {
		t.Fatal(err)
	}
	if got := Operations(n); got != 4+2*reduceOperations {
		t.Errorf("%d operations", got)
	}
}
