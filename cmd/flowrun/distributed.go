package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"flow"
	"flow/ir/op"
	"flow/lang/source"
	"flow/memory"
	"flow/runtime/dist"
	"flow/runtime/dist/transport/mpi"
)

// This file defines --distributed: ranks in this process (mem), ranks of a launcher (mpi), or ranks
// that this command starts itself.

// defaultMemRanks is the number of ranks of --backend=mem without --ranks.
const defaultMemRanks = 2

// mostAtOnce bounds how many threads of --backend=mem the system has to divide processors among.
const mostAtOnce = 256

func (s *session) runDistributed(c *cli.Context, req runRequest, o flow.CompileOptions) error {
	if req.backend == "mem" {
		o.Ranks = req.ranks
		if o.Ranks == 0 {
			o.Ranks = defaultMemRanks
		}
		p, err := s.compile(c.Context, c, o)
		if err != nil {
			return err
		}
		if req.threads == 0 {
			req.threads = max(1, req.schedule.Parallelism()/o.Ranks)
		}
		// The system divides the processors, as among processes. Go would let each worker run for 10 ms,
		// and an answer to another rank would wait for as long.
		runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), min(o.Ranks*(req.threads+1), mostAtOnce)))
		return s.execute(c.Context, p, o, req, p.Run)
	}
	o.Input.NoStreams = noStreams
	switch {
	case !mpi.Available():
		return withoutMPI()
	case mpi.Launched():
		return s.join(c, req, o)
	}
	return s.launch(c, req, o)
}

// withoutMPI is the error of a command that needs MPI in a build without it.
func withoutMPI() error {
	d := source.Errorf("E703", source.Span{}, "this flowrun was built without MPI").
		WithHelp("build it with -tags mpi (make build does), or use --backend=mem")
	return &flow.Refusal{Files: source.NewFileSet(), Diagnostics: source.Diagnostics{d}}
}

// join runs this process as a rank that a launcher has started. All ranks find the same mistakes in
// the program, so only rank 0 reports them. The rank that a failure of the run names as speaker
// reports it.
func (s *session) join(c *cli.Context, req runRequest, o flow.CompileOptions) error {
	early := s.prepare(c, req, o)
	comm, err := mpi.Init()
	early.stop()
	if err != nil {
		return err
	}
	speakAs(fmt.Sprintf("rank %d", comm.Rank()))
	o.Ranks, o.Together = comm.Size(), localRanks()
	o.Input.From = early.options.Input
	if req.threads == 0 {
		req.threads = shareOf(req.schedule.Parallelism())
	}
	// Beside the workers there is the engine that moves messages, which must not wait for a
	// worker to be preempted.
	runtime.GOMAXPROCS(max(runtime.GOMAXPROCS(0), req.threads+1))
	stderr := s.err
	notice := func(text string) { fmt.Fprintf(stderr, "flowrun: %s\n", text) }
	meet := flow.MeetOptions{VerifyInputs: req.verify, Notice: notice}
	if comm.Rank() > 0 {
		s.out, s.err = io.Discard, io.Discard
		s.signal.silence()
	}
	if s.fromStdin(c, false) {
		share := func(mine []byte) ([]byte, error) { return dist.Share(c.Context, comm, mine) }
		if err := s.sharedText(comm.Rank(), share); err != nil {
			return s.tellAndClose(err, comm)
		}
	}
	agreed := o
	if err := flow.ShareMemory(c.Context, comm, &agreed); err != nil {
		return s.tellAndClose(err, comm)
	}
	p, err := s.compileTogether(c, agreed, comm.Rank(), early, flow.ReadTogether(c.Context, comm, o.Input))
	if err != nil {
		var files *flow.Refusal
		if other := flow.Decline(c.Context, comm, err, reason(err), meet); errors.As(other, &files) {
			err = files
		} else if other != nil {
			comm.Abort(dist.Leave(s.tell(err)))
		}
		return s.tellAndClose(err, comm)
	}
	var failure *dist.Failure
	if p, err = p.Meet(c.Context, comm, meet); err != nil {
		if errors.As(err, &failure) && !failure.Clean {
			comm.Abort(dist.Leave(s.tell(err)))
		}
		return s.tellAndClose(err, comm)
	}
	err = s.execute(c.Context, p, o, req, func(ctx context.Context, ro flow.RunOptions) (*flow.Report, error) {
		ro.Notice, ro.Buffers = notice, early.buffers()
		report, err := p.RunRank(ctx, comm, ro)
		errors.As(err, &failure)
		if comm.Rank() > 0 {
			report = nil
		}
		return report, err
	})
	if failure != nil && failure.Speaker == comm.Rank() {
		s.err = stderr
	}
	if failure != nil && !failure.Clean {
		// open requests will not be answered: the job ends here
		comm.Abort(dist.Leave(s.tell(err)))
	}
	return s.tellAndClose(err, comm)
}

