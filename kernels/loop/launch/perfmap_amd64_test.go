//go:build linux

package launch

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestPerfMap: with the variable set, the map has the address and the size of code that is made.
func TestPerfMap(t *testing.T) {
	if target, err := Target(); err != nil || target == Interp {
		t.Skip("no machine code here")
	}
	t.Setenv(DebugVariable, "1")
	defer os.Remove(perfMapPath())
	out := value.New(types.F64, 4, 4)
	r := begin(t, "nest(%0: f64[]) (i: 0..%0.rows, j: 0..%0.cols) {\n  v0 = load %0[i, j]\n  store out0[i, j] v0\n} : (f64[%0.rows, %0.cols])\n",
		[]value.Value{counted(4, 4)}, []*value.Dense{out})
	f := r.v.code.(*machineCode).f
	text, err := os.ReadFile(perfMapPath())
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x %x flow_loop_", f.Entry(), f.Size()); !strings.Contains(string(text), want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}
