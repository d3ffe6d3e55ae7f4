package compiler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"flow/compiler/lower"
	"flow/compiler/nodes"
	"flow/compiler/pass"
	"flow/compiler/rule"
	"flow/ir"
	"flow/ir/op"
	"flow/ir/plan"
	"flow/ir/types"
	"flow/lang"
	"flow/lang/source"
	"flow/memory"
)

// Setting is one `--set name=value`.
type Setting = lower.Setting

// Param is a parameter of a program.
type Param = lower.Param

// Options are the inputs of a compilation beside the text.
type Options struct {
	Table *op.Table
	Ranks int // at least 1; 0 means 1
	Sets  []Setting
	// Disable lists passes and exact rules to leave out. A required, canonical or unknown one
	// is an error.
	Disable []string
	// Verify checks every invariant after every pass, which takes about as long as the passes.
	Verify bool
	// Dump is called with the graph after each pass, `elaborate` first.
	Dump func(pass string, g *ir.Graph)
	// Elaborated is called when the types of all values are known, before the passes; nil: not.
	Elaborated func()
	// Rates are measured kernel costs; nil for guesses.
	Rates plan.Rates
	// PlanOnly leaves Result.Program nil, which frees the memory of the definition for the
	// plan.
	PlanOnly bool
	// MaxTasks bounds the unrolled program; 0 is two million.
	MaxTasks int
	// Unshared lists files, as the program names them, of which the ranks may have different
	// copies: only rank 0 reads them.
	Unshared []string
	// Sizes makes blocks tiny, for tests. The zero value has the sizes for programs.
	Sizes nodes.Sizes
	// Blocks cuts every large matrix, as for several ranks, even where a loop would do. For
	// tests and comparisons.
	Blocks bool
	// Memory is the limit for one value of the plan, and for what the values of Together ranks take at
	// one time by the prediction; zero is no limit.
	Memory memory.Limit
	// Together is the number of ranks that share Memory; 0: all.
	Together int
	// Std is the embedded library.
	Std fs.FS
	// Load reads imported files; nil is source.ReadFile.
	Load func(path string) ([]byte, error)
	// Path lists the directories to search for an imported file that is not beside the
	// importing one.
	Path []string
	// Schedule checks the name of a self-scheduling technique in a program's hints; nil accepts
	// all names.
	Schedule func(name string) error
}

// Result is a compiled program.
type Result struct {
	Files  *source.FileSet
	Params []Param
	// Program is the graph after the canonical passes: what the program means, and the input of
	// the reference evaluator. nil with Options.PlanOnly.
	Program  *ir.Graph
	Plan     *plan.Plan
	Passes   []PassStat
	Warnings source.Diagnostics
	// ParseSeconds is the time to parse, CompileSeconds the rest.
	ParseSeconds, CompileSeconds float64
}

// PassStat describes one run of a pass.
type PassStat struct {
	Name          string
	Seconds       float64
	Before, After int // nodes
}

// Compile makes a plan of a program's text. The result has Files even if compilation fails, for
// rendering the diagnostics. A bug in a pass is reported with the pass's name.
func Compile(ctx context.Context, name string, text []byte, o Options) (*Result, source.Diagnostics) {
	if o.Ranks == 0 {
		o.Ranks = 1
	}
	r := &Result{Files: source.NewFileSet()}
	if ds := checkOptions(o); ds.HasErrors() {
		return r, ds
	}
	start := time.Now()
	f := r.Files.Add(name, string(text))
	tree, ds := lang.Parse(f)
	r.ParseSeconds = time.Since(start).Seconds()
	if ds.HasErrors() {
		return r, ds.Sort()
	}
	start = time.Now()
	defer func() { r.CompileSeconds = time.Since(start).Seconds() }()
	in := inputOf(r.Files, o)
	in.File = tree
	return r, r.compile(ctx, o, func() (lower.Output, source.Diagnostics) { return lower.Run(ctx, in) })
}

