package compiler_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"flow/compiler"
	"flow/kernels"
	"flow/lang/source"
	"flow/stdlib"
)

// FuzzCompile feeds texts near to real programs to the compiler: whatever the text, it
// gives a plan or diagnostics, and never says that Flow has a bug.
func FuzzCompile(f *testing.F) {
	eachText(f, textsInTree, func(text string) { f.Add(text) })
	for _, r := range source.Codes() {
		f.Add(r.Program)
	}
	table, err := kernels.Table("")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		for _, ranks := range []int{1, 3} {
			r, ds := compiler.Compile(ctx, "x.flow", []byte(text), compiler.Options{Table: table, Verify: true, Std: stdlib.Files,
				Ranks: ranks, Sizes: tinySizes, MaxTasks: 2000, Load: load})
			for _, d := range ds {
				if d.Code == "B001" {
					t.Fatalf("%s\nin\n%s", d.Message, text)
				}
			}
			if !ds.HasErrors() && r.Plan == nil {
				t.Fatalf("neither a plan nor a diagnostic for\n%s", text)
			}
		}
	})
}

// small makes the sizes of the examples' programs such that they compile at once.
var small = strings.NewReplacer("4096", "40", "256", "8", "8192", "40", "4_000", "40", "200 \"columns", "20 \"columns", "100_000", "100", "200_000", "200", "1_000_000", "100")
