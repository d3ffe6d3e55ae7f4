package schedule

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// This file stores a Selector in a file: choices, unfinished explorations, and dropped choices. A
// program that executes its loop once a run finds its technique over some thirty runs.

// kept is one key in a file. A choice has Technique, an exploration Trying; a key without either
// lost its choice.
type kept struct {
	Key
	Technique string    `json:"technique,omitempty"`
	PerUnit   float64   `json:"seconds_per_unit,omitempty"`
	Slower    float64   `json:"cusum,omitempty"`
	Spread    float64   `json:"spread,omitempty"`
	Trying    []attempt `json:"trying,omitempty"`
	Next      int       `json:"next,omitempty"` // which of them is next
}

// attempt is a candidate and its times in this round, in seconds a unit.
type attempt struct {
	Technique string    `json:"technique"`
	PerUnit   []float64 `json:"seconds_per_unit"`
}

// MarshalJSON writes everything except loops that have been too short to explore.
func (s *Selector) MarshalJSON() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []kept{}
	for k, a := range s.arms {
		switch x := (kept{Key: k}); {
		case a.reference > 0:
			x.Technique, x.PerUnit, x.Slower, x.Spread = a.candidates[0].Name, a.reference, a.cusum, a.spread
			list = append(list, x)
		case len(a.candidates) > 0:
			for i, t := range a.candidates {
				x.Trying = append(x.Trying, attempt{t.Name, append([]float64{}, a.times[i]...)})
			}
			x.Next, x.Spread = a.next%len(a.candidates), a.spread
			list = append(list, x)
		case a.dropped:
			list = append(list, x)
		}
	}
	slices.SortFunc(list, func(a, b kept) int {
		return cmp.Or(cmp.Compare(a.Op, b.Op), cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.P, b.P))
	})
	return json.Marshal(list)
}

// UnmarshalJSON adds what was written, replacing the same keys. It skips unknown techniques and
// impossible values.
func (s *Selector) UnmarshalJSON(text []byte) error {
	var list []kept
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arms == nil {
		s.arms = map[Key]*trial{}
	}
	for i := range list {
		switch x := &list[i]; {
		case x.Technique == "" && len(x.Trying) == 0:
			delete(s.arms, x.Key)
		default:
			if a := x.trial(); a != nil {
				s.arms[x.Key] = a
			}
		}
	}
	return nil
}

// trial returns what was stored, nil if it makes no sense. Candidates that learn are not excused
// from their first execution: a loop explored over several runs has few executions a run, so these
// are what it will get.
func (x *kept) trial() *trial {
	if !(x.Spread >= 0) {
		return nil
	}
	if x.Technique != "" {
		t := candidate(x.Technique)
		if t == nil || !isTime(x.PerUnit) || !(x.Slower >= 0) {
			return nil
		}
		return &trial{candidates: []*Technique{t}, times: make([][]float64, 1), reference: x.PerUnit, cusum: x.Slower, spread: x.Spread}
	}
	a := &trial{next: max(x.Next, 0), spread: x.Spread}
	for _, try := range x.Trying {
		t := candidate(try.Technique)
		if t == nil || slices.ContainsFunc(try.PerUnit, func(per float64) bool { return !isTime(per) }) {
			return nil
		}
		a.candidates, a.times = append(a.candidates, t), append(a.times, try.PerUnit)
	}
	return a
}

// isTime reports whether a time can have been measured.
func isTime(t float64) bool { return t > 0 && !math.IsInf(t, 0) }

// candidate returns a technique that may have been chosen, or nil.
func candidate(name string) *Technique {
	if t, err := Lookup(name); err == nil && t != Auto && t.Class != "expression" {
		return t
	}
	return nil
}