func checkOptions(o Options) (ds source.Diagnostics) {
	if o.Ranks < 1 {
		ds = append(ds, source.Errorf("E706", source.Span{}, "%d ranks", o.Ranks))
	}
	if len(o.Disable) == 0 {
		return ds
	}
	var passes, names []string
	for _, p := range Passes() {
		if !p.Required {
			passes = append(passes, p.Name)
		}
	}
	names, defined := passes, map[string]bool{}
	for _, r := range Rules() {
		if r.Class == rule.Exact {
			names = append(names, r.Name)
		} else {
			defined[r.Name] = true
		}
	}
	for _, d := range o.Disable {
		if slices.Contains(names, d) {
			continue
		}
		diag := source.Errorf("E203", source.Span{}, "no pass or rule `%s` can be switched off", d)
		if s, ok := source.Suggest(d, names); defined[d] {
			diag = source.Errorf("E203", source.Span{}, "the rule `%s` defines what a program means and cannot be switched off", d).
				WithHelp("flowrun explain %s says what it does", d)
		} else if ok {
			diag = diag.WithHelp("did you mean `%s`?", s)
		} else {
			diag = diag.WithHelp("passes that can: %v; the rules are listed by flowrun explain --rules", passes)
		}
		ds = append(ds, diag)
	}
	return ds
}

func inputOf(files *source.FileSet, o Options) lower.Input {
	in := lower.Input{Files: files, Table: o.Table, Sets: o.Sets, MaxTasks: o.maxTasks(), Ranks: o.Ranks, Std: o.Std, Load: o.Load, Path: o.Path, Schedule: o.Schedule}
	if in.Load == nil {
		in.Load, in.List = source.ReadFile, os.ReadDir
	}
	contraction := pass.NewContraction(o.Table, o.Sizes)
	in.Contract, in.Argument = contraction.Run, contraction.Argument
	in.Rules = rule.New(o.Table, rule.Canonical, nil)
	return in
}

// compile elaborates and runs the passes. A panic is reported as a bug of the current pass.
func (r *Result) compile(ctx context.Context, o Options, elaborate func() (lower.Output, source.Diagnostics)) (ds source.Diagnostics) {
	at := "elaborate"
	defer func() {
		p := recover()
		// a constant of the program, or a file read for its size
		if f := op.Panicked(p); f != nil {
			ds = append(ds, source.Errorf(source.Code(f.Code), source.Span{}, "compiling: %s", f.Msg).WithHelp("%s", f.Help))
		} else if p != nil {
			ds = append(ds, bug(fmt.Sprintf("pass %s: %v", at, p), debug.Stack()))
		}
	}()
	t := time.Now()
	out, ds := elaborate()
	r.Params = out.Params
	r.Warnings = warnings(ds)
	if ds.HasErrors() {
		return ds
	}
	if o.Elaborated != nil {
		o.Elaborated()
	}
	if err := ctx.Err(); err != nil {
		return append(ds, interrupted())
	}
	s := &state{g: out.Graph, o: &o, ctx: ctx}
	var verified *ir.Graph // a pass that changes nothing returns the graph that it got
	r.note(PassStat{at, time.Since(t).Seconds(), 0, s.g.Len()}, s.g, o)
	for k := 0; k < len(pipeline); k++ {
		p := pipeline[k]
		at = p.Name
		s.rest = pipeline[k+1:]
		if slices.Contains(o.Disable, p.Name) {
			continue
		}
		if ctx.Err() != nil {
			return append(ds, interrupted())
		}
		t, before := time.Now(), s.g.Len()
		if err := p.run(s); err != nil {
			var many *pass.TooMany
			switch {
			case errors.As(err, &many):
				return append(ds, tooMany(many, o.maxTasks()))
			case ctx.Err() != nil:
				return append(ds, interrupted())
			}
			return append(ds, bug(fmt.Sprintf("pass %s: %v", at, err), nil))
		}
		made := []ran{{PassStat{at, time.Since(t).Seconds(), before, s.g.Len()}, s.g}} // by-rows runs others, too
		if tried := s.tried; tried != nil {
			made[0] = ran{PassStat{at, 0, before, before}, s.program} // its time is counted in theirs
			made, k, s.tried = append(made, tried...), k+len(tried), nil
		}
		if p.Canonical && !o.PlanOnly {
			r.Program, s.program = s.g, s.g
		}
		for _, x := range made {
			if x.g == nil {
				continue
			}
			r.note(x.PassStat, x.g, o)
			if o.Verify && x.g != verified {
				if err := x.g.Verify(); err != nil {
					return append(ds, bug(fmt.Sprintf("after pass %s: %v", x.Name, err), nil))
				}
				verified = x.g
			}
		}
	}
	r.Plan = &plan.Plan{Graph: s.g, Ranks: o.Ranks, Owner: s.owner, Prio: s.prio, Uses: s.g.Uses(), Shares: s.shares, Files: r.Files}
	if by := s.because; by.Op != nil && s.shares != "" {
		r.Plan.Shares += fmt.Sprintf("; above all because of `%s` at %s", by.Op.Source(), r.Plan.At(by.Span))
	}
	if o.Verify {
		if err := r.Plan.Verify(); err != nil {
			return append(ds, bug(err.Error(), nil))
		}
	}
	if o.Memory.Bytes > 0 {
		if d, ok := tooLarge(r.Plan, o.Memory); ok {
			return append(ds, d)
		}
		if d, ok, _ := peakTooLarge(r.Plan, o.Together, o.Memory); ok {
			return append(ds, d)
		}
	}
	if d, ok := idleRanks(r.Plan); ok {
		r.Warnings, ds = append(r.Warnings, d), append(ds, d)
	}
	return ds
}

