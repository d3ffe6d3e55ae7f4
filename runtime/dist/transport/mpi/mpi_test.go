//go:build mpi

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/transporttest"
)

// roleVariable tells this test binary, when it is started again by the launcher,
// which part it plays as a rank: the name of one of roles.
const roleVariable = "FLOW_MPI_TEST_ROLE"

// roles are what the ranks run. Each prints "ok NAME" on rank 0 per case passed and
// returns what is wrong.
func roles() map[string]func(*Comm) error {
	return map[string]func(*Comm) error{
		"suite": suite,
		// Payloads above 1000 bytes are sent in pieces, on more than two ranks those above 4000: each poll of
		// Open MPI looks at all pieces in flight, and five ranks take twice as long with pieces of 1000 bytes.
		// The suite has lengths around both.
		"cut": func(c *Comm) error {
			if c.PieceLimit = 1000; c.Size() > 2 {
				c.PieceLimit = 4000
			}
			return suite(c)
		},
		"binding": bindingRole,
		"abort":   abortRole,
		"die":     dieRole,
		"alloc":   allocRole,
		"yield":   yieldRole,
		"eager":   eagerRole,
	}
}

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	if role == "" {
		os.Exit(m.Run())
	}
	tc, err := Init()
	if err == nil {
		c := tc.(*Comm)
		if err = roles()[role](c); err == nil {
			err = c.Close()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAILED", role, err)
		if tc != nil {
			tc.Abort(1)
		}
		os.Exit(1)
	}
}

// yieldRole fails if polls yield the processor, or if Open MPI had no such setting that Init turned
// off.
func yieldRole(c *Comm) error {
	if yields(false) {
		return errors.New("MPI yields in polls after Init")
	}
	if strings.Contains(Version(), "Open MPI") && !c.env.yields {
		return errors.New("Init found that MPI does not yield, though the environment says so")
	}
	fmt.Println("ok yield")
	return nil
}

// eagerRole fails if a message of bareLimit bytes waits for its receiver: rank 1 receives it when rank
// 0 says that it has been sent.
func eagerRole(c *Comm) error {
	const sent, tag = 7, 8
	wait := func(q transport.Request, what string) error {
		for begun := time.Now(); ; runtime.Gosched() {
			if done, err := c.Testsome([]transport.Request{q}, nil); err != nil || len(done) > 0 {
				return err
			}
			if time.Since(begun) > hangs/4 {
				return errors.New(what + " has not ended")
			}
		}
	}
	b := make([]byte, bareLimit)
	if c.Rank() == 0 {
		if err := wait(c.Isend(transport.Data, 1, tag, b), "a send that nobody receives yet"); err != nil {
			return err
		}
		fmt.Println("ok eager")
		return wait(c.Isend(transport.Control, 1, sent, nil), "the word that it was sent")
	}
	for begun := time.Now(); time.Since(begun) < hangs/2; runtime.Gosched() {
		if m, ok, err := c.TryRecv(transport.Control); err != nil || ok && m.Tag == sent {
			return errors.Join(err, wait(c.Irecv(transport.Data, 0, tag, b), "a receive"))
		}
	}
	return errors.New("rank 0 does not say that it has sent")
}

// hangs is how long a job takes that will not end: a hundred times what these take on a machine at
// rest.
const hangs = 4 * time.Minute

// launch runs a role on n ranks and returns what they printed and how they ended.
func launch(t *testing.T, role string, n int) (string, error) {
	t.Helper()
	mpirun, err := exec.LookPath("mpirun")
	if err != nil {
		t.Skip("mpirun is not in PATH: the tests of the MPI transport need a launcher")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, mpirun, "-np", strconv.Itoa(n), self)
	// Open MPI refuses more ranks than cores, and root, unless told otherwise; by
	// variables, which other launchers ignore, rather than by flags.
	cmd.Env = append(os.Environ(), roleVariable+"="+role,
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
		"OMPI_MCA_rmaps_base_oversubscribe=1", "OMPI_MCA_hwloc_base_binding_policy=none")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that it ends the ranks
	cmd.WaitDelay = 30 * time.Second
	err = cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("%s on %d ranks did not finish:\n%s", role, n, out.String())
	}
	return out.String(), err
}

