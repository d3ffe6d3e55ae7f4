//go:build mpi

// Pingpong measures the transport between two MPI ranks, next to a C program that
// prints the same (points: bytes -> [us, GB/s]).
//
//	go build -tags mpi -o pingpong ./runtime/dist/transport/transporttest/pingpong
//	./pingpong -c /path/to/c/pingpong -runs 5      # starts both under mpirun, in turn
//	mpirun -np 2 ./pingpong                        # one run of this one
//
// The table's figures are medians over the runs of the half round trip; the ratios
// are this program's over C's, the median of the runs' own ratios, because runs that
// follow each other share the machine's state: on a virtual machine the two processors
// are near each other in one second and far in the next, and C's own time at 1 MiB is then 25 us or 80.
// Hence the last two columns, where both take turns within one process.
//
// The memory is that of tiles, local.BufferPool's, in huge pages. The kernel looks up and pins
// every page that it copies from another process, which takes longer than the copy itself where
// pages are small, as the C program's are unless GLIBC_TUNABLES=glibc.malloc.hugetlb=1 is in the
// environment of both.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mpi"
	"flow/runtime/local"
)

// sizes are those that the C program measures, from 1 byte to the size of the buffer.
var sizes = []int{1, 64, 1024, 8192, 65536, 1 << 20, 16 << 20, 64 << 20}

func main() {
	c := flag.String("c", "", "C ping-pong `program` to compare with")
	runs := flag.Int("runs", 5, "runs of each program")
	launcher := flag.String("mpirun", "mpirun --allow-run-as-root --oversubscribe -np 2", "launcher `command`")
	reps := flag.Int("reps", 5, "repetitions per size in one run")
	polls := flag.Int("polls", mpi.DefaultPolls, "polls per Testsome")
	size := flag.Int("size", 0, "measure this `number` of bytes alone (for a profiler)")
	flag.Parse()
	if *size > 0 {
		sizes = []int{min(*size, sizes[len(sizes)-1])}
	}
	var err error
	if mpi.Launched() {
		err = measure(*reps, *polls)
	} else {
		err = compare(strings.Fields(*launcher), *c, *runs, *reps, *polls)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pingpong:", err)
		os.Exit(1)
	}
}