// idleRanks warns of ranks that have less than a hundredth of the work of the busiest. Each rank that
// runs a task has its work, also where all run the same.
func idleRanks(p *plan.Plan) (d source.Diagnostic, ok bool) {
	if p.Ranks == 1 {
		return d, false
	}
	all, own := 0.0, make([]float64, p.Ranks)
	cost := plan.Costs(p.Graph, nil)
	for i, r := range p.Owner {
		switch {
		case r == plan.Everywhere:
			all += cost[i]
		case p.Graph.Nodes[i].Op.Role != op.Exchange:
			own[r] += cost[i]
		}
	}
	idle, most := 0, slices.Max(own)
	for _, x := range own {
		if all+x < (all+most)/100 {
			idle++
		}
	}
	d = source.Errorf("W002", source.Span{}, "%d of %d ranks have little or nothing to do", idle, p.Ranks)
	if pass.Tiled(p.Graph) {
		return d.WithHelp("fewer ranks, or a smaller tile edge"), idle > 0
	}
	return d.WithHelp("the program has too little work to share, or work that must run in order; flowrun plan --ranks %d tells where each value lies", p.Ranks), idle > 0
}

// tooMany reports a program with too many tasks, and the matrix whose cutting exceeded the limit.
func tooMany(e *pass.TooMany, limit int) source.Diagnostic {
	d := source.Errorf("E410", e.At.Span, "cut into blocks, the program has more than %d tasks", limit)
	if t := e.Of; t.IsMatrix() && t.Known() {
		size := types.InBytes(float64(t.Rows) * float64(t.Cols) * float64(t.Elem.Size()))
		d.Message = fmt.Sprintf("the elements of %v are %s: %s", t, size, d.Message)
		d.Label = fmt.Sprintf("%v: %s", t, size)
	}
	return d
}

func interrupted() source.Diagnostic {
	return source.Errorf("E608", source.Span{}, "interrupted while compiling")
}

func (o *Options) maxTasks() int {
	if o.MaxTasks == 0 {
		return 2_000_000
	}
	return o.MaxTasks
}

