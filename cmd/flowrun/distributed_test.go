package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/urfave/cli/v2"

	"flow"
)

// A rank runs the program that it has compiled while MPI started, unless the ranks agree on other
// memory or sizes take reading a file. It shares what it has read in either case.
func TestRanksCompileOnce(t *testing.T) {
	t.Setenv("OMPI_COMM_WORLD_RANK", "1")
	t.Setenv("OMPI_COMM_WORLD_SIZE", "2")
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	table := write("t.csv", "x,y\n1,2\n3,4\n")
	for _, tt := range []struct {
		name, text string
		agree      func(o *flow.CompileOptions)
		early      bool
	}{
		{"as guessed", "emit sum(rand(50, 2, seed = 1))\n", func(o *flow.CompileOptions) {}, true},
		{"less memory", "emit sum(rand(50, 2, seed = 1))\n", func(o *flow.CompileOptions) { o.Memory.Bytes /= 2 }, false},
		{"fewer beside it", "emit sum(rand(50, 2, seed = 1))\n", func(o *flow.CompileOptions) { o.Together++ }, false},
		{"more ranks", "emit sum(rand(50, 2, seed = 1))\n", func(o *flow.CompileOptions) { o.Ranks++ }, false},
		{"a table", "emit sum(read(\"" + table + "\"))\n", func(o *flow.CompileOptions) {}, false},
	} {
		file := write("p.flow", tt.text)
		s := &session{out: io.Discard, err: io.Discard}
		app := s.app()
		app.Command("run").Action = func(c *cli.Context) error {
			o, err := s.compileOptions(c)
			if err != nil {
				return err
			}
			e := s.prepare(c, runRequest{}, o)
			defer e.stop()
			mine := <-e.program // nil of a file that must be read
			e.program <- mine
			o.Ranks, o.Together = 2, localRanks()
			tt.agree(&o)
			for rank := range 2 {
				shared := 0
				p, err := s.compileTogether(c, o, rank, e, func() error { shared++; return nil })
				if err != nil {
					return err
				}
				if (p == mine) != tt.early || p.Compiled().Plan.Ranks != o.Ranks || shared != 1 {
					t.Errorf("%s, rank %d: the early program is run: %v, wanted %v; for %d ranks, shared %d times", tt.name, rank, p == mine, tt.early, p.Compiled().Plan.Ranks, shared)
				}
				e.program <- mine
			}
			return nil
		}
		if err := app.Run([]string{"flowrun", "run", file}); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