// Open MPI yields the processor in polls if the environment says so. Init turns that off.
func TestPollsDoNotYield(t *testing.T) {
	t.Setenv("OMPI_MCA_mpi_yield_when_idle", "1")
	if out, err := launch(t, "yield", 2); err != nil || !strings.Contains(out, "ok yield") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// A message up to bareLimit is sent before its receiver asks for it, so that a row of a halo takes one
// poll of each.
func TestShortMessagesDoNotWait(t *testing.T) {
	if !strings.Contains(Version(), "Open MPI") {
		t.Skip("Init sets the limit of Open MPI alone")
	}
	if out, err := launch(t, "eager", 2); err != nil || !strings.Contains(out, "ok eager") {
		t.Errorf("%v:\n%s", err, out)
	}
}

func TestConformance(t *testing.T) {
	for _, k := range []struct {
		role string
		n    int
	}{{"suite", 1}, {"suite", 2}, {"suite", 4}, {"suite", 5}, {"cut", 2}, {"cut", 5}} {
		t.Run(fmt.Sprintf("%s/%d", k.role, k.n), func(t *testing.T) {
			out, err := launch(t, k.role, k.n)
			for _, want := range transporttest.Cases() {
				t.Run(want.Name, func(t *testing.T) {
					if !strings.Contains(out, "ok "+want.Name+"\n") {
						t.Error("did not pass")
					}
				})
			}
			if err != nil || t.Failed() {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func suite(c *Comm) error {
	for _, k := range transporttest.Cases() {
		if err := transporttest.RunRank(k, c); err != nil {
			return err
		}
		if c.Rank() == 0 {
			fmt.Println("ok", k.Name)
		}
	}
	return nil
}

func TestBinding(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		if out, err := launch(t, "binding", n); err != nil {
			t.Errorf("%d ranks: %v\n%s", n, err, out)
		}
	}
}

// bindingRole uses what the Comm does not: reductions, cancelling, matched probes,
// a window, and what a Go program needs of a process with MPI in it.
func bindingRole(c *Comm) error {
	w, err := c.World().Dup()
	if err != nil {
		return err
	}
	n, me := int64(c.Size()), int64(c.Rank())
	wait := func(r *Request, err error) (Status, error) {
		for err == nil {
			var s Status
			var ok bool
			if s, ok, err = r.Test(); ok {
				return s, err
			}
			runtime.Gosched()
		}
		return Status{}, err
	}
	in, out := make([]byte, 16), make([]byte, 16)
	for i, k := range []struct {
		op   Op
		want int64
	}{{Sum, n * (n - 1) / 2}, {Min, 0}, {Max, n - 1}} {
		putInt64(in, me)
		putInt64(in[8:], me*1000)
		if _, err := wait(w.Iallreduce(in, out, Int64, k.op)); err != nil {
			return err
		}
		if getInt64(out) != k.want || getInt64(out[8:]) != k.want*1000 {
			return fmt.Errorf("reduction %d: %d and %d, want %d and %d", i, getInt64(out), getInt64(out[8:]), k.want, k.want*1000)
		}
	}
	r, err := w.Irecv(out, c.Rank(), 77)
	if err != nil {
		return err
	}
	if _, ok, err := r.Test(); ok || err != nil {
		return fmt.Errorf("a receive without a message: %v, %v", ok, err)
	}
	if err := r.Cancel(); err != nil {
		return err
	}
	if s, err := wait(r, nil); err != nil || !s.Cancelled {
		return fmt.Errorf("cancelled receive: %+v, %v", s, err)
	}
	// An error has the function's name and MPI's text, and does not end the process.
	if _, err := w.Isend(in, c.Size()+3, 0); err == nil || !strings.Contains(err.Error(), "MPI_Isend: MPI_ERR_RANK") {
		return fmt.Errorf("a send to a rank that does not exist gives %v", err)
	}
	send, err := w.Isend([]byte("probe me"), (c.Rank()+1)%c.Size(), 5)
	if err != nil {
		return err
	}
	for {
		b, s, ok, err := w.Improbe()
		if err != nil {
			return err
		}
		if ok {
			if string(b) != "probe me" || s.Tag != 5 || s.Source != (c.Rank()+c.Size()-1)%c.Size() {
				return fmt.Errorf("probed %q, %+v", b, s)
			}
			break
		}
	}
	if _, err := wait(send, nil); err != nil {
		return err
	}
	win, err := w.WinAllocate(2)
	if err != nil {
		return err
	}
	for target := range c.Size() {
		if _, err := win.FetchAndOp(me+1, target, 1, Sum); err != nil {
			return err
		}
	}
	if _, err := wait(w.Ibarrier()); err != nil {
		return err
	}
	for target := range c.Size() {
		if v, err := win.FetchAndOp(0, target, 1, NoOp); err != nil || v != n*(n+1)/2 {
			return fmt.Errorf("window of rank %d: %d, %v; want %d", target, v, err, n*(n+1)/2)
		}
	}
	if old, err := win.CompareAndSwap(0, 5, int(me), 0); err != nil || old != 0 {
		return fmt.Errorf("compare and swap: %d, %v", old, err)
	}
	if err := win.Free(); err != nil {
		return err
	}
	if err := w.Free(); err != nil {
		return err
	}
	if _, err := InitThread(); err == nil {
		return errors.New("MPI was initialised twice")
	}
	return recovers()
}

// recovers checks that MPI's signal handlers have not taken Go's place.
func recovers() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() == nil {
			err = errors.New("a nil dereference did not panic")
		}
	}()
	var p *int
	*p = 1
	return nil
}

func putInt64(b []byte, v int64) {
	for i := range 8 {
		b[i] = byte(v >> (8 * i))
	}
}

func getInt64(b []byte) (v int64) {
	for i := range 8 {
		v |= int64(b[i]) << (8 * i)
	}
	return v
}

// TestAbort checks that one rank's Abort ends the others, which wait in a receive
// and a barrier, with its exit code: they would wait for ever.
func TestAbort(t *testing.T) {
	out, err := launch(t, "abort", 4)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Fatalf("the job ended with %v, want exit status 7\n%s", err, out)
	}
}

func abortRole(c *Comm) error {
	ctx := context.Background()
	if err := c.Barrier(ctx); err != nil {
		return err
	}
	switch c.Rank() {
	case 1:
		time.Sleep(100 * time.Millisecond)
		c.Abort(7)
		return errors.New("Abort returned")
	case 2:
		return c.Barrier(ctx)
	}
	return transport.WaitAll(ctx, c, []transport.Request{c.Irecv(transport.Data, 1, 0, make([]byte, 8))})
}

// TestDeath checks what the package promises of a rank that dies: the launcher ends
// the job, in which the others would wait for ever.
func TestDeath(t *testing.T) {
	out, err := launch(t, "die", 3)
	if err == nil {
		t.Fatalf("the job ended well\n%s", out)
	}
}

func dieRole(c *Comm) error {
	if err := c.Barrier(context.Background()); err != nil {
		return err
	}
	if c.Rank() == 1 {
		os.Exit(3)
	}
	return transport.WaitAll(context.Background(), c, []transport.Request{c.Irecv(transport.Data, 1, 0, make([]byte, 8))})
}

// TestNoAllocation checks that a message costs no memory of the Go heap.
func TestNoAllocation(t *testing.T) {
	if out, err := launch(t, "alloc", 2); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func allocRole(c *Comm) error {
	peer, b, in := 1-c.Rank(), make([]byte, 256), make([]byte, 256)
	reqs, done := make([]transport.Request, 2), make([]int, 2)
	var failed error
	const runs = 2000
	n := testing.AllocsPerRun(runs, func() {
		reqs[0] = c.Irecv(transport.Data, peer, 1, in)
		reqs[1] = c.Isend(transport.Data, peer, 1, b)
		for failed == nil && (reqs[0] != transport.None || reqs[1] != transport.None) {
			_, failed = c.Testsome(reqs, done[:0])
		}
	})
	if failed == nil && n > 0 {
		failed = fmt.Errorf("%v allocations for a message each way", n)
	}
	return failed
}
