package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
)

// This file measures how evenly ranks share the work of the examples, and what they repeat.

// sharedProgram is an example, or a program beside this file, with params that make it run for some
// tenths of a second. A param may name a graph of sharedGraphs.
type sharedProgram struct{ name, params string }

// sharedPrograms lists the programs whose work ranks should share.
var sharedPrograms = []sharedProgram{
	{"cc", "graph=web-NotreDame"},
	{"pagerank", "graph=web-NotreDame"},
	{"components", "graph=RMAT-20"},
	{"nbody", "n=1500 steps=10"},
	{"kmeans", "n=200000"},
	{"gnmf", "n=4000"},
	{"heat2d", "n=1000 steps=200"},
	{"mandelbrot", "w=2000 h=1200"},
	{"pi", "n=20000000"},
	{"linreg", "n=400000"},
	{"linreg", "n=400000 method=cg"},
	{"normal", "n=1000000"},
	{"multilogreg", "n=200000"},
	{"pca", "n=400000"},
	{"cholesky", "n=1536"},
	{"lu", ""},
	{"qr", ""},
	{"solve", ""},
}

// rankRun is what --stats=json says of a run.
type rankRun struct {
	Seconds float64 `json:"execution_seconds"`
	Sent    int64   `json:"bytes_between_ranks"`
	ByRank  []struct {
		Processor float64 `json:"processor_seconds"`
	} `json:"by_rank"`
	whole float64 // seconds of all but the start of processes: reading and compiling, too
}

// total and busiest are processor seconds: of all ranks, and of the one with the most.
func (r *rankRun) total() (sum float64) {
	for _, x := range r.ByRank {
		sum += x.Processor
	}
	return sum
}

func (r *rankRun) busiest() (most float64) {
	for _, x := range r.ByRank {
		most = max(most, x.Processor)
	}
	return most
}

// sharedGraphs returns the files of graphs by their names in params. It reports the graphs that are
// missing. Examples then run on generated graphs.
func (b *bench) sharedGraphs(match *regexp.Regexp) map[string]string {
	web := filepath.Join(b.root, "..", "shared", "data", "web-NotreDame.txt.gz")
	if !exists(web) {
		b.skip("the graph of web-NotreDame is not at %s: cc and pagerank run on generated ones", web)
		web = ""
	}
	files := map[string]string{"web-NotreDame": web}
	if match.MatchString("components") {
		rmat, err := b.summedGraph(20)
		if err != nil {
			b.skip("components: %v", err)
		}
		files["RMAT-20"] = rmat
	}
	return files
}

// shares runs each program on three ranks of one thread over MPI and in one process, on one rank, on
// two ranks, and on two threads of one process, in turn. -match chooses programs by name.
func shares(b *bench) error {
	if b.mpi == "" {
		b.skip("flowrun with MPI did not build; `.ci/setup` installs what it needs")
		return nil
	}
	match, err := regexp.Compile(b.match)
	if err != nil {
		return err
	}
	graphs := b.sharedGraphs(match)
	pin := onOne(3)
	fmt.Fprint(b.out, "Processor time by rank, start and compilation left out. Shared: all of three ranks over the busiest, over MPI and on mem: three\n"+
		"ranks of one process, by the clocks of their workers' threads. Repeated: all of three over one rank alone, so 1 if no\n"+
		"work is done twice. Wall: two threads of one process over two ranks, so 1 if ranks cost nothing; with what is read: the same of\n"+
		"reading, compiling and running, because a process reads some files before it runs, and ranks while they do.\n")
	if pin != nil {
		fmt.Fprintf(b.out, "The three ranks share one processor: of %d, one rank would have one alone and take work from those that share one.\n", runtime.NumCPU())
	}
	fmt.Fprint(b.out, "\n| program | shared, of 3 | on mem | repeated | wall of 2 ranks, s | 2 threads over 2 ranks | with what is read |"+
		" sent by 3, MiB |\n|:--|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, p := range sharedPrograms {
		if !match.MatchString(p.name) || p.params == "graph=RMAT-20" && graphs["RMAT-20"] == "" {
			continue
		}
		row, err := b.share(p, graphs, pin)
		if err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		fmt.Fprintln(b.out, row)
	}
	return nil
}

