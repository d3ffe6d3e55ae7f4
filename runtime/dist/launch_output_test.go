package dist

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"flow/ir/op"
	"flow/runtime/dist/calm"
)

// fakeLauncher is a program that stands for mpirun and prints what script says.
func fakeLauncher(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "mpirun")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n[ \"$1\" = --version ] && exit 0\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// A reader that has gone ends the job quietly, as it ends other programs; a full disk is said.
func TestOutputThatCannotBeWritten(t *testing.T) {
	for _, c := range []struct {
		script string
		err    error
		exit   int
		say    string
	}{
		{"echo one; sleep 600", syscall.EPIPE, 128 + int(syscall.SIGPIPE), ""},
		{"echo one; sleep 600", syscall.ENOSPC, 1, "no space left"},
		{"echo one", syscall.ENOSPC, 1, "no space left"}, // though every rank has succeeded
	} {
		clock := calm.Start()
		exit, err := Launch(context.Background(), LaunchOptions{Ranks: 1, Mpirun: fakeLauncher(t, c.script),
			Stdout: writerFunc(func([]byte) (int, error) { return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: c.err} })})
		var f *op.Failure
		if exit != c.exit || errors.As(err, &f) != (c.say != "") || f != nil && (f.Code != "E507" || !strings.Contains(f.Msg, c.say)) {
			t.Errorf("%s, %v: exit code %d, %v", c.script, c.err, exit, err)
		}
		if d := clock.Stop(); d > killAfter+2*time.Second {
			t.Errorf("%s: ended after %v", c.script, d)
		}
	}
}

// What lies in the pipe is passed on though all the time for it is over: the system may not have
// let this process run.
func TestNothingIsLostToAStall(t *testing.T) {
	var got strings.Builder
	o, err := newOutlet(writerFunc(got.Write))
	if err != nil {
		t.Fatal(err)
	}
	o.patience = -time.Second
	o.ended.Store(true)
	if _, err := o.launcher.WriteString(strings.Repeat("abcdefg\n", 2000)); err != nil { // less than a pipe holds
		t.Fatal(err)
	}
	o.run() // though the other end is still open
	o.launcher.Close()
	o.close()
	if got.Len() != 16000 {
		t.Errorf("%d bytes of 16000", got.Len())
	}
}

// A reader that takes its time gets everything, long after the launcher has ended.
func TestSlowReaderGetsAll(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two seconds")
	}
	var got strings.Builder
	exit, err := Launch(context.Background(), LaunchOptions{Ranks: 1, Mpirun: fakeLauncher(t, "yes abcdefg | head -c 65536; yes abcdefg | head -c 30000"),
		Stdout: writerFunc(func(b []byte) (int, error) {
			if got.Len() == 0 {
				time.Sleep(outputAfter + outputAfter/2)
			}
			return got.Write(b)
		})})
	if exit != 0 || err != nil || got.Len() != 95536 {
		t.Errorf("%d bytes, exit code %d, %v", got.Len(), exit, err)
	}
}