// measure is one rank's side of a run.
func measure(reps, polls int) error {
	tc, err := mpi.Init()
	if err != nil {
		return err
	}
	tc.(*mpi.Comm).Polls = polls
	if tc.Size() != 2 {
		return fmt.Errorf("needs 2 ranks, has %d", tc.Size())
	}
	b, err := local.NewBufferPool(0).GetZeroed(64 << 20)
	if err != nil {
		return err
	}
	points := map[string][2]float64{}
	here := map[string][2]float64{}
	for _, n := range sizes {
		rounds := 20
		switch {
		case n <= 1024:
			rounds = 20000
		case n <= 65536:
			rounds = 5000
		case n <= 1<<20:
			rounds = 500
		}
		var ours, theirs []float64
		for r := range reps + 1 { // the first does not count
			mine, err := timed(tc, pingpong, b[:n], rounds)
			if err != nil {
				return err
			}
			other, err := timed(tc, inside, b[:n], rounds)
			if err != nil {
				return err
			}
			if r > 0 {
				ours, theirs = append(ours, mine), append(theirs, other)
			}
		}
		points[strconv.Itoa(n)] = point(n, ours)
		here[strconv.Itoa(n)] = point(n, theirs)
	}
	if tc.Rank() == 0 {
		line, err := json.Marshal(map[string]any{"points": points, "inside": here})
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return tc.Close()
}

// point is what is said of the seconds that half a round trip of n bytes took.
func point(n int, seconds []float64) [2]float64 {
	m := median(seconds)
	return [2]float64{m * 1e6, float64(n) / m / 1e9}
}

// timed is the seconds of half a round trip, of so many.
func timed(tc transport.Comm, exchange func(transport.Comm, []byte, int) error, b []byte, rounds int) (float64, error) {
	if err := tc.Barrier(context.Background()); err != nil {
		return 0, err
	}
	begin := time.Now()
	err := exchange(tc, b, rounds)
	return time.Since(begin).Seconds() / float64(rounds) / 2, err
}

// yieldEvery is the polls after which a loop that never sleeps lets the scheduler see it: often
// enough for its 10 ms, see transport.Backoff, and seldom because that wakes another thread.
const yieldEvery = 1024

// pingpong sends one buffer to and fro, in the order of the C program's blocking calls and with one
// buffer for both ways, which the caches notice. It polls as MPI's blocking calls do, without a
// sleep.
func pingpong(tc transport.Comm, b []byte, rounds int) error {
	var (
		reqs [1]transport.Request
		done [1]int
		me   = tc.Rank()
		peer = 1 - me

		polls int
	)
	wait := func(r transport.Request) error {
		for reqs[0] = r; reqs[0] != transport.None; {
			if _, err := tc.Testsome(reqs[:], done[:0]); err != nil {
				return err
			}
			if polls++; polls%yieldEvery == 0 {
				runtime.Gosched()
			}
		}
		return nil
	}
	for i := range rounds {
		if me == 0 {
			b[0] = byte(i)
			if err := wait(tc.Isend(transport.Data, peer, 0, b)); err != nil {
				return err
			}
			if err := wait(tc.Irecv(transport.Data, peer, 0, b)); err != nil {
				return err
			}
			if b[0] != byte(i)+1 {
				return fmt.Errorf("echo of %d is %d", byte(i), b[0])
			}
			continue
		}
		if err := wait(tc.Irecv(transport.Data, peer, 0, b)); err != nil {
			return err
		}
		b[0]++
		if err := wait(tc.Isend(transport.Data, peer, 0, b)); err != nil {
			return err
		}
	}
	return nil
}

// compare runs both programs in turn and prints the table.
func compare(launcher []string, c string, runs, reps, polls int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	flags := []string{"-reps", strconv.Itoa(reps), "-polls", strconv.Itoa(polls)}
	var ours, theirs []result
	for range runs {
		p, err := run(launcher, self, flags...)
		if err != nil {
			return err
		}
		ours = append(ours, p)
		if c == "" {
			continue
		}
		if p, err = run(launcher, c); err != nil {
			return err
		}
		theirs = append(theirs, p)
	}
	fmt.Printf("%10s %12s %10s %12s %10s %8s %14s %8s\n", "bytes", "us", "GB/s", "C us", "C GB/s", "ratio", "C inside us", "ratio")
	for _, n := range sizes {
		k := strconv.Itoa(n)
		var us, program, ratio, in, inRatio []float64
		for i := range ours {
			mine := ours[i].Points[k][0]
			us, in, inRatio = append(us, mine), append(in, ours[i].Inside[k][0]), append(inRatio, mine/ours[i].Inside[k][0])
			if c != "" {
				program, ratio = append(program, theirs[i].Points[k][0]), append(ratio, mine/theirs[i].Points[k][0])
			}
		}
		fmt.Printf("%10d %12.3f %10.3f", n, median(us), float64(n)/median(us)/1e3)
		if c != "" {
			fmt.Printf(" %12.3f %10.3f %8.2f", median(program), float64(n)/median(program)/1e3, median(ratio))
		} else {
			fmt.Printf(" %12s %10s %8s", "", "", "")
		}
		fmt.Printf(" %14.3f %8.2f\n", median(in), median(inRatio))
	}
	return nil
}

// result is what a run prints: microseconds and GB/s by bytes, of the program itself and, if it is
// this one, of C inside it.
type result struct {
	Points map[string][2]float64 `json:"points"`
	Inside map[string][2]float64 `json:"inside"`
}

// run starts a program under the launcher and reads its points.
func run(launcher []string, program string, args ...string) (r result, err error) {
	line := slices.Concat(launcher[1:], []string{program}, args)
	out, err := exec.Command(launcher[0], line...).Output()
	if err != nil {
		return r, fmt.Errorf("%s: %w", program, err)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("%s printed %q: %w", program, out, err)
	}
	return r, nil
}

func median(v []float64) float64 {
	sort.Float64s(v)
	return v[len(v)/2]
}
