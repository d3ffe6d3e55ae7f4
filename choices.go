package flow

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"flow/runtime/schedule"
)

// This file keeps what AUTO has chosen between runs: a file of the user's cache directory, which any run may lose.

// choicesVersion is part of the file name: a file of another version is as good as none.
const choicesVersion = 1

func choicesPath() (string, error) {
	dir, err := cacheDir()
	return filepath.Join(dir, fmt.Sprintf("auto-v%d.json", choicesVersion)), err
}

// loadChoices is what earlier runs have chosen, nothing if that cannot be read.
func loadChoices() *schedule.Selector {
	s := schedule.NewSelector()
	if path, err := choicesPath(); err == nil {
		if text, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(text, s) // damage is as good as nothing
		}
	}
	return s
}

// saveChoices adds those of s to the file, which appears whole or not at all. Of two runs that end at once one is forgotten.
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

// withChoices runs f, under AUTO with what earlier runs have chosen, and keeps what this one has. That the file cannot be written is no
// reason for a run to fail: the next one explores again.
func (s Scheduling) withChoices(f func(Scheduling) error) error {
	if s.Plan.Technique != schedule.Auto || s.Plan.Selector != nil || s.Forget {
		return f(s)
	}
	s.Plan.Selector = loadChoices()
	err := f(s)
	_ = saveChoices(s.Plan.Selector)
	return err
}
