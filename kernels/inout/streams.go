package inout

// This file defines reading what can be read once only: standard input, pipes, terminals. The shape
// of a matrix is wanted when a program is checked and its numbers when it runs, so a stream is read
// and understood whole at the first and kept for the second, and for as long as the Input lives: a
// program may read it in every round of a loop.

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"flow/ir/value"
	"flow/kernels/format"
)

// Input is where programs find their streams. One Input may serve several programs, one after the
// other, which then see the same contents. The zero value reads this process's standard input. Safe
// for concurrent use.
type Input struct {
	// Stdin is what read("-") reads; nil is os.Stdin.
	Stdin io.Reader
	// NoStdin is why read("-") is refused, such as "the program itself is read from it"; "": it is
	// not refused.
	NoStdin string
	// NoStreams is why every stream is refused; "": none is.
	NoStreams string
	// Given are matrices that read takes for files of these names, whether or not there are such
	// files: a *value.Dense or a *value.CSR each. Nothing changes them; they are read when a
	// program runs.
	Given map[string]value.Value
	// Known are facts about files that need not be read for them, because another process has done so
	// and the files are the same.
	Known []*Fact
	// Share reads blocks of a file together with other processes; nil: format.Task.All does.
	Share func(format.Task) (format.Answer, error)
	// Settled is called when the sizes of all values are known. Compile has then read what it must of
	// files. It may be nil.
	Settled func()
	// Brief refuses to read all of a file before the run. Postponed then tells that a program needs it.
	Brief bool
	// Early reads graphs that Brief refuses in the background, for an Input whose From is this one. Graphs
	// that ranks read together are left out.
	Early bool
	// From is the Input that has read files for this one; nil: there is none.
	From *Input
	// Waiting is called, in a goroutine of its own, with the name of a stream that has delivered
	// nothing for two seconds; at most once for each stream.
	Waiting func(name string)

	mu      sync.Mutex
	until   <-chan struct{}
	streams []*stream
	asked   map[string]bool // the given matrices that a program reads
	learned []*Fact
	kept    map[string]keptEntries // by name and kind of the file
	read    atomic.Int64           // bytes that were read before the run
	refused atomic.Bool            // a file, by Brief
	early   map[fileKey]*earlyFile // files that are read for another Input
}

// sharing returns o with the Share of this input, for what is read before the run.
func (in *Input) sharing(o format.Options) format.Options {
	o.Share = in.Share
	return in.counting(o)
}

// counting returns o with the counter of the bytes that are read before the run.
func (in *Input) counting(o format.Options) format.Options {
	o.Read = &in.read
	return o
}

// brief returns an error if all of a file must not be read.
func (in *Input) brief(path string) error {
	if !in.Brief {
		return nil
	}
	in.refused.Store(true)
	return fmt.Errorf("all of %s would have to be read", path)
}

// Postponed reports whether a program was refused, or may have been, because Brief is set.
func (in *Input) Postponed() bool { return in.refused.Load() }

// Helped counts bytes of files that this process has read for another one, before the run.
func (in *Input) Helped() *atomic.Int64 { return &in.read }

// TakeRead returns how many bytes of files programs have read before they ran, since the last call.
func (in *Input) TakeRead() int64 { return in.read.Swap(0) }

// Until has reads that wait for a stream fail once done is closed, instead of waiting on. The
// stream is read on: who reads it the same way later gets all of it.
func (in *Input) Until(done <-chan struct{}) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.until = done
}

func (in *Input) done() <-chan struct{} {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.until
}

