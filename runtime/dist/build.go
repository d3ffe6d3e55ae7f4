package dist

// This file identifies the build of the program.

import (
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"sync"
)

// Build identifies the running executable, because ranks of two builds may compute different bytes.
// The text describes it; the hash is compared: module version, revision, its modified flag, the
// tool chain, and the executable.
var Build = sync.OnceValue(func() Item {
	version, rest := "unknown", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version, rest = describe(info), info.String()
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s\n%s\n%x", version, rest, executable()) // a hash takes everything
	sum := [32]byte(h.Sum(nil))
	return Item{Name: "build of flowrun", Hash: sum, Text: fmt.Sprintf("%s (%x)", version, sum[:4])}
})

// describe describes a build: its version, its revision, and whether the sources were modified.
func describe(info *debug.BuildInfo) string {
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "devel"
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && !strings.Contains(version, s.Value[:min(12, len(s.Value))]):
			version += " " + s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true" && !strings.HasSuffix(version, "+dirty"):
			version += " modified"
		}
	}
	return version
}

// executable identifies this process's executable: its size, and the hash of its contents that the
// go command embeds, or a hash of all its bytes without one (-ldflags=-buildid=) or in another file
// format. The first takes 0.1 ms on every rank, hashing 30 MB 20 ms.
func executable() []byte {
	f, err := os.Open("/proc/self/exe") // valid even if the file has been replaced since
	if err != nil {
		path, perr := os.Executable()
		if perr != nil {
			return nil
		}
		if f, err = os.Open(path); err != nil {
			return nil
		}
	}
	defer f.Close()
	return identify(f)
}

// identify is executable of an open file.
func identify(f *os.File) []byte {
	h := sha256.New()
	if info, err := f.Stat(); err == nil {
		fmt.Fprintln(h, info.Size())
	}
	if id := buildID(f); len(id) > 0 {
		h.Write(id)
	} else if _, err := io.Copy(h, f); err != nil {
		return nil
	}
	return h.Sum(nil)
}

// buildID returns the go command's note in an ELF file, or nil. It ends with a hash of the
// contents.
func buildID(f io.ReaderAt) []byte {
	e, err := elf.NewFile(f)
	if err != nil {
		return nil
	}
	note := e.Section(".note.go.buildid")
	if note == nil {
		return nil
	}
	// The note: lengths of its name and its text, its type, the name (Go), the text.
	const head = 16
	b, err := note.Data()
	if err != nil || len(b) <= head || len(strings.Trim(string(b[head:]), "\x00")) == 0 {
		return nil
	}
	return b[head:]
}