// early is what a rank prepares while MPI starts.
type early struct {
	options flow.CompileOptions
	program chan *flow.Program // nil in it: there is none
	stop    context.CancelFunc // ends the rehearsal
	memory  struct {
		sync.Mutex
		warm *flow.Buffers // nil: none
	}
}

// buffers returns memory for the run. The caller has called stop.
func (e *early) buffers() *flow.Buffers {
	e.memory.Lock()
	defer e.memory.Unlock()
	return e.memory.warm
}

// prepare compiles the program and makes machine code of its tasks while MPI starts: that takes some
// 100 ms and hardly any processor time. The caller calls stop when MPI has started. Nothing is
// prepared if the launcher does not tell this process its rank. Mistakes are left to the compiler's
// second run, and so are programs whose sizes take reading all of a file. Rank 0 begins to read such a
// file if it reads it alone.
func (s *session) prepare(c *cli.Context, req runRequest, o flow.CompileOptions) *early {
	ctx, stop := context.WithCancel(c.Context)
	e := &early{options: o, program: make(chan *flow.Program, 1), stop: stop}
	rank, ranks, ok := placeOf()
	name, text, err := "", []byte(nil), error(nil)
	if ok = ok && !s.fromStdin(c, false); ok {
		name, text, err = s.program(c)
	}
	if !ok || err != nil {
		e.program <- nil
		return e
	}
	e.options.Ranks, e.options.Together = ranks, localRanks()
	e.options.Input = &flow.Input{Brief: true, Early: rank == 0 && !req.limited, NoStreams: noStreams}
	over := func() bool { return ctx.Err() != nil }
	warm := func(memory func() *flow.Buffers) {
		e.memory.Lock()
		defer e.memory.Unlock()
		if !req.limited && !over() { // what a bounded run takes is counted from its start
			e.memory.warm = memory()
		}
	}
	go func() {
		dist.Prepare()
		p, err := flow.Compile(c.Context, name, text, e.options)
		if err != nil {
			e.program <- nil
			if !e.options.Input.Postponed() {
				return
			}
			warm(func() *flow.Buffers { return flow.WarmAhead(e.options.Together, over) })
			if !req.limited && !e.options.Input.ReadsEarly() { // a rank that reads has no time for it
				halt := memory.Warm(e.options.Together)
				<-ctx.Done()
				halt()
			}
			return
		}
		e.program <- p
		p.Rehearse(rank, over)
		warm(func() *flow.Buffers { return p.Warm(rank, over) })
	}()
	return e
}

// compiled returns the prepared program if it was compiled for what the ranks have agreed, or nil. It
// waits for the compiler, which takes no longer than to begin again.
func (e *early) compiled(o flow.CompileOptions) *flow.Program {
	if p := <-e.program; e.options.Ranks == o.Ranks && e.options.Together == o.Together && e.options.Memory == o.Memory {
		return p
	}
	return nil
}

// placeOf returns the rank of this process and the number of ranks, if the launcher tells them.
func placeOf() (rank, ranks int, ok bool) {
	for _, names := range [][2]string{{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}} {
		rank, err := strconv.Atoi(os.Getenv(names[0]))
		ranks, late := strconv.Atoi(os.Getenv(names[1]))
		if err == nil && late == nil && rank >= 0 && rank < ranks {
			return rank, ranks, true
		}
	}
	return 0, 0, false
}

// compileTogether is compile on a rank, which takes the prepared program if it can. What whole files
// had to be read for, rank 0 reads and tells the others in share.
func (s *session) compileTogether(c *cli.Context, o flow.CompileOptions, rank int, e *early, share func() error) (p *flow.Program, err error) {
	if rank > 0 {
		if err := share(); err != nil {
			return nil, err
		}
	}
	if p = e.compiled(o); p != nil {
		s.compiling = time.Now()
		s.warnOf(c, p)
	} else {
		p, err = s.compile(c.Context, c, o)
	}
	if rank == 0 {
		if late := share(); err == nil {
			err = late
		}
	}
	return p, err
}

// sharedText gives all ranks the program that rank 0 reads from standard input: launchers give the
// others none.
func (s *session) sharedText(rank int, share func(mine []byte) ([]byte, error)) error {
	var mine []byte
	var own error
	if rank == 0 {
		mine, own = s.stdin()
	}
	text, err := share(mine)
	if own != nil {
		return own
	}
	if err != nil {
		return fmt.Errorf("the program from standard input: %w", err)
	}
	s.text = text
	return nil
}