// Unread is the names of the given matrices that no program has read, sorted.
func (in *Input) Unread() []string {
	in.mu.Lock()
	defer in.mu.Unlock()
	var all []string
	for name := range in.Given {
		if !in.asked[name] {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// given is the matrix of that name as a stream that has been read, or nil.
func (in *Input) given(name string) *stream {
	v, ok := in.Given[name]
	if !ok {
		return nil
	}
	s := &stream{in: in, name: name, given: true}
	switch v := v.(type) {
	case *value.Dense:
		s.dense = v
	case *value.CSR:
		s.sparse = v
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.asked == nil {
		in.asked = map[string]bool{}
	}
	in.asked[name] = true
	return s
}

// streamPatience is how long a stream may deliver nothing before Input.Waiting is called.
const streamPatience = 2 * time.Second

// stdinName is what messages call standard input.
const stdinName = "standard input"

// isStdin reports whether a path of a program means standard input.
func isStdin(path string) bool {
	return slices.Contains([]string{"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"}, path)
}

func (in *Input) stdin() io.Reader {
	if in.Stdin == nil {
		return os.Stdin
	}
	return in.Stdin
}

// stream is what can be read once.
type stream struct {
	in   *Input
	name string
	info fs.FileInfo // nil: standard input, and what is given

	mu     sync.Mutex
	ending chan struct{} // closed when it has been read; nil: reading has not begun
	failed any           // what reading it has panicked with
	given  bool          // not read from anywhere
	way    fileKey       // how it was read
	dense  *value.Dense
	sparse *value.CSR
	err    error
	said   sync.Once
}

// stream is the stream of that path, nil where it is a file that can be read again, or nothing.
// info is os.Stat's, nil where that failed.
func (in *Input) stream(path string, info fs.FileInfo) *stream {
	stdin := isStdin(path)
	if !stdin && (info == nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice|fs.ModeSocket) == 0) {
		return nil
	}
	if file, ok := in.stdin().(*os.File); ok && !stdin && info.Mode()&fs.ModeNamedPipe != 0 {
		if own, err := file.Stat(); err == nil {
			stdin = os.SameFile(own, info)
		}
	}
	if stdin {
		path, info = stdinName, nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, s := range in.streams {
		if s.info == nil && info == nil || s.info != nil && info != nil && os.SameFile(s.info, info) {
			return s
		}
	}
	s := &stream{in: in, name: path, info: info}
	in.streams = append(in.streams, s)
	return s
}

// contents is the matrix in a stream: dense, or sparse where the key says so. The caller must not
// change it. The first call reads the stream, and later ones must ask for the same reading of it.
func (s *stream) contents(k fileKey, o format.Options) (*value.Dense, *value.CSR, error) {
	k.path, k.size, k.mtime = "", 0, 0
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.given && k.kind == graphFile:
		return nil, nil, &format.Error{Cause: format.Unreadable, File: s.name, Msg: "is a matrix that the program is given, not a list of edges", Help: "read(\"" + s.name + "\") takes it"}
	case s.given && k.kind == sparseFile && s.sparse == nil:
		return nil, nil, &format.Error{Cause: format.Unreadable, File: s.name, Msg: "is a dense matrix that the program is given", Help: "sparse(read(\"" + s.name + "\")) makes it sparse"}
	case s.given:
	case s.ending != nil && s.way != k:
		return nil, nil, &format.Error{Cause: format.Unreadable, File: s.name, Msg: "cannot be read in two ways: it is read once", Help: "write it to a file and read that"}
	case s.ending == nil:
		s.way, s.ending = k, make(chan struct{})
		go func() {
			defer func() {
				s.failed = recover() // of whoever waits for it
				close(s.ending)
			}()
			s.err = s.parse(o)
		}()
	}
	if s.ending != nil {
		select {
		case <-s.ending:
		case <-s.in.done():
			return nil, nil, &format.Error{Cause: format.Unreadable, File: s.name, Msg: "was not waited for any longer"}
		}
	}
	if s.failed != nil {
		panic(s.failed)
	}
	return s.dense, s.sparse, s.err
}

func (s *stream) parse(o format.Options) error {
	refused := s.in.NoStreams
	if refused == "" && s.info == nil {
		refused = s.in.NoStdin
	}
	if refused != "" {
		return &format.Error{Cause: format.Unreadable, File: s.name, Msg: "cannot be read: " + refused, Help: "write the data to a file and read that"}
	}
	from := patient{s.in.stdin(), s}
	if s.info != nil {
		file, err := s.open()
		if err != nil {
			return err
		}
		defer file.Close()
		from.Reader = file
	}
	var err error
	switch s.way.kind {
	case sparseFile:
		s.sparse, err = format.ParseSparse(from, s.name, o)
	case graphFile:
		s.sparse, err = format.ParseGraph(from, s.name, o)
	default:
		s.dense, err = format.Parse(from, s.name, o)
	}
	return err
}

// open opens a stream that is not standard input. For a named pipe that waits for somebody who
// writes to it.
func (s *stream) open() (*os.File, error) {
	defer s.watch().Stop()
	return format.OpenFile(s.name)
}

// watch starts the time after which the stream is said to deliver nothing.
func (s *stream) watch() *time.Timer {
	return time.AfterFunc(streamPatience, func() {
		s.said.Do(func() {
			if s.in.Waiting != nil {
				s.in.Waiting(s.name)
			}
		})
	})
}

// patient reads a stream and has it said when that takes long.
type patient struct {
	io.Reader
	s *stream
}

func (p patient) Read(b []byte) (int, error) {
	defer p.s.watch().Stop()
	return p.Reader.Read(b)
}