func (r *Result) note(x PassStat, g *ir.Graph, o Options) {
	r.Passes = append(r.Passes, x)
	if o.Dump != nil {
		o.Dump(x.Name, g)
	}
}

func warnings(ds source.Diagnostics) (out source.Diagnostics) {
	for _, d := range ds {
		if d.Severity == source.Warning {
			out = append(out, d)
		}
	}
	return out
}

// bug is the diagnostic of a mistake in Flow itself.
func bug(what string, stack []byte) source.Diagnostic {
	d := source.Errorf("B001", source.Span{}, "this is a bug in Flow: %s", what)
	if os.Getenv("FLOW_DEBUG") != "" && stack != nil {
		d = d.WithNote(source.Span{}, "%s", stack)
	}
	return d.WithHelp("please report it with the program; FLOW_DEBUG=1 shows where it happened")
}

// Params returns a program's parameters, for help. It elaborates nothing else.
func Params(name string, text []byte, o Options) ([]Param, *source.FileSet, source.Diagnostics) {
	files := source.NewFileSet()
	tree, ds := lang.Parse(files.Add(name, string(text)))
	if ds.HasErrors() {
		return nil, files, ds.Sort()
	}
	in := inputOf(files, o)
	in.File = tree
	ps, ds := lower.Params(in)
	return ps, files, ds
}

// simplifyRounds bounds the passes of the rules over a graph. A second pass finds nodes that have
// one reader only since the first.
const simplifyRounds = 3

// stand makes columns of rows where that is worth it, and transposes what products read by columns in
// all rounds of a loop where ranks share rows.
func stand(s *state) error {
	s.upright = !slices.Contains(s.o.Disable, "simplify") && (s.rows || s.local()) && pass.Stands(s.g, s.rows, s.o.Sizes)
	off := slices.Concat(s.o.Disable, rule.Elsewhere(s.rows, s.upright))
	for again := s.upright; again; {
		s.g = nodes.Everywhere(s.g, func(g *ir.Graph) *ir.Graph { return simplify(g, s.o.Table, off) })
		again = false
		s.g = nodes.Deep(s.g, func(g *ir.Graph) *ir.Graph {
			out := pass.StandCarried(g, s.o.Table)
			again = again || out != g
			return out
		})
	}
	if s.rows {
		s.g = nodes.Deep(s.g, func(g *ir.Graph) *ir.Graph { return pass.TurnCaptured(g, s.o.Table, s.o.Ranks, s.o.Sizes) })
	}
	return nil
}

// simplify applies the exact rules and merges the equal expressions that they leave. off names rules
// and passes that are left out. If an argument of a region loses its last reader, the region is
// simplified again by rules that keep arguments. The value of such an argument may fail, and without a
// reader nothing would compute it.
func simplify(g *ir.Graph, table *op.Table, off []string) *ir.Graph {
	rules := rule.New(table, rule.Exact, off)
	out := simplifyBy(rules, g, off)
	if out == g {
		return g
	}
	before, after := argumentsRead(g), argumentsRead(out)
	for k := range before {
		if before[k] && !after[k] {
			rules.KeepArguments()
			return simplifyBy(rules, g, off)
		}
	}
	return out
}

// argumentsRead reports, for each argument of a region with body g, whether the body reads it. The node
// that closes a body reads every argument once.
func argumentsRead(g *ir.Graph) (read []bool) {
	uses := g.Uses()
	for id, n := range g.All() {
		if n.Op.Role == op.Argument {
			read = append(read, uses[id] > 1)
		}
	}
	return read
}

// simplifyBy applies rules to g until they leave it as it is, or simplifyRounds times.
func simplifyBy(rules *rule.Set, g *ir.Graph, off []string) *ir.Graph {
	for range simplifyRounds {
		out, _ := rules.Simplify(g)
		if out == g {
			break
		}
		g = pass.SweepDead(out) // which is the rules' own
		if !slices.Contains(off, "merge-equal") {
			g = pass.SweepEqual(g)
		}
	}
	return g
}
