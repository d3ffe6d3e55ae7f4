package flow

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"flow/ir"
	"flow/kernels/blas"
	"flow/runtime/local"
	"flow/runtime/schedule"
)

// This file says how loops are handed out. It keeps the choices of AUTO between runs, in a cache file
// that any run may lose.

// Scheduling says how the loops of a run are handed out to its threads. It does not change a bit of
// the result. The zero value is the default technique and one queue.
type Scheduling struct {
	Plan schedule.Plan // Groups are those of the machine
	Pin  bool          // bind each thread to a processor
	// Forget: AUTO neither reads nor writes the file of its choices.
	Forget bool
	// OneThreadPerCore counts cores, not processors, if RunOptions.Threads is 0.
	OneThreadPerCore bool
}

// pool returns the options of a run's pool.
func (s Scheduling) pool() local.PoolOptions {
	return local.PoolOptions{Pin: s.Pin, OneThreadPerCore: s.OneThreadPerCore}
}

// Parallelism returns the threads of a run of one rank if RunOptions.Threads is 0.
func (s Scheduling) Parallelism() int { return local.Parallelism(s.OneThreadPerCore) }

// choicesVersion is part of the file name. Files of other versions are ignored.
const choicesVersion = 2

// choicesPath returns a file for each kind of machine, since machines may share a home directory,
// and the best choice differs.
func choicesPath() (string, error) {
	h := fnv.New32a()
	fmt.Fprintln(h, runtime.GOARCH, runtime.NumCPU(), blas.Names(), processorModel())
	dir, err := cacheDir()
	return filepath.Join(dir, fmt.Sprintf("auto-v%d-%08x.json", choicesVersion, h.Sum32())), err
}

// processorModel returns Linux's name of the first processor, "" elsewhere.
func processorModel() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// loadChoices returns the choices of earlier runs, none if they cannot be read.
func loadChoices() *schedule.Selector {
	s := schedule.NewSelector()
	if path, err := choicesPath(); err == nil {
		if text, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(text, s) // damage is as good as nothing
		}
	}
	return s
}

// saveChoices adds those of s to the file, which appears whole or not at all. Of two runs that end
// at once one is lost.
func saveChoices(s *schedule.Selector) error {
	path, err := choicesPath()
	if err != nil {
		return err
	}
	mine, err := json.Marshal(s)
	if err != nil {
		return err
	}
	all := loadChoices()
	if err := json.Unmarshal(mine, all); err != nil {
		return err
	}
	text, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return saveCache(path, text)
}

// withChoices runs f with the choices of earlier runs if AUTO is the technique of any loop, and
// stores those of this run. A file that cannot be written fails no run: the next one explores
// again.
func (p *Program) withChoices(s Scheduling, f func(Scheduling) error) error {
	if s.Plan.Selector != nil || s.Forget || !p.chooses(s) {
		return f(s)
	}
	s.Plan.Selector = loadChoices()
	err := f(s)
	_ = saveChoices(s.Plan.Selector)
	return err
}

// chooses reports whether the run or the program asks for AUTO.
func (p *Program) chooses(s Scheduling) bool {
	if s.Plan.Technique == schedule.Auto || s.Plan.Override {
		return s.Plan.Technique == schedule.Auto
	}
	return slices.ContainsFunc(p.OwnSchedules(), func(o OwnSchedule) bool {
		t, err := schedule.Lookup(o.Technique)
		return err == nil && t == schedule.Auto
	})
}

// OwnSchedule is an operator for which the program names a technique.
type OwnSchedule struct {
	Name  string `json:"name"`  // of the operator
	Where string `json:"where"` // its place in the text
	// as the program names it, in the spelling of flowrun chunks
	Technique string `json:"technique"`
}

// OwnSchedules lists these operators in the order of the program, each once.
func (p *Program) OwnSchedules() []OwnSchedule {
	var out []OwnSchedule
	var walk func(g *ir.Graph)
	walk = func(g *ir.Graph) {
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if t := n.Attrs.Str("schedule"); t != "" {
				file, line, column := p.made.Files.Position(n.Span.From)
				o := OwnSchedule{n.Op.Name, fmt.Sprintf("%s:%d:%d", file, line, column), t}
				if !slices.Contains(out, o) {
					out = append(out, o)
				}
			}
			for r := n.Region; r != nil; r = r.Next {
				walk(r.Graph)
			}
		}
	}
	walk(p.made.Plan.Graph)
	return out
}
