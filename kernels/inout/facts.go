package inout

// This file hands on what had to be read of files before the run, so that ranks of one job need not all
// read them.

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"flow/ir/op"
	"flow/ir/sparsity"
	"flow/ir/types"
	"flow/ir/value"
	"flow/kernels/format"
	"flow/memory"
)

// Fact is what type rules and estimates have found out about a file.
type Fact struct {
	Path string // as the program names it
	Way  string // how it is read
	Head format.Header
	Cuts *format.Cuts // nil: none
	// Summed: rows of a sparse matrix can be read alone.
	Summed bool
	// Kept tells that each process keeps a part of the entries of a sparse matrix (format.Keep).
	Kept bool
	// ByRow and ByCol are the nonzeros of each row and column of a graph; nil: not counted.
	ByRow, ByCol tally
}

// tally has whole numbers. For gob they are variable-length integers, mostly of one byte: as floating
// point numbers those of web-NotreDame took 24 ms to decode.
type tally []float64

func (t tally) GobEncode() ([]byte, error) {
	b := make([]byte, 0, len(t)+len(t)/4)
	for _, x := range t {
		if n := int64(x); n < 0x80 {
			b = append(b, byte(n))
		} else {
			b = binary.AppendUvarint(b, uint64(n))
		}
	}
	return b, nil
}

func (t *tally) GobDecode(b []byte) error {
	*t = memory.Fresh[float64](len(b))[:0]
	for n := 1; len(b) > 0; b, n = b[n:], 1 {
		x := uint64(b[0])
		if x >= 0x80 {
			if x, n = binary.Uvarint(b); n <= 0 {
				return errors.New("damaged counts")
			}
		}
		*t = append(*t, float64(int64(x)))
	}
	return nil
}

// wayOf describes how a file is read, whichever file it is.
func wayOf(k fileKey) string {
	k.path, k.size, k.mtime = "", 0, 0
	return fmt.Sprint(k)
}

// fact returns what is known of a file that is read in this way, nil if nothing is.
func fact(list []*Fact, path string, k fileKey) *Fact {
	at := slices.IndexFunc(list, func(x *Fact) bool { return x.Path == path && x.Way == wayOf(k) })
	if at < 0 {
		return nil
	}
	return list[at]
}

// known returns what another process has told of a file, nil if nothing.
func (in *Input) known(path string, k fileKey) *Fact { return fact(in.Known, path, k) }

// learn notes what was read of a file.
func (in *Input) learn(path string, k fileKey, head format.Header) *Fact {
	in.mu.Lock()
	defer in.mu.Unlock()
	x := fact(in.learned, path, k)
	if x == nil {
		x = &Fact{Path: path, Way: wayOf(k), Head: head}
		in.learned = append(in.learned, x)
	}
	return x
}

// count notes the nonzeros of the rows and columns of a graph that was read, and returns their
// estimate.
func (in *Input) count(path string, k fileKey, head format.Header, byRow, byCol []float64) sparsity.Estimate {
	x := in.learn(path, k, head)
	in.mu.Lock()
	defer in.mu.Unlock()
	x.ByRow, x.ByCol = byRow, byCol
	return sparsity.Counts(byRow, byCol)
}

// keptEntries are the entries in blocks lo..hi-1 of the file of a task.
type keptEntries struct {
	task   format.Task
	lo, hi int
	count  int
	parts  []format.Entries // nil: a run has taken them
}

// keptAs returns the name under which entries of a file are kept.
func keptAs(path string, edges bool) string { return fmt.Sprint(edges, path) }

// Keep stores the count entries, parts, that this process has read in blocks lo..hi-1 of task t
// (format.Task.Keep). A run in which ranks share the rows of the matrix takes them.
func (in *Input) Keep(t format.Task, lo, hi, count int, parts []format.Entries) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.kept == nil {
		in.kept = map[string]keptEntries{}
	}
	in.kept[keptAs(t.Path, t.Edges || t.Graph)] = keptEntries{t, lo, hi, count, parts}
}

// relocated returns a matrix of type t with the entries that this process keeps of a file
// (format.Task.Relocated). It frees the entries. A later call reads them again, and fails if the file
// has changed. It fails if the process keeps none.
func (in *Input) relocated(path string, edges bool, t types.Type) (m *value.CSR, err error) {
	in.mu.Lock()
	name := keptAs(path, edges)
	k, ok := in.kept[name]
	if ok {
		in.kept[name] = keptEntries{k.task, k.lo, k.hi, k.count, nil}
	}
	in.mu.Unlock()
	if !ok {
		return nil, changed(path)
	}
	if k.parts == nil {
		var again format.Answer
		if again, err = k.task.Range(k.lo, k.hi); err != nil {
			return nil, fileFailure(err)
		}
		if told := k.task.Told(again.Parts); told.Count != k.count || int(told.Most) >= t.Rows {
			return nil, changed(path)
		}
		k.parts = again.Parts
	}
	m, err = k.task.Relocated(t, k.parts)
	if err != nil {
		return nil, fileFailure(err)
	}
	return m, nil
}

// graphOf returns the rows lo..hi-1 of a graph whose columns this process keeps (format.Task.GraphOf),
// and forgets them. It returns nil if there are none, or if the file has changed.
func (in *Input) graphOf(path string, o format.Options, k fileKey, lo, hi int) (m *value.CSR, named []uint64) {
	in.mu.Lock()
	x, name := fact(in.learned, path, k), keptAs(path, true)
	kept := in.kept[name]
	delete(in.kept, name)
	in.mu.Unlock()
	if x == nil {
		x = in.known(path, k)
	}
	if x == nil || kept.parts == nil {
		return nil, nil
	}
	m, named, err := kept.task.Counting(o.Read).GraphOf(x.ByRow, lo, hi, kept.parts, kept.lo, kept.hi)
	if err != nil {
		return nil, nil
	}
	return m, named
}

// Learned returns what programs have read of files before they ran. What was known already is left out.
func (in *Input) Learned() (list []Fact) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, x := range in.learned {
		list = append(list, *x)
	}
	return list
}

// lookedAt is the files that type rules have looked at, by the names that the program uses. Safe
// for concurrent use.
type lookedAt struct {
	mu    sync.Mutex
	files map[string]string
}

// note remembers a file and its type, of the whole; err is why it has none. It returns both, for
// type rules to pass on.
func (l *lookedAt) note(path string, t types.Type, err error) (types.Type, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string]string{}
	}
	switch {
	case err != nil:
		l.files[path] += ""
	case l.files[path] == "":
		l.files[path] = t.String()
	case !slices.Contains(strings.Split(l.files[path], " and "), t.String()): // read in two ways
		l.files[path] += " and " + t.String()
	}
	return t, err
}

func (l *lookedAt) list() (all []op.Looked) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, path := range slices.Sorted(maps.Keys(l.files)) {
		all = append(all, op.Looked{Path: path, Type: l.files[path]})
	}
	return all
}

// pathRead is op.Def.Reads of rows whose attribute path names a file.
func pathRead(a *op.Attrs) string { return a.Str("path") }