// tellAndClose ends a rank's part in order: it reports errors first. Close waits for the other
// ranks, so none has ended by then. The first that ends with a nonzero code makes a launcher stop
// the rest, which must have nothing left to report.
func (s *session) tellAndClose(err error, comm io.Closer) error {
	if err == nil {
		return comm.Close()
	}
	code := s.tell(err)
	s.signal.told(code)
	_ = comm.Close() // it has nothing to add
	return exit(code)
}

// reason returns a program's mistake in one line, without the program text.
func reason(err error) string {
	var refused *flow.Refusal
	if !errors.As(err, &refused) || len(refused.Diagnostics) == 0 {
		return err.Error()
	}
	d := refused.Diagnostics[0]
	for _, other := range refused.Diagnostics {
		if d.Severity == source.Warning {
			d = other
		}
	}
	text := fmt.Sprintf("%s[%s]: %s", d.Severity, d.Code, d.Message)
	if d.Span.IsValid() {
		name, line, col := refused.Files.Position(d.Span.From)
		text = fmt.Sprintf("%s:%d:%d: %s", name, line, col, text)
	}
	return text
}

// launch starts ranks on this machine that run this command. The program is compiled here first, so
// that its mistakes are reported once and nothing is started. If that takes reading all of a file,
// which the ranks do together, rank 0 reports them.
func (s *session) launch(c *cli.Context, req runRequest, o flow.CompileOptions) error {
	o.Ranks = req.ranks
	if o.Ranks == 0 {
		o.Ranks = dist.DefaultRanks()
	}
	stderr := s.err
	s.err = io.Discard // warnings are told by rank 0
	o.Input.Brief = true
	_, err := s.compile(c.Context, c, o)
	if s.err = stderr; err != nil && !o.Input.Postponed() {
		return err
	}
	told := &lookout{to: stderr, text: stoppedBy}
	// From Listening on the ranks end by themselves, and Launch ensures it.
	lo := dist.LaunchOptions{Ranks: o.Ranks, Leaves: true, Stderr: told, Listening: s.signal.leave}
	if s.text != nil { // rank 0 hands it on
		lo.Stdin = bytes.NewReader(s.text)
	}
	return s.launched(c.Context, lo, told)
}

// launched runs the ranks and reports what they left unsaid. told is their standard error.
func (s *session) launched(ctx context.Context, lo dist.LaunchOptions, told *lookout) error {
	code, err := dist.Launch(ctx, lo)
	if err != nil {
		var f *op.Failure
		if errors.As(err, &f) {
			// the launcher was told to stop, and does not wait for the ranks
			if f.Code == "E702" && told.seen() {
				return exit(128 + int(syscall.SIGTERM))
			}
			d := source.Errorf(source.Code(f.Code), source.Span{}, "%s", f.Msg).WithHelp("%s", f.Help)
			return &flow.Refusal{Files: source.NewFileSet(), Diagnostics: source.Diagnostics{d}, Ran: true}
		}
		return err
	}
	// no rank reported it: none had begun, or the launcher lost it
	if code > 128 && !told.seen() && !told.passed {
		fmt.Fprintf(told.to, "%s%v\n", stoppedBy, syscall.Signal(code-128))
	}
	if code != 0 {
		return exit(code)
	}
	return nil
}

// lookout passes bytes on and searches them for a text.
type lookout struct {
	to     io.Writer
	text   string
	passed bool // rank 0 writes to a terminal, past this

	mu    sync.Mutex
	tail  []byte // the last bytes, as many as may begin the text
	found bool
}

func (l *lookout) Write(b []byte) (int, error) {
	l.mu.Lock()
	l.tail = append(l.tail, b...)
	l.found = l.found || bytes.Contains(l.tail, []byte(l.text))
	l.tail = l.tail[max(0, len(l.tail)-len(l.text)):]
	l.mu.Unlock()
	return l.to.Write(b)
}

func (l *lookout) seen() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.found
}

// shareOf returns the threads of a rank without --threads: its share of the processors or cores
// that it may use, which are the whole machine's unless the launcher has bound it.
func shareOf(processors int) int { return max(1, processors/max(1, localRanks())) }

// localRanks returns how many ranks the launcher has started on this machine, 0 if it does not tell.
func localRanks() int {
	for _, name := range []string{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"} {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
			return n
		}
	}
	return 0
}
