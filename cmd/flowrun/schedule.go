package main

import (
	"errors"
	"strings"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/runtime/schedule"
)

// This file defines the flags of self-scheduling. They are those of DAPHNE, whose spelling is
// accepted too.

func scheduleFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "partitioning", Usage: "schedule loops by `TECHNIQUE` (flowrun chunks lists them), 'expr: EXPRESSION', or AUTO, which tries and chooses", DefaultText: schedule.Default().Name},
		&cli.StringFlag{Name: "queue-layout", Aliases: []string{"queue_layout"}, Usage: "keep chunks in queues of `LAYOUT`: " + strings.Join(schedule.Layouts(), ", "), DefaultText: "CENTRALIZED, in rounds of iterate PERCPU"},
		&cli.StringFlag{Name: "victim", Aliases: []string{"victim-selection", "victim_selection"}, Usage: "search other queues in `ORDER`: " + strings.Join(schedule.Victims(), ", "), DefaultText: "SEQ"},
		&cli.IntFlag{Name: "grain-size", Aliases: []string{"grain_size"}, Usage: "hand out at least `N` leaves (the units of a loop) at a time", DefaultText: "1; without --partitioning at most 256 chunks a worker"},
		&cli.BoolFlag{Name: "pre-partition", Aliases: []string{"pre_partition"}, DisableDefaultText: true, Usage: "give each queue an equal part of a loop before it is cut into chunks"},
		&cli.BoolFlag{Name: "forget", DisableDefaultText: true, Usage: "AUTO neither reads nor stores its choices and trials"},
		&cli.BoolFlag{Name: "hyperthreading", Value: true, DisableDefaultText: true, Usage: "one thread a processor, without --threads; --hyperthreading=false: one a core"},
		&cli.BoolFlag{Name: "pin-workers", Aliases: []string{"pin_workers"}, DisableDefaultText: true, Usage: "bind each thread to a processor"},
	}
}

// commonSchedule reads the scheduleFlags that a sweep does not vary.
func commonSchedule(c *cli.Context) (o flow.Scheduling, err error) {
	o.Pin, o.Plan.PrePartition, o.OneThreadPerCore = c.Bool("pin-workers"), c.Bool("pre-partition"), !c.Bool("hyperthreading")
	o.Forget = c.Bool("forget")
	if c.IsSet("grain-size") {
		if o.Plan.Grain = c.Int("grain-size"); o.Plan.Grain < 1 {
			return o, usagef("--grain-size is at least 1, not %d", o.Plan.Grain)
		}
	}
	return o, nil
}

// schedule reads scheduleFlags.
func (s *session) schedule(c *cli.Context) (o flow.Scheduling, err error) {
	if o, err = commonSchedule(c); err != nil {
		return o, err
	}
	if name := c.String("partitioning"); c.IsSet("partitioning") {
		if o.Plan.Technique, err = technique(name); err != nil {
			return o, err
		}
		// a mistake better told before the run
		if err := hopeless(o.Plan.Technique); err != nil {
			e := usagef("--partitioning: %v", err)
			e.help = "R is what is left, i the step; ceil(R/(2*P)) is a chunk for every R > 0"
			return o, e
		}
	}
	if name := c.String("queue-layout"); name != "" {
		if o.Plan.Layout, err = schedule.ParseLayout(name); err != nil {
			return o, unknownName(err)
		}
	}
	if name := c.String("victim"); name != "" {
		if o.Plan.Victim, err = schedule.ParseVictim(name); err != nil {
			return o, unknownName(err)
		}
	}
	return o, nil
}

// hopeless returns why a technique cannot cut any plausible loop, or nil. Only the run shows
// whether it can cut the program's loops, since an expression may depend on their sizes.
func hopeless(t *schedule.Technique) (err error) {
	if t == schedule.Auto { // it chooses some that can
		return nil
	}
	for _, n := range []int{1 << 30, 1_000_000, 999, 1000} {
		if _, err = t.New(schedule.Params{N: n, P: 4}); err == nil {
			return nil
		}
	}
	return err
}

// unknownName is a usage error with help from package schedule.
func unknownName(err error) error {
	e := usagef("%v", err)
	if unknown := (*schedule.UnknownError)(nil); errors.As(err, &unknown) {
		e.help = unknown.Help()
	}
	return e
}

// technique looks a name up. A wrong one is a usage error.
func technique(name string) (*schedule.Technique, error) {
	t, err := schedule.Lookup(name)
	if err == nil {
		return t, nil
	}
	return nil, unknownName(err)
}
