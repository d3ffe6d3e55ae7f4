// Command bench measures flowrun beside other systems on the same work and prints Markdown tables
// of medians and ratios. `make bench` runs all of it; one section is
//
//	go run ./bench -only cholesky -reps 7
//
// Contestants take turns (A B A B ...), so that drift of the machine affects all alike. Peers are
// the programs in bench/peers, built with the Makefile there; what is missing is left out with a
// sentence. RESULTS.md has the accepted figures.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// section is one group of tables.
type section struct {
	name, about string
	run         func(*bench) error
}

// sections is every section in the order of the report.
var sections = [...]section{
	{"cholesky", "Cholesky on two threads beside OpenBLAS, OpenMP tasks and StarPU", cholesky},
	{"ranks", "Cholesky on two MPI ranks beside ScaLAPACK and Dask distributed", ranks},
	{"rank_peers", "k-means, n-body and PageRank on two MPI ranks beside mpi4py and Dask distributed", rankPeers},
	{"shares", "how evenly MPI ranks share the examples, and what they repeat", shares},
	{"tile", "the default tile beside others from 128 to 1024", tile},
	{"gemm", "one core: tile kernels beside OpenBLAS", gemm},
	{"fused", "a fused pipeline over 1e8 elements beside C, numba, numexpr and NumPy", fused},
	{"transpose", "x + t(x) beside C and NumPy", transpose},
	{"epilogue", "a chain of operators on a product: fused, and with the product stored", epilogue},
	{"memory", "the memory of a chain of operators on a large matrix", twenty},
	{"components", "connected components beside C, GraphBLAS and SciPy", components},
	{"nbody", "n-body beside C and numba", nbody},
	{"learning", "k-means and linear regression beside C, NumPy and Dask", learning},
	{"loops", "loops in natural words beside C", loops},
	{"everyday", "loops that are never tuned on, beside C", everyday},
	{"irregular", "an irregular loop under self-scheduling techniques beside C", irregular},
	{"techniques", "self-scheduling techniques against the ideal, in virtual time on up to 1024 workers", techniques},
	{"rank_scaling", "loops that ranks share, in virtual time on up to 1024 ranks: weak scaling, and a slow rank", rankScaling},
	{"help", "loops that ranks share, for real beside the simulation, and with ranks that are stopped now and then", help},
	{"order", "sorting, selecting and taking beside NumPy", order},
	{"operators", "every operator beside NumPy and SciPy", operators},
	{"oversubscribed", "self-scheduling techniques on more threads than processors", oversubscribed},
	{"claims", "what a claim, a chunk and a launch cost under every self-scheduling technique", claims},
	{"tasks", "a million empty tasks beside OpenMP and StarPU", tasks},
	{"pingpong", "messages between two ranks beside the same in C", pingpong},
	{"elaborate", "the time and memory of planning 1.2 million tasks", elaborate},
	{"startup", "the time until a 20-line program computes", startup},
	{"idle", "what an idle rank costs", idle},
}

func main() {
	only := flag.String("only", "", "sections to run, separated by commas (default: all)")
	reps := flag.Int("reps", 5, "repetitions of each contestant")
	sizes := flag.String("n", "4096,8192", "matrix orders of the Cholesky sections")
	match := flag.String("match", "", "a regular expression: the operators of the section operators, on `group: operator`, the tables of the sections cholesky, ranks and tile, on n and type as in \"8192, f64\", the rows of the section oversubscribed, as in \"web-NotreDame, 4\", the loops of the sections loops and everyday, the examples of the section shares, or the programs of the section rank_peers")
	binary := flag.String("flowrun", "", "the flowrun to measure, without C (default: built from this tree)")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./bench [flags]")
		flag.PrintDefaults()
		for _, s := range sections {
			fmt.Fprintf(flag.CommandLine.Output(), "  %-10s %s\n", s.name, s.about)
		}
	}
	flag.Parse()
	if err := run(*only, *match, *binary, *reps, *sizes); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(only, match, binary string, reps int, sizes string) error {
	chosen, err := choose(only)
	if err != nil {
		return err
	}
	b := &bench{out: os.Stdout, reps: reps, match: match, flowrun: binary}
	for _, s := range strings.Split(sizes, ",") {
		var n int
		if _, err := fmt.Sscan(s, &n); err != nil {
			return fmt.Errorf("-n %s: %w", sizes, err)
		}
		b.sizes = append(b.sizes, n)
	}
	if b.root, err = projectRoot(); err != nil {
		return err
	}
	if b.dir, err = os.MkdirTemp("", "flow-bench-"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if err := b.build(); err != nil {
		return err
	}
	b.peers = findPeers(b.root)
	fmt.Fprintf(b.out, "# Side by side\n\nMedians of %d runs in turn, %s, %d processors (%s), %s. Command: `go run ./bench %s`.\n",
		reps, time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), processor(), runtime.Version(), strings.Join(os.Args[1:], " "))
	switch kernels, err := b.peers.bestBLAS(); {
	case err != nil:
		b.skip("a choice of kernels for OpenBLAS: %v", err)
	case kernels == "":
		fmt.Fprintln(b.out, "OpenBLAS uses the kernels that it chooses itself.")
	default:
		fmt.Fprintf(b.out, "OpenBLAS runs with OPENBLAS_CORETYPE=%s, which is faster here than its own choice.\n", kernels)
	}
	for _, s := range chosen {
		fmt.Fprintf(b.out, "\n## %s: %s\n\n", s.name, s.about)
		if err := s.run(b); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return nil
}

// processor returns the model name of the first processor, from Linux.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	for _, l := range strings.Split(string(text), "\n") {
		if name, ok := strings.CutPrefix(l, "model name"); ok {
			return strings.TrimLeft(name, "\t :")
		}
	}
	return runtime.GOARCH
}

// choose returns the sections of a comma-separated list, all for an empty one.
func choose(only string) ([]section, error) {
	if only == "" {
		return sections[:], nil
	}
	var out []section
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(sections[:], func(s section) bool { return s.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no section %q", name)
		}
		out = append(out, sections[i])
	}
	return out, nil
}
