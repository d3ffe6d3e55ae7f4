package amd64

import (
	"bytes"
	"reflect"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
)

// compiledFor makes the code of a nest for a target.
func compiledFor(t *testing.T, target Target, n *loop.Nest) *Code {
	c, err := Compile(target, n, make([]Layout, len(n.Params)), make([]Layout, len(n.Results)), loop.FastLevels, Schedule{})
	if err != nil {
		t.Error(err)
	}
	return c
}

// TestCompilationsShareNothing compiles nests one after another, then several at a time: the code is
// the same, and later compilations leave earlier code as it is.
func TestCompilationsShareNothing(t *testing.T) {
	const nests, at = 60, 4
	for _, target := range []Target{AVX2, AVX512} {
		var codes []*Code
		var texts [][]byte
		for seed := range uint64(nests) {
			c := compiledFor(t, target, looptest.Draw(seed).Nest)
			codes, texts = append(codes, c), append(texts, bytes.Clone(c.Text))
		}
		var all sync.WaitGroup
		for range at {
			all.Go(func() {
				for seed := range uint64(nests) {
					if c := compiledFor(t, target, looptest.Draw(seed).Nest); !bytes.Equal(c.Text, texts[seed]) {
						t.Errorf("%s: the code of nest %d differs beside other compilations", target, seed)
					}
				}
			})
		}
		all.Wait()
		for seed, c := range codes {
			if !bytes.Equal(c.Text, texts[seed]) {
				t.Errorf("%s: a later compilation wrote into the code of nest %d", target, seed)
			}
		}
	}
}

// mostAllocated is the largest number of bytes that a compilation allocates a byte of code, on average.
const mostAllocated = 20

// TestCompilingAllocatesLittle compiles drawn nests again, without a collector that would take the
// workshop away.
func TestCompilingAllocatesLittle(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, target := range []Target{AVX2, AVX512} {
		var nests []*loop.Nest
		for seed := range uint64(60) {
			nests = append(nests, looptest.Draw(seed).Nest)
		}
		code := 0
		every := func() (allocated uint64) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			code = 0
			for _, n := range nests {
				code += len(compiledFor(t, target, n).Text)
			}
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		least := every()
		for range 4 { // a goroutine that moves to another processor finds no memory of earlier compilations there
			least = min(least, every())
		}
		each := float64(least) / float64(code)
		t.Logf("%s: %.0f bytes allocated a byte of code", target, each)
		if each > mostAllocated {
			t.Errorf("%s: %.0f bytes allocated a byte of code, want at most %d", target, each, mostAllocated)
		}
	}
}

// TestOperandsInRegisters: the Go compiler copies a struct of more than four fields by wide loads,
// which wait for the narrow stores before them. That took a fifteenth of the time of a compilation.
func TestOperandsInRegisters(t *testing.T) {
	var check func(x reflect.Type)
	check = func(x reflect.Type) {
		if x.Kind() != reflect.Struct {
			return
		}
		if x.NumField() > 4 {
			t.Errorf("%v has %d fields", x, x.NumField())
		}
		for k := range x.NumField() {
			check(x.Field(k).Type)
		}
	}
	check(reflect.TypeFor[operand]())
}

// TestCompileAllocates: the memory that a compilation needs until its code is written belongs to a
// workshop, which the next compilation uses again. Only closures, the code itself and rewritten
// nests are allocated.
func TestCompileAllocates(t *testing.T) {
	const nests, most = 40, 350
	all, shop := 0.0, &workshop{}
	for seed := range uint64(nests) {
		n := looptest.Draw(seed).Nest
		all += testing.AllocsPerRun(3, func() {
			l := lowered(avx512, n, make([]Layout, len(n.Params)), make([]Layout, len(n.Results)), loop.FastLevels, Schedule{}, shop)
			if _, err := l.code(); err != nil {
				t.Fatal(err)
			}
			shop.free()
		})
	}
	if all > most*nests {
		t.Errorf("%.0f allocations a compilation, want at most %d", all/nests, most)
	}
}