// onOne returns the start of a command that runs on a single processor, or nil if the machine has a
// processor for each rank or no such command. If only some ranks had to share a processor, the others
// would rightly take chunks from them, and the times would show how the system divides its processors.
func onOne(ranks int) []string {
	taskset, err := exec.LookPath("taskset")
	if err != nil || runtime.NumCPU() >= ranks {
		return nil
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil
	}
	allowed := regexp.MustCompile(`(?m)^Cpus_allowed_list:\s*(\d+)`).FindSubmatch(status)
	if allowed == nil {
		return nil
	}
	return []string{taskset, "-c", string(allowed[1])}
}

// share measures one program. pin goes before the command with three ranks.
func (b *bench) share(p sharedProgram, graphs map[string]string, pin []string) (row string, err error) {
	file := filepath.Join(b.root, "examples", p.name+".flow")
	if !exists(file) {
		file = b.program(p.name + ".flow")
	}
	args := []string{file, "--stats=json", "--timing"}
	for _, param := range strings.Fields(p.params) {
		name, value, _ := strings.Cut(param, "=")
		if graph, ok := graphs[value]; ok {
			value = graph
		}
		args = append(args, "--set="+name+"="+value)
	}
	const three, one, two, mem, local = 0, 1, 2, 3, 4
	figures := map[string]*result{}
	for range b.reps {
		var runs [5]*rankRun
		for k, n := range []int{3, 1, 2, 3} {
			before, backend := []string(nil), "mpi"
			if n == 3 {
				before = pin
			}
			if k == mem {
				backend = "mem"
			}
			command := slices.Concat(before, []string{b.mpi}, args, []string{"--distributed", "--backend=" + backend, fmt.Sprint("--ranks=", n), "--threads=1"})
			if runs[k], err = b.statsOf(command); err != nil {
				return "", err
			}
		}
		if runs[local], err = b.statsOf(slices.Concat([]string{b.mpi}, args, []string{"--threads=2"})); err != nil {
			return "", err
		}
		note := func(name string, x float64) {
			if figures[name] == nil {
				figures[name] = new(result)
			}
			figures[name].seconds = append(figures[name].seconds, x)
		}
		note("shared", runs[three].total()/runs[three].busiest())
		note("on mem", runs[mem].total()/runs[mem].busiest())
		note("repeated", runs[three].total()/runs[one].total())
		note("wall", runs[two].Seconds)
		note("ratio", runs[local].Seconds/runs[two].Seconds)
		note("whole", runs[local].whole/runs[two].whole)
		note("sent", float64(runs[three].Sent)/(1<<20))
	}
	of := func(name string) float64 { return figures[name].median() }
	return fmt.Sprintf("| %s | %.2f | %.2f | %.2f | %.3f | %.2f | %.2f | %.1f |", strings.TrimSpace(p.name+" "+strings.ReplaceAll(p.params, "graph=", "")),
		of("shared"), of("on mem"), of("repeated"), of("wall"), of("ratio"), of("whole"), of("sent")), nil
}

// statsOf runs a command of flowrun and returns its statistics.
func (b *bench) statsOf(command []string) (*rankRun, error) {
	out, err := launch(peerEnv(), command[0], command[1:]...)
	if err != nil {
		return nil, err
	}
	var r *rankRun
	var timing struct {
		Startup float64 `json:"startup_seconds"`
		Total   float64 `json:"total_seconds"`
	}
	for _, line := range strings.Split(string(out.stderr), "\n") {
		switch {
		case strings.HasPrefix(line, `{"execution_seconds"`):
			r = new(rankRun)
			err = json.Unmarshal([]byte(line), r)
		case strings.HasPrefix(line, `{"startup_seconds"`):
			err = json.Unmarshal([]byte(line), &timing)
		}
		if err != nil {
			return nil, err
		}
	}
	if r != nil && timing.Total > 0 {
		r.whole = timing.Total - timing.Startup
		return r, nil
	}
	return nil, fmt.Errorf("no statistics in %q", out.stderr)
}
