//go:build linux && amd64

package amd64

import (
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"flow/ir/loop"
	"flow/ir/loop/looptest"
)

// BenchmarkShapes measures each shape beside the C program in testdata/shapes.c, where gcc is
// installed. Both report the least time of a point over many calls, which the load of the machine
// changes least; they take turns.
func BenchmarkShapes(b *testing.B) {
	for target, arch := range map[*target]string{avx512: "native", avx2: "haswell"} {
		b.Run(string(target.name), func(b *testing.B) { benchmarkShapes(b, target, arch) })
	}
}

func benchmarkShapes(b *testing.B, target *target, arch string) {
	m := need(b, target)
	c := shapesInC(b, arch)
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			n, err := loop.Parse(s.nest(), loop.Standard{})
			if err != nil {
				b.Fatal(err)
			}
			in, out := s.operands(shapeRows, shapeCols)
			f, err := compile(m, target, n, in, out)
			if err != nil {
				b.Fatal(err)
			}
			rows, cols := out[0].Rows, out[0].Cols
			least, peer := math.Inf(1), math.Inf(1)
			for range b.N {
				for range 3 {
					least = min(least, f.least(rows, cols))
					if c != "" {
						peer = min(peer, runC(b, c, s.name))
					}
				}
			}
			b.ReportMetric(least, "ns/point")
			b.ReportMetric(peer, "C-ns/point")
			b.ReportMetric(peer/least, "of-C")
			b.ReportMetric(float64(f.Size()), "bytes")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// least is the least time of a point in nanoseconds, over calls for a twentieth of a second.
func (x *compiled) least(rows, cols int) float64 {
	least, begin := time.Hour, time.Now()
	for round := 0; round < 5 || time.Since(begin) < time.Second/20; round++ {
		t := time.Now()
		x.run(0, rows, 0, cols)
		least = min(least, time.Since(t))
	}
	return float64(least.Nanoseconds()) / float64(rows*cols)
}

// shapesInC is the C program for an instruction set, or "" where there is no compiler.
func shapesInC(b *testing.B, arch string) string {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		return ""
	}
	out := filepath.Join(b.TempDir(), "shapes")
	if text, err := exec.Command(gcc, "-O3", "-march="+arch, "-ffast-math", "-o", out, "testdata/shapes.c", "-lm").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, text)
	}
	return out
}

func runC(b *testing.B, program, shape string) float64 {
	text, err := exec.Command(program, shape).Output()
	if err != nil {
		b.Fatal(shape, err)
	}
	ns, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
	if err != nil {
		b.Fatal(err)
	}
	return ns
}

// BenchmarkCompile measures how long it takes to make the code of each shape.
func BenchmarkCompile(b *testing.B) {
	for _, s := range shapes {
		b.Run(s.name, func(b *testing.B) {
			n, err := loop.Parse(s.nest(), loop.Standard{})
			if err != nil {
				b.Fatal(err)
			}
			in, out := s.operands(shapeRows, shapeCols)
			least := time.Hour
			for b.Loop() {
				t := time.Now()
				if _, err := Compile(AVX512, n, make([]Layout, len(in)), make([]Layout, len(out)), loop.FastLevels, Schedule{}); err != nil {
					b.Fatal(err)
				}
				least = min(least, time.Since(t))
			}
			b.ReportMetric(float64(least.Nanoseconds())/1000, "least-us")
		})
	}
}

// BenchmarkDrawn compiles drawn nests. It reports the median of their least times, and the sum of these
// times divided by the number of instructions.
func BenchmarkDrawn(b *testing.B) {
	for _, target := range []Target{AVX512, AVX2} {
		b.Run(string(target), func(b *testing.B) {
			var nests []*loop.Nest
			instructions, least := 0, []time.Duration{}
			for seed := range uint64(200) {
				n := looptest.Draw(seed).Nest
				list, err := List(target, n, make([]Layout, len(n.Params)), make([]Layout, len(n.Results)), Schedule{})
				if err != nil {
					b.Fatal(err)
				}
				nests, least = append(nests, n), append(least, time.Hour)
				instructions += strings.Count(list.Text, "\n  ")
			}
			for b.Loop() {
				for k, n := range nests {
					for range 5 {
						t := time.Now()
						if _, err := Compile(target, n, make([]Layout, len(n.Params)), make([]Layout, len(n.Results)), loop.FastLevels, Schedule{}); err != nil {
							b.Fatal(err)
						}
						least[k] = min(least[k], time.Since(t))
					}
				}
			}
			all := time.Duration(0)
			for _, t := range least {
				all += t
			}
			slices.Sort(least)
			b.ReportMetric(float64(least[len(least)/2].Nanoseconds())/1000, "median-us")
			b.ReportMetric(float64(all.Nanoseconds())/float64(instructions), "ns/instruction")
		})
	}
}
