package compiler_test

// These tests break the exchange of values on purpose: a message that never arrives, and one that
// arrives with another bit. Both must be reported as what they are.

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"flow/compiler"
	"flow/runtime/dist"
	"flow/runtime/dist/transport"
	"flow/runtime/dist/transport/mem"
)

// faulty is the end of a rank that sends one of its messages with values wrongly.
type faulty struct {
	transport.Comm
	sent  atomic.Int32
	which int32
	wrong func(tag int, buf []byte) (int, []byte)
}

func (f *faulty) Isend(ch transport.Channel, dst, tag int, buf []byte) transport.Request {
	if ch == transport.Data && f.sent.Add(1) == f.which {
		tag, buf = f.wrong(tag, buf)
	}
	return f.Comm.Isend(ch, dst, tag, buf)
}

func TestFaultyExchanges(t *testing.T) {
	const shared = `iterate x = seq(0, 30) * 1.0, k = 0 until k == 4 {
  y = parfor i in 0..30 { 0.5 * x[i, 0] + x[29 - i, 0] }
  next x = y
  next k = k + 1
}
emit sum(x)`
	away := func(tag int, buf []byte) (int, []byte) { return 32000, buf } // nobody receives that
	flip := func(tag int, buf []byte) (int, []byte) {
		buf = append([]byte(nil), buf...)
		buf[0] ^= 1
		return tag, buf
	}
	for _, c := range []struct {
		name  string
		which int32
		wrong func(tag int, buf []byte) (int, []byte)
		want  string
	}{
		{"none", 0, nil, ""},
		{"a lost one", 1, away, `BUG: all ranks are idle, and these receives are open: .*rank \d+: %\d+ x.flow:\d+:\d+ from rank 0`},
		{"a lost one of a later round", 4, away, `BUG: all ranks are idle.* rows of (gather \d+|x.flow:\d+:\d+) from rank 0, time [2-5]`},
		{"another bit", 3, flip, `BUG: ranks \d and \d have gathered different bytes of (gather \d+|x.flow:\d+:\d+), time 1`},
	} {
		r, err := compileTiny(tinyTable(t), shared, 3, false, append([]string{"by-rows"}, apart...)) // rank 0 sends x
		if err != nil {
			t.Fatal(err)
		}
		comms := mem.New(3, mem.Options{})
		comms[0] = &faulty{Comm: comms[0], which: c.which, wrong: c.wrong}
		p := &printer{}
		_, err = dist.RunGroup(context.Background(), comms, r.Plan, 1, func(int) dist.Options {
			return dist.Options{Env: p, Grace: hangs, Agree: true}
		})
		switch {
		case (err == nil) != (c.want == ""):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case err != nil && !regexp.MustCompile(c.want).MatchString(err.Error()):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Every example, on two to five ranks over transports that hold each message back for a time of its
// own: what is gathered is the same on all ranks, round by round, and the output is the definition's.
func TestExamplesUnderDelays(t *testing.T) {
	files, err := filepath.Glob("../examples/*.flow")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	table := tinyTable(t)
	for at, file := range files {
		name := filepath.Base(file)
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		golden, err := os.ReadFile("../testdata/examples/" + strings.TrimSuffix(name, ".flow") + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var sets []compiler.Setting
		for _, m := range setting.FindAllStringSubmatch(strings.SplitN(string(golden), "\n", 2)[0], -1) {
			sets = append(sets, compiler.Setting{Name: m[1], Text: m[2]})
		}
		want := ""
		for ranks := 2; ranks <= 5; ranks++ {
			if !everyRun && (at+ranks)%2 == 0 {
				continue
			}
			c, err := compileTiny(table, string(text), ranks, false, apart, sets...)
			if err != nil {
				t.Fatal(err)
			}
			if want == "" {
				want = evaluated(name, c.Program).out
			}
			o := slowTransports[2+(at/2+ranks/2)%2]
			o.Faults.Seed += uint64(10*at + ranks)
			if out, err := runOver(mem.New(ranks, o), c, 1); err != nil || out != want {
				t.Errorf("%s, %d ranks: %v, %s", name, ranks, err, difference(want, out))
			}
		}
	}
}

var setting = regexp.MustCompile(`--set (\w+)=(\S+)`)
