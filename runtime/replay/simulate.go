package replay

import (
	"flow/runtime/schedule"
)

// This file runs loops again in virtual time.

// Machine is a simulated machine: equal workers, all present from the start of each execution.
type Machine struct {
	Workers int
	H       float64 // seconds to claim a chunk
	Serial  float64 // seconds of claiming that exclude other claims, beside H
}

// Simulate executes all loops of an operator under a technique in sequence, as the engine does:
// what a technique learns in one execution it knows in the next, as long as the loop keeps its
// size. Chunks have at least minChunk units; 0: as recorded.
func Simulate(o *Operator, t *schedule.Technique, m Machine, minChunk int) (schedule.Account, error) {
	var sum schedule.Account
	var s *schedule.Simulation
	machine := schedule.Machine{P: m.Workers, H: m.H, Serial: m.Serial}
	units := -1
	for i := range o.Loops {
		l := &o.Loops[i]
		if n := len(l.Costs.Costs()); n != units {
			least := minChunk
			if least == 0 {
				least = l.MinChunk
			}
			var err error
			if s, err = schedule.NewSimulation(l.Costs, t, schedule.Params{MinChunk: least}, machine); err != nil {
				return sum, err
			}
			units = n
		} else {
			s.SetTrace(l.Costs)
		}
		out, err := s.Run()
		if err != nil {
			return sum, err
		}
		sum = sum.Plus(l.ideal(machine).Account(out))
	}
	return sum, nil
}

// ideal is cached between techniques, since it depends only on the number of workers.
func (l *Loop) ideal(m schedule.Machine) schedule.Ideal {
	if l.known.p != m.P {
		l.known.p, l.known.ideal = m.P, schedule.NewIdeal(l.Costs, m)
	}
	return l.known.ideal
}

// Result is a program under one technique on one number of workers, operator after operator.
type Result struct {
	Technique string
	Workers   int
	schedule.Account
	Speedup float64 // time in chunks, as on one worker without overhead, over Time
}

// SimulateAll is Simulate of several operators, with barriers between them.
func SimulateAll(operators []Operator, t *schedule.Technique, m Machine, minChunk int) (Result, error) {
	r := Result{Technique: t.Name, Workers: m.Workers}
	for i := range operators {
		a, err := Simulate(&operators[i], t, m, minChunk)
		if err != nil {
			return r, err
		}
		r.Account = r.Plus(a)
	}
	if r.Time > 0 {
		r.Speedup = r.Busy / r.Time
	}
	return r, nil
}

// oracleUnits is how many units are replayed to find an oracle: some 0.3 s for the whole portfolio.
const oracleUnits = 1 << 19

// Oracle replays an operator under every technique, on its workers and with claims as long as
// recorded, and returns the fastest. An operator of very many units is judged by its longest
// execution; all is then false.
func Oracle(o *Operator) (name string, time float64, all bool, err error) {
	sum := 0
	for i := range o.Loops {
		sum += len(o.Loops[i].Costs.Costs())
	}
	judged := *o
	if all = sum <= oracleUnits || len(o.Loops) == 1; !all {
		judged.Loops = []Loop{*o.Longest()}
	}
	m := Machine{Workers: judged.Loops[0].Workers, H: Claiming([]Operator{judged})}
	portfolio := schedule.Techniques()
	for i := range portfolio {
		a, err := Simulate(&judged, &portfolio[i], m, 0)
		if err != nil {
			return "", 0, false, err
		}
		if name == "" || a.Time < time {
			name, time = portfolio[i].Name, a.Time
		}
	}
	return name, time, all, nil
}
