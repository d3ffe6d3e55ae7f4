package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"flow/runtime/replay"
	"flow/runtime/schedule"
)

// This file measures in virtual time how loops that ranks share scale: weakly, and with a slow rank.

// The loops grow along with the ranks. Each rank has one thread.
const (
	rankUnits      = 2048
	rankShare      = 20e-3 // seconds of work a thread
	rankExecutions = 8     // the last is shown; the ones before teach COST
	counterOp      = 0.14e-6
)

var (
	weakRanks   = []int{2, 8, 32, 128, 512, 1024}
	rankDelays  = []float64{0, 10e-6, 100e-6}
	rankTargets = []float64{99, 98, 95}
)

// rankShape is costs for a number of units, scaled to a mean.
type rankShape struct {
	name  string
	costs func(n int) []float64
}

var rankShapes = []rankShape{{"escape times", escapeTimes}, {"power-law rows", powerRows}}

// escapeTimes is the rounds of the points of a picture of the Mandelbrot set, row by row.
func escapeTimes(n int) []float64 {
	width := int(math.Sqrt(1.5 * float64(n)))
	height := max(1, n/width)
	c := make([]float64, n)
	for i := range c {
		x, y := -2.2+3*float64(i%width)/float64(width), -1+2*float64(i/width)/float64(height)
		re, im, k := 0.0, 0.0, 0
		for ; k < 200 && re*re+im*im < 4; k++ {
			re, im = re*re-im*im+x, 2*re*im+y
		}
		c[i] = float64(k + 3)
	}
	return c
}

// powerRows is the entries of rows that follow a power law of exponent 2.3, at most 2000.
func powerRows(n int) []float64 {
	r := rand.New(rand.NewPCG(1, 2))
	c := make([]float64, n)
	for i := range c {
		c[i] = 1 + min(math.Pow(1-r.Float64(), -1/1.3), 2000)
	}
	return c
}

// rankContestant is a technique and protocol.
type rankContestant struct {
	technique string
	counter   bool
}

var rankContestants = []rankContestant{{"STATIC", false}, {"AUTO_CHUNK", false}, {"GSS", false}, {"FAC2", false}, {"COST", false},
	{"AUTO_CHUNK", true}, {"FAC2", true}}

func (c rankContestant) String() string {
	if c.counter {
		return c.technique + ", one counter"
	}
	return c.technique
}

func rankScaling(b *bench) error {
	fmt.Fprintf(b.out, "Virtual time: %d units and %g ms of work a rank of one thread, %g ns a claim inside of a rank, %g us at a counter. Percent of the ideal, the largest of\n"+
		"the work over the ranks, the longest unit and one message, in execution %d; COST has learned before, the others do not. Targets: %g / %g / %g %%.\n",
		rankUnits, rankShare*1e3, virtualClaim*1e9, counterOp*1e6, rankExecutions, rankTargets[0], rankTargets[1], rankTargets[2])
	for _, shape := range rankShapes {
		if err := b.weakRanks(shape); err != nil {
			return err
		}
	}
	return b.slowRank()
}

// weakRanks prints a table of techniques and delays over ranks.
func (b *bench) weakRanks(shape rankShape) error {
	type cell struct {
		percent  float64
		messages int
	}
	rows := len(rankContestants) * len(rankDelays)
	cells := make([]cell, rows*len(weakRanks))
	loops := make([]replay.Operator, len(weakRanks))
	var longest []string
	for i, p := range weakRanks {
		costs := rankCosts(shape, p)
		longest = append(longest, fmt.Sprintf("%.3f", slices.Max(costs)/rankShare))
		loops[i] = replay.Costs(costs)
	}
	fmt.Fprintf(b.out, "\n%s: the longest unit has these parts of a rank's work: %s.\n\n", shape.name, strings.Join(longest, ", "))
	err := inParallel(len(cells), func(i int) error {
		row, k := i%rows, i/rows
		c := rankContestants[row/len(rankDelays)]
		s, err := lastOnRanks(loops[k], c, replay.Cluster{Ranks: weakRanks[k], Threads: 1, Delay: rankDelays[row%len(rankDelays)]})
		cells[row*len(weakRanks)+k] = cell{s.Percent(), s.Messages / weakRanks[k]}
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(b.out, "| %s | a message |%s messages a rank, last |\n|:--|--:|%s--:|\n", shape.name, rankHeads(), strings.Repeat("--:|", len(weakRanks)))
	for row := range rows {
		fmt.Fprintf(b.out, "| %v | %g us |", rankContestants[row/len(rankDelays)], rankDelays[row%len(rankDelays)]*1e6)
		line := cells[row*len(weakRanks):][:len(weakRanks)]
		for _, c := range line {
			fmt.Fprintf(b.out, " %.1f |", c.percent)
		}
		fmt.Fprintf(b.out, " %d |\n", line[len(line)-1].messages)
	}
	return nil
}

func rankHeads() string {
	var heads strings.Builder
	for _, p := range weakRanks {
		fmt.Fprintf(&heads, " %d ranks |", p)
	}
	return heads.String()
}

// rankCosts returns the costs of a shape for some ranks.
func rankCosts(shape rankShape, ranks int) []float64 {
	costs := shape.costs(rankUnits * ranks)
	each := rankShare * float64(ranks) / total(costs)
	for i := range costs {
		costs[i] *= each
	}
	return costs
}

// lastOnRanks simulates the executions of a loop, and returns the last.
func lastOnRanks(o replay.Operator, c rankContestant, m replay.Cluster) (replay.Spread, error) {
	t, err := schedule.Lookup(c.technique)
	if err != nil {
		return replay.Spread{}, err
	}
	m.H, m.Op, m.Counter = virtualClaim, counterOp, c.counter
	executions := 1
	if t.Class == "cost" {
		executions = rankExecutions
	}
	o.Loops = slices.Repeat(o.Loops[:1], executions)
	all, err := replay.SimulateRanks([]replay.Operator{o}, t, m, 0)
	if err != nil || executions == 1 {
		return all, err
	}
	o.Loops = o.Loops[1:]
	but, err := replay.SimulateRanks([]replay.Operator{o}, t, m, 0)
	return all.Last(but), err
}

// slowRank prints what remains of the ideal if one rank has half of its speed.
func (b *bench) slowRank() error {
	const ranks = 16
	speeds := slices.Repeat([]float64{1}, ranks)
	speeds[ranks/3] = .5
	fmt.Fprintf(b.out, "\nOne of %d ranks has half of its speed: percent of the ideal for the speed that is left. Target: 90 %%.\n\n| loop | a message |", ranks)
	for _, c := range rankContestants {
		fmt.Fprintf(b.out, " %v |", c)
	}
	fmt.Fprintf(b.out, "\n|:--|--:|%s\n", strings.Repeat("--:|", len(rankContestants)))
	constant := rankShape{"constant", func(n int) []float64 { return slices.Repeat([]float64{1}, n) }}
	for _, shape := range append([]rankShape{constant}, rankShapes...) {
		o := replay.Costs(rankCosts(shape, ranks))
		for _, d := range rankDelays {
			fmt.Fprintf(b.out, "| %s | %g us |", shape.name, d*1e6)
			for _, c := range rankContestants {
				s, err := lastOnRanks(o, c, replay.Cluster{Ranks: ranks, Threads: 1, Delay: d, Speeds: speeds})
				if err != nil {
					return err
				}
				fmt.Fprintf(b.out, " %.1f |", s.Percent())
			}
			fmt.Fprintln(b.out)
		}
	}
	return nil
}
