package schedule

import "fmt"

// This file defines the two lines that are said of a finished loop.

// Report compares an execution, simulated or real, with the ideal; times are seconds. The oracle is left out if its name is "".
//
// Idle is what the execution says it is. In a real one time also goes elsewhere (waking up, other processes), so busy, scheduling and idle time may not add up to
// P times the makespan; the rest is shown as other.
func (i Ideal) Report(o Outcome, oracle string, oracleTime float64) string {
	bound, which := i.Bound()
	line := fmt.Sprintf("T %s | ideal %s (%s) -> %.1f %% of ideal | LPT %s | best block %s",
		seconds(o.Makespan), seconds(bound), which, i.Percent(o.Makespan), seconds(i.LPT), seconds(i.BestBlock))
	if oracle != "" {
		line += fmt.Sprintf(" | oracle %s %s", oracle, seconds(oracleTime))
	}
	part := func(t float64) float64 {
		if all := float64(len(o.Finish)) * o.Makespan; all > 0 {
			return 100 * t / all
		}
		return 0
	}
	other := float64(len(o.Finish))*o.Makespan - o.Busy - o.Sched - o.Idle
	return line + fmt.Sprintf("\nidle %.1f %%  scheduling %.1f %%  other %.1f %% | p.i. %.1f %%  c.o.v. %.3f | %d chunks\n",
		part(o.Idle), part(o.Sched), max(0, part(other)), Imbalance(o.Finish), COV(o.Finish), o.Chunks)
}

// seconds is a time with four digits in its unit.
func seconds(t float64) string {
	switch {
	case t >= 1 || t <= 0:
		return fmt.Sprintf("%.4g s", t)
	case t >= 1e-3:
		return fmt.Sprintf("%.4g ms", t*1e3)
	case t >= 1e-6:
		return fmt.Sprintf("%.4g us", t*1e6)
	}
	return fmt.Sprintf("%.4g ns", t*1e9)
}
