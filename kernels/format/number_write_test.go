package format

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// Files have numbers as emit prints them, and every number reads back as it was.
func TestWrittenNumbers(t *testing.T) {
	numbers := []float64{1e6, 12345678, -1 << 53, 1<<53 + 2, 1e21, 0.5e-7, 123456.5, math.Copysign(0, -1), math.Inf(1), math.Inf(-1)}
	d := value.New(types.F64, len(numbers), 1)
	copy(d.F64, numbers)
	var b bytes.Buffer
	if err := Write(&b, "x.csv", d, Options{}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(b.String())
	for i, x := range numbers {
		if lines[i] != value.FormatFloat(x, 64) {
			t.Errorf("%v is written as %s, want %s", x, lines[i], value.FormatFloat(x, 64))
		}
	}
	if lines[0] != "1000000" || lines[2] != "-9007199254740992" || lines[3] != "9.007199254740994e+15" {
		t.Errorf("whole numbers are written as %v", lines)
	}
}
