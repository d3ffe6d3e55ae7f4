package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file measures the command from outside: gemm, ping-pong, planning, start-up, idle ranks.

// benchLine matches a line of `go test -bench` of kernels/blas: the name and its metrics.
var benchLine = regexp.MustCompile(`(?m)^BenchmarkKernels\w*/(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// benchRate matches a metric: the figure of one kernel set.
var benchRate = regexp.MustCompile(`([0-9.e+]+) (\w+)-GFLOP/s`)

// gemm runs the kernel benchmark, which runs the sets in turn, with OpenBLAS if it is installed.
func gemm(b *bench) error {
	args := []string{"test", "-run", "^$", "-bench", "Kernels/(f64|f32)/(gemm|syrk|trsm|potrf)/256$", "-benchtime", fmt.Sprintf("%dx", 2*b.reps), "./kernels/blas"}
	cmd := exec.Command("go", append([]string{"test", "-tags", "openblas"}, args[1:]...)...)
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		b.skip("OpenBLAS, because the build with -tags openblas failed (libopenblas-dev)")
		cmd = exec.Command("go", args...)
		cmd.Dir = b.root
		if out, err = cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	lines := benchLine.FindAllStringSubmatch(string(out), -1)
	if len(lines) == 0 {
		return fmt.Errorf("the kernel benchmark printed no figures:\n%s", out)
	}
	fmt.Fprintf(b.out, "| kernel, tile 256, one core | GFLOP/s by kernel set | best of Flow's / OpenBLAS |\n|---|---|---|\n")
	for _, l := range lines {
		best, peer, all := 0.0, 0.0, []string{}
		for _, m := range benchRate.FindAllStringSubmatch(l[2], -1) {
			rate, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				return err
			}
			if m[2] == "openblas" {
				peer = rate
			} else {
				best = max(best, rate)
			}
			all = append(all, fmt.Sprintf("%s %.1f", m[2], rate))
		}
		ratio := ""
		if peer > 0 {
			ratio = fmt.Sprintf("%.2f", best/peer)
		}
		fmt.Fprintf(b.out, "| %s | %s | %s |\n", l[1], strings.Join(all, ", "), ratio)
	}
	fmt.Fprintln(b.out)
	return nil
}

// pingpong uses the transport's own program, which starts both sides under mpirun in turn.
func pingpong(b *bench) error {
	bin := filepath.Join(b.dir, "pingpong")
	cmd := exec.Command("go", "build", "-tags", "mpi", "-o", bin, "./runtime/dist/transport/transporttest/pingpong")
	cmd.Dir = b.root
	if _, err := cmd.CombinedOutput(); err != nil {
		b.skip("a build with MPI failed; `.ci/setup` installs what it needs")
		return nil
	}
	// Many short runs in turn: the distance of the processors changes from one second to the
	// next.
	args := []string{"-runs", fmt.Sprint(3 * b.reps), "-reps", "1"}
	if c, err := b.peers.binary("pingpong"); err == nil {
		args = append(args, "-c", c)
	} else {
		b.skip("the C side: %v", err)
		return nil
	}
	for _, pages := range []struct{ text, tunables string }{
		{"Flow sends from the memory of tiles, in huge pages; C from what calloc gives, in pages of 4 KiB:", ""},
		{"C in huge pages as well (GLIBC_TUNABLES=glibc.malloc.hugetlb=1):", "glibc.malloc.hugetlb=1"},
	} {
		o, err := launch(append(peerEnv(), "GLIBC_TUNABLES="+pages.tunables), bin, args...)
		if err != nil {
			return err
		}
		fmt.Fprintf(b.out, "%s\n\n```\n%s```\n\n", pages.text, o.stdout)
	}
	return nil
}

// elaborate plans 192 x 192 tiles: 1 198 144 tasks.
func elaborate(b *bench) error {
	field := func() (timing, output, error) {
		var t timing
		o, err := launch(nil, b.flowrun, "check", "--timing", b.program("cholesky.flow"), "--set=n=24576", "--set=nb=128")
		if err != nil {
			return t, o, err
		}
		return t, o, lastJSON(o.stderr, &t)
	}
	var compile, cpu, rss []float64
	for range b.reps {
		t, o, err := field()
		if err != nil {
			return err
		}
		compile = append(compile, t.Compilation)
		cpu = append(cpu, o.cpu)
		rss = append(rss, float64(o.maxRSS)/(1<<20))
	}
	slices.Sort(compile)
	slices.Sort(cpu)
	slices.Sort(rss)
	fmt.Fprintf(b.out, "| 192 x 192 tiles | median | target |\n|---|---|---|\n| compilation | %.2f s | 3 s |\n| processor time of the process | %.2f s | |\n| memory of the process | %.0f MiB | 600 MB |\n\n",
		compile[len(compile)/2], cpu[len(cpu)/2], rss[len(rss)/2])
	return nil
}

func startup(b *bench) error {
	var begin, total []float64
	for range 2 * b.reps {
		o, err := launch(nil, b.flowrun, b.program("twenty.flow"), "--timing")
		if err != nil {
			return err
		}
		var t timing
		if err := lastJSON(o.stderr, &t); err != nil {
			return err
		}
		begin = append(begin, 1e3*(t.Startup+t.Parsing+t.Compilation))
		total = append(total, 1e3*o.wall)
	}
	slices.Sort(begin)
	slices.Sort(total)
	fmt.Fprintf(b.out, "| 20-line program | median ms | worst ms | target ms |\n|---|---|---|---|\n| until it computes | %.1f | %.1f | 100 |\n| whole process, seen from outside | %.1f | %.1f | |\n\n",
		begin[len(begin)/2], begin[len(begin)-1], total[len(total)/2], total[len(total)-1])
	return nil
}

// idle runs one long task on one of four ranks and measures what the other three use meanwhile.
func idle(b *bench) error {
	if b.mpi == "" {
		b.skip("flowrun with MPI did not build; `.ci/setup` installs what it needs")
		return nil
	}
	cmd := exec.Command(b.mpi, b.program("single.flow"), "--distributed", "--backend=mpi", "--ranks=4", "--threads=1", "--set=n=8192")
	cmd.Env = append(os.Environ(), peerEnv()...)
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	const settle, window = 2500 * time.Millisecond, 2 * time.Second
	select {
	case err := <-done:
		return errors.Join(errors.New("the program ended before it could be watched"), err)
	case <-time.After(settle):
	}
	before := cpuTimes(cmd.Process.Pid)
	time.Sleep(window)
	after := cpuTimes(cmd.Process.Pid)
	err := <-done
	if err != nil {
		return err
	}
	var shares []float64
	for pid, t := range after {
		if t0, ok := before[pid]; ok {
			shares = append(shares, 100*(t-t0)/window.Seconds())
		}
	}
	slices.Sort(shares)
	if len(shares) < 4 {
		return fmt.Errorf("found %d ranks of 4", len(shares))
	}
	fmt.Fprintf(b.out, "Four ranks, one task: the ranks used %.1f %% of a core each (the largest is the one that computes; target for the others: 2 %%).\n\n", shares[len(shares)-4:])
	return nil
}

// cpuTimes returns the processor seconds of all flowrun processes except pid, which started the
// ranks.
func cpuTimes(pid int) map[int]float64 {
	used := map[int]float64{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is well formed
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		// pid (name) state ppid ...; the name may contain anything, so count from its end.
		s := string(text)
		f := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil || len(f) < 13 || !strings.Contains(s, "flowrun") {
			continue
		}
		user, _ := strconv.ParseFloat(f[11], 64)
		system, _ := strconv.ParseFloat(f[12], 64)
		used[id] = (user + system) / 100 // clock ticks: USER_HZ is 100 for every program
	}
	delete(used, pid)
	return used
}
