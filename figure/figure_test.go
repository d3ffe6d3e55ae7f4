package figure

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"
)

// pages draws one page of every kind, and those at the edges.
func pages() map[string]*Page {
	names := []string{"STATIC", "SS", "GSS", "FAC2", "AWF-B", "StaticSteal", "PSS_MEASURED", "COST"}
	bar := func(i, s int) Bar {
		v := .010 + .002*math.Sin(float64(3*i+s))
		return Bar{v, v * .96, v * 1.07}
	}
	panel := func(title string, series int) BarPanel {
		p := BarPanel{Title: title}
		for s := range series {
			var list []Bar
			for i := range names {
				list = append(list, bar(i, s))
			}
			p.Bars = append(p.Bars, list)
			p.Baseline = append(p.Baseline, list[0].Value)
		}
		return p
	}
	holes := panel("PERCPU SEQ", 2)
	holes.Bars[1][3], holes.Baseline[1] = Missing, math.NaN()
	var many []Chunks
	for i, n := range names {
		c := Chunks{Title: n}
		for k := 250; k > 0; k = k * (2 + i) / (4 + i) {
			c.Runs = append(c.Runs, Run{k, 4})
		}
		many = append(many, c)
	}
	long := Chunks{Title: "RAND"}
	for i := range 20000 {
		long.Runs = append(long.Runs, Run{10 + i*7919%90, 1})
	}
	line := func(workers, chunks int) Timeline {
		t := Timeline{Title: "GSS", Workers: workers, End: .013}
		for w := range workers {
			at := .0001
			for i := range chunks {
				d := (.012 - .003*float64(w)/float64(workers)) / float64(chunks)
				t.Spans = append(t.Spans, Span{w, at, at + d/20, at + d, i%5 == 4})
				at += d
			}
		}
		return t
	}
	return map[string]*Page{
		"bars":      Bars("mandelbrot.flow", names, []string{"2 threads", "4 threads"}, []BarPanel{panel("CENTRALIZED", 2), holes}),
		"bars_one":  Bars("mandelbrot.flow", names, []string{"2 threads"}, []BarPanel{panel("CENTRALIZED", 1)}),
		"steps":     Steps("chunks of mandelbrot.flow:3", append(many, long)),
		"steps_one": Steps("TSS, N = 1000, P = 4", many[2:3]),
		"no_steps":  Steps("TSS, N = 0, P = 4", []Chunks{{Title: "TSS"}}),
		"timeline":  Timelines("workers of mandelbrot.flow:3", []Timeline{line(4, 12), line(4, 3), line(4, 30000), line(4, 100)}),
		"crowd":     Timelines("workers", []Timeline{line(48, 5)}),
		"empty":     Timelines("workers", []Timeline{{Title: "SS", Workers: 2}}),
		"speedup": Speedups("simulated", "workers", []int{1, 2, 4, 8, 16, 32, 64}, []float64{1, 2, 4, 8, 16, 32, 40}, []Scaling{
			{"STATIC", []float64{1, 1.9, 3, 6, 10, 16, 20}, []float64{100, 95, 75, 75, 62, 50, 50}},
			{"COST", []float64{1, 2, 4, 7.9, 15.8, 31, 39}, []float64{100, 100, 100, 99, 98, 97, 97.5}}}),
		"one_worker": Speedups("simulated", "workers", []int{4}, []float64{4}, []Scaling{{"SS", []float64{3}, []float64{75}}}),
	}
}

// TestPages draws everything in both formats. FIGURES=dir keeps the files, to be looked at.
func TestPages(t *testing.T) {
	dir := os.Getenv("FIGURES")
	for name, p := range pages() {
		for _, format := range Formats {
			var b bytes.Buffer
			if err := p.Write(&b, format); err != nil {
				t.Errorf("%s.%s: %v", name, format, err)
				continue
			}
			switch format {
			case "svg":
				text := b.String()
				if !strings.Contains(text, "</svg>") || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") || !strings.Contains(text, "Arial") {
					t.Errorf("%s.svg is broken", name)
				}
				if texts, told := strings.Count(text, "<text "), strings.Count(text, "<text textLength="); texts != told {
					t.Errorf("%s.svg says of %d texts out of %d how long they are", name, told, texts)
				}
				for _, want := range map[string][]string{
					"bars": {"PSS_MEASURED", "time (ms)", "4 threads", "PERCPU SEQ"}, "timeline": {"stolen chunk", "GSS: 13 ms", "worker"},
					"steps": {"STATIC: ", "chunk size", "RAND: 20000"}, "speedup": {"percent of ideal", ">64<", "COST"},
				}[name] {
					if !strings.Contains(text, want) {
						t.Errorf("%s.svg lacks %q", name, want)
					}
				}
				if len(text) > 1<<20 {
					t.Errorf("%s.svg has %d bytes", name, len(text))
				}
			case "png":
				if image, err := png.Decode(bytes.NewReader(b.Bytes())); err != nil || image.Bounds().Dx() < 300 {
					t.Errorf("%s.png: %v", name, err)
				}
			}
			if dir != "" {
				if err := os.WriteFile(filepath.Join(dir, name+"."+format), b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := pages()["empty"].Write(&bytes.Buffer{}, "pdf"); err == nil {
		t.Error("a format that is not there was written")
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		file, want string
		ok         bool
	}{{"a.svg", "svg", true}, {"b/a.PNG", "png", true}, {"a.pdf", "pdf", false}, {"svg", "", false}} {
		if got, ok := Format(c.file); got != c.want || ok != c.ok {
			t.Errorf("%s is %q, %v", c.file, got, ok)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		got  any
		want string
	}{
		{labels(every{5}.Ticks(0, 13.2)), "0 5 10"},
		{labels(every{5}.Ticks(0, .9)), "0 0.2 0.4 0.6 0.8"},
		{labels(every{5}.Ticks(3, 3)), "3"},
		{labels(whole{6}.Ticks(0, 1.05)), "0 1"},
		{labels(whole{6}.Ticks(0, .9)), "0"},
		{labels(whole{6}.Ticks(0, 3.9)), "0 1 2 3"},
		{labels(whole{5}.Ticks(0, 13.2)), "0 5 10"},
		{labels(counts{10}.Ticks(.8, 350)), "1 10 100"},
		{labels(counts{2}.Ticks(1, 1024)), "1 2 4 8 16 32 64 128 256 512 1024"},
		{labels(workers{40}.Ticks(0, 40)), "0 4 8 12 16 20 24 28 32 36"},
	} {
		if fmt.Sprint(c.got) != c.want {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
}

func labels(ticks []plot.Tick) string {
	var out []string
	for _, k := range ticks {
		if k.Label != "" {
			out = append(out, k.Label)
		}
	}
	return strings.Join(out, " ")
}
