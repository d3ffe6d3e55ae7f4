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

	"flow/kernels/blas"
	"flow/runtime/schedule"
)

// This file keeps the choices of AUTO between runs, in a cache file that any run may lose.

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
