//go:build mpi

// Pingpong measures the transport between two MPI ranks, next to a C program that
// prints the same (points: bytes -> [us, GB/s]).
//
//	go build -tags mpi -o pingpong ./runtime/dist/transport/transporttest/pingpong
//	./pingpong -c /path/to/c/pingpong -runs 5      # starts both under mpirun, in turn
//	mpirun -np 2 ./pingpong                        # one run of this one
//
// The table's figures are medians over the runs of the half round trip; the ratio
// is this program's over C's, the median of the runs' own ratios, because runs that
// follow each other share the machine's state.
//
// The memory is that of tiles, local.BufferPool's, in huge pages. The kernel looks up and pins every page that it copies
// from another process, which takes longer than the copy itself where pages are small, as the C program's are unless
// GLIBC_TUNABLES=glibc.malloc.hugetlb=1 is in the environment of both.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mpi"
	"flow/runtime/local"
)

var sizes = []int{1, 64, 1024, 8192, 65536, 1 << 20, 16 << 20, 64 << 20}

func main() {
	c := flag.String("c", "", "C ping-pong `program` to compare with")
	runs := flag.Int("runs", 5, "runs of each program")
	launcher := flag.String("mpirun", "mpirun --allow-run-as-root --oversubscribe -np 2", "launcher `command`")
	reps := flag.Int("reps", 5, "repetitions per size in one run")
	polls := flag.Int("polls", mpi.DefaultPolls, "polls per Testsome")
	flag.Parse()
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
		var times []float64
		for r := -1; r < reps; r++ {
			if err := tc.Barrier(context.Background()); err != nil {
				return err
			}
			begin := time.Now()
			if err := pingpong(tc, b[:n], rounds); err != nil {
				return err
			}
			if r >= 0 {
				times = append(times, time.Since(begin).Seconds()/float64(rounds)/2)
			}
		}
		slices.Sort(times)
		m := times[len(times)/2]
		points[strconv.Itoa(n)] = [2]float64{m * 1e6, float64(n) / m / 1e9}
	}
	if tc.Rank() == 0 {
		line, err := json.Marshal(map[string]any{"points": points})
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return tc.Close()
}

// pingpong sends one buffer to and fro, in the order of the C program's blocking
// calls and with one buffer for both ways, which the caches notice.
func pingpong(tc transport.Comm, b []byte, rounds int) error {
	var (
		reqs [1]transport.Request
		done [1]int
		me   = tc.Rank()
		peer = 1 - me
	)
	wait := func(r transport.Request) error {
		for reqs[0] = r; reqs[0] != transport.None; {
			if _, err := tc.Testsome(reqs[:], done[:0]); err != nil {
				return err
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
	var ours, theirs []map[string][2]float64
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
	fmt.Printf("%10s %12s %10s %12s %10s %8s\n", "bytes", "us", "GB/s", "C us", "C GB/s", "ratio")
	for _, n := range sizes {
		k := strconv.Itoa(n)
		var a, b, q []float64
		for i := range ours {
			a = append(a, ours[i][k][0])
			if c != "" {
				b = append(b, theirs[i][k][0])
				q = append(q, ours[i][k][0]/theirs[i][k][0])
			}
		}
		fmt.Printf("%10d %12.3f %10.3f", n, median(a), float64(n)/median(a)/1e3)
		if c != "" {
			fmt.Printf(" %12.3f %10.3f %8.2f", median(b), float64(n)/median(b)/1e3, median(q))
		}
		fmt.Println()
	}
	return nil
}

// run starts a program under the launcher and reads its points.
func run(launcher []string, program string, args ...string) (map[string][2]float64, error) {
	line := slices.Concat(launcher[1:], []string{program}, args)
	out, err := exec.Command(launcher[0], line...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", program, err)
	}
	var result struct {
		Points map[string][2]float64 `json:"points"`
	}
	if err := json.Unmarshal(out, &result); err != nil {
		return nil, fmt.Errorf("%s printed %q: %w", program, out, err)
	}
	return result.Points, nil
}

func median(v []float64) float64 {
	sort.Float64s(v)
	return v[len(v)/2]
}
