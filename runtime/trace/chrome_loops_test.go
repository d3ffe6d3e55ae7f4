package trace

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func chromeOf(t *testing.T, recordings ...*Recording) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := WriteChrome(&out, nil, recordings...); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestReadLoops: what WriteChrome writes is what ReadLoops reads, on the clock of the file.
func TestReadLoops(t *testing.T) {
	a := oneLoop().Recording()
	b := oneLoop().Recording()
	a.Epoch, b.Epoch, b.Rank, b.Offset = 5000, 5500, 1, -100
	back, err := ReadLoops(bytes.NewReader(chromeOf(t, a, nil, b)))
	if err != nil || len(back) != 2 {
		t.Fatal(err, back)
	}
	if !reflect.DeepEqual(back[0].Loops, a.Loops) {
		t.Errorf("%+v, want %+v", back[0].Loops, a.Loops)
	}
	l, want := back[1].Loops[0], b.Loops[0]
	if l.Start != want.Start+400 || l.Chunks[2].End != want.Chunks[2].End+400 || !l.Chunks[2].Stolen || l.Chunks[2].Worker != 1 {
		t.Errorf("rank 1 is %+v", l)
	}
}

func TestReadLoopsRefuses(t *testing.T) {
	whole := string(chromeOf(t, oneLoop().Recording()))
	for i := range len(whole) - len("}\n") {
		if _, err := ReadLoops(strings.NewReader(whole[:i])); err == nil {
			t.Errorf("cut at %d of %d it was read", i, len(whole))
		}
	}
	if !strings.HasPrefix(whole, `{"traceEvents":[`) {
		t.Error("events must come first: Perfetto reads nothing behind a key that it does not know")
	}
	for _, c := range []struct{ old, new, want string }{
		{whole, "", "not a JSON object"},
		{whole, "[1]", "not a JSON object"},
		{whole, "\x7fELF", "not a JSON object"},
		{whole, `{"traceEvents":[]}`, "no loops"},
		{whole, `{"a":1}`, "no loops"},
		{whole, `{"flowLoops":3}`, "not a list"},
		{whole, `{"flowLoops":[]}`, "no loops"},
		{whole, `{"flowLoops":[3]}`, "loop 0"},
		{`"n":1000`, `"n":1001`, "have 1000 of 1001"},
		{`"n":1000`, `"n":-1`, "-1 iterations"},
		{`"leaf":64`, `"leaf":0`, "leaves of 0"},
		{`"workers":2`, `"workers":1`, "worker 1 of 1"},
		{`"workers":2`, `"workers":0`, "0 workers"},
		{`"rank":0`, `"rank":9999999999`, "no rank"},
		{`[0,512`, `[5,5`, "iterations 5 to 5"},
		{`"end":1000`, `"end":0`, "ends before it begins"},
	} {
		text := strings.Replace(whole, c.old, c.new, 1)
		if text == whole {
			t.Fatalf("%q does not occur", c.old)
		}
		if _, err := ReadLoops(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q instead of %q: %v, want %q", c.new, c.old, err, c.want)
		}
	}
	if _, err := ReadLoops(strings.NewReader(string(chromeOf(t)))); !errors.Is(err, ErrNoLoops) {
		t.Errorf("an empty trace: %v", err)
	}
}
