package flow

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"flow/ir/op"
	"flow/ir/plan"
)

var _ plan.Rates = (*Rates)(nil)

func TestRatesAreKept(t *testing.T) {
	t.Setenv("FLOW_CACHE", t.TempDir())
	if r := LoadRates(""); r != nil {
		t.Fatalf("an empty cache gives %v", r)
	}
	start := time.Now()
	r, err := MeasureRates("")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("measured in %v: %v", time.Since(start), r.PerFlop)
	for class, per := range r.PerFlop {
		// Between a tenth of a GFLOP/s and a TFLOP/s lies every core there is; one that had other
		// work meanwhile may seem a hundred times slower.
		if per < 1e-12 || per > 1e-6 {
			t.Errorf("%s: %g seconds per operation", class, per)
		}
	}
	if s := r.Seconds("gemm", op.Work{Flops: 2e9}); s < 1e-3 || s > 2000 {
		t.Errorf("2 GFLOP take %g s", s)
	}
	if s := r.Seconds("anything else", op.Work{Flops: 1, Bytes: 1e9}); s < 1e-3 || s > 10_000 {
		t.Errorf("a gigabyte takes %g s", s)
	}
	// A product with a vector reads its matrix from memory, and the places of sparse and sorted values are
	// found one by one.
	if s, least := r.Seconds("gemm", op.Work{Flops: 1, Bytes: 1e9}), r.Seconds("anything else", op.Work{Bytes: 1e9}); s < least {
		t.Errorf("a product of a gigabyte takes %g s, and reading it %g", s, least)
	}
	for _, class := range []string{"order", plan.StoredRate} {
		if r.PerFlop[class] < 5*r.PerFlop["gemm"] {
			t.Errorf("%s takes %g s an operation, a product %g", class, r.PerFlop[class], r.PerFlop["gemm"])
		}
	}
	if err := r.Save(); err != nil {
		t.Fatal(err)
	}
	kept := LoadRates("")
	if kept == nil || kept.PerFlop["gemm"] != r.PerFlop["gemm"] || kept.PerByte != r.PerByte {
		t.Fatalf("kept %v of %v", kept, r)
	}

	// What cannot be used is as good as nothing.
	path, _, err := ratesPath("")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "{", `{"set":"avx512"}`, `{"cpu":"another","seconds_per_byte":1,"seconds_per_flop":{}}`} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if r := LoadRates(""); r != nil {
			t.Errorf("%q gives %v", text, r)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("the cache holds %d files, %v", len(entries), err)
	}
}
