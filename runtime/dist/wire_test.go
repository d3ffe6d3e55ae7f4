package dist

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"flow/ir/op"
	"flow/ir/types"
	"flow/ir/value"
	"flow/runtime/local"
	"flow/runtime/schedule"
)

func TestValuesSurviveTheWire(t *testing.T) {
	d := value.New(types.F64, 3, 4)
	for i := range d.F64 {
		d.F64[i] = math.Float64frombits(0x7ff8000000000001 + uint64(i)) // NaNs with payloads
	}
	b := value.New(types.Bool, 2, 2)
	b.Bool[3] = 1
	sp := value.NewCSR(types.F64, 4, 9, 3)
	copy(sp.Ptr, []int64{0, 1, 1, 3, 3})
	copy(sp.Col, []int32{8, 0, 5})
	copy(sp.F64, []float64{1, math.Inf(-1), math.Float64frombits(0x7ff8000000000009)})
	graph := value.NewCSR(types.Bool, 2, 3, 4)
	copy(graph.Ptr, []int64{0, 3, 4})
	copy(graph.Col, []int32{0, 1, 2, 1})
	for _, v := range []value.Value{
		sp, graph, sp.View(1, 2), graph.View(1, 1), value.NewCSR(types.I64, 0, 0, 0), value.NewCSR(types.F32, 3, 1, 0),
		value.Str(""), value.Str("grüß\x00\xff"), value.I64(math.MinInt64), value.F64(math.Copysign(0, -1)),
		d, b, d.View(1, 1, 2, 2), value.New(types.I64, 0, 5), value.New(types.F32, 7, 1),
	} {
		enc, err := putValue(77, 5, v)
		if err != nil {
			t.Fatal(err)
		}
		epoch, id, got, err := getValue(enc)
		if err != nil || epoch != 77 || id != 5 || !value.Same(got, v) {
			t.Errorf("%v: got %v (epoch %d, exchange %d), %v", v, got, epoch, id, err)
		}
		for n := range enc {
			if _, _, got, err := getValue(enc[:n]); err == nil && value.Same(got, v) {
				t.Errorf("%v: %d of %d bytes were taken for the whole", v, n, len(enc))
			}
		}
		if s, ok := v.(value.Scalar); ok && s.Elem != types.Str {
			if back := getScalar(putScalar(s), s.Elem); !back.Same(s) {
				t.Errorf("scalar %v became %v", s, back)
			}
		}
	}
	if _, err := putValue(0, 0, effects{}); err == nil {
		t.Error("a value of an unknown kind was encoded")
	}
}

type effects struct{}

func (effects) Type() types.Type { return types.EffectType() }

func TestMessagesSurviveTheWire(t *testing.T) {
	for _, m := range []*message{
		{Epoch: 9, beat: &beat{From: 3, Finished: 1 << 20, Tasks: 1 << 30, Nodes: []int32{7, -1}}},
		{Epoch: 8, beat: &beat{From: 1, Nodes: []int32{}}},
		{Epoch: 7, Failure: &failure{Severity: taskFailed, Node: 4, Rank: 2, Code: "E601", Msg: "leading minor\xff", Help: "h"}},
		{Epoch: 6, Drain: &drain{From: 2, Posted: 5, Started: [][2]int32{{0, 2}, {3, 4}}}},
		{Epoch: 5, End: &end{}},
	} {
		b, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := decode(b)
		if err != nil || !reflect.DeepEqual(got, m) {
			t.Errorf("%+v became %+v, %v", m, got, err)
		}
	}
	if _, err := decode(nil); err == nil {
		t.Error("nothing was decoded")
	}
	good, err := encode(&message{Epoch: 4, End: &end{}})
	if err != nil {
		t.Fatal(err)
	}
	for at := 5 + len(coders.types); at < len(good); at++ { // of the value, which begins with its length
		damaged := bytes.Clone(good)
		damaged[at] = 2
		if _, err := decode(damaged); err == nil {
			continue
		}
		if m, err := decode(good); err != nil || m.Epoch != 4 {
			t.Errorf("after a message with another byte %d a good one became %+v, %v", at, m, err)
		}
	}
}

// After Prepare no message waits for gob to learn its types.
func TestPrepare(t *testing.T) {
	coders.Lock()
	coders.enc, coders.dec = nil, map[string]*decoder{}
	coders.Unlock()
	Prepare()
	prepared := coders.enc
	if prepared == nil || len(coders.dec) != 1 {
		t.Errorf("there is no encoder, or there are %d decoders", len(coders.dec))
	}
	for _, m := range []*message{{Hello: &hello{}}, {Verdict: &verdict{}}, {Done: &done{}}} {
		if b, err := encode(m); err != nil {
			t.Error(err)
		} else if _, err := decode(b); err != nil || len(coders.dec) != 1 || coders.enc != prepared {
			t.Errorf("%+v takes another encoder, or one of %d decoders: %v", m, len(coders.dec), err)
		}
	}
}

func TestHelpSurvivesTheWire(t *testing.T) {
	a := local.Ask{Rank: 3, Loop: 2, Execution: 1 << 30}
	for _, h := range []help{
		{what: asks, ask: a},
		{what: gives, ask: a, gift: local.Gift{Hints: [2]schedule.Hint{{Rank: 7, Left: 1e-3}, {Rank: 2, Left: 4}},
			Lent: []local.Lent{{Home: 1, Chunk: local.Chunk{Lo: 5, Hi: 1 << 40}}, {Home: 2, Chunk: local.Chunk{Lo: 7, Hi: 9}}}, Rows: []byte{4, 5}}},
		{what: gives, ask: a, gift: local.Gift{Moved: true, Rows: []byte{4}}},
		{what: gives, ask: a, gift: local.Gift{Later: true, Begun: 1 << 30, Rows: []byte{4}}},
		{what: tells, ask: a, data: []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{what: returns, ask: a, made: true, chunk: local.Chunk{Lo: 5, Hi: 7}, seconds: .25, data: []byte{1, 2, 3}},
	} {
		b := putHelp(9, h)
		epoch, got, err := getHelp(b)
		if len(got.data) == 0 {
			got.data = nil
		}
		if err != nil || epoch != 9 || !reflect.DeepEqual(got, h) {
			t.Errorf("%+v became %+v, epoch %d, %v", h, got, epoch, err)
		}
	}
	whole := putHelp(0, help{what: gives, gift: local.Gift{Lent: []local.Lent{{}}}})
	unknown := append([]byte(nil), whole...)
	unknown[8] = 9
	for _, b := range [][]byte{nil, whole[:helpHeader-1], whole[:len(whole)-1], unknown} {
		r := &rank{}
		if r.helped(1, b); r.bad == nil || !strings.Contains(r.bad.Error(), fmt.Sprintf("%d bytes arrived that are no help with a loop", len(b))) {
			t.Errorf("%d bytes: %v", len(b), r.bad)
		}
	}
}

// A failure that is the user's stays his whatever its code, and one of Flow's stays Flow's.
func TestBlameTravels(t *testing.T) {
	for _, err := range []error{
		&op.Failure{Code: "E606", Msg: "integer division by zero", Help: "look at b"},
		&op.Failure{Code: "E601", Msg: "not positive definite"},
		errors.New("BUG: no result"),
	} {
		m, derr := encode(&message{Failure: failureOf(&local.TaskFailure{Node: 3, Rank: 1, Err: err})})
		if derr != nil {
			t.Fatal(derr)
		}
		back, derr := decode(m)
		if derr != nil {
			t.Fatal(derr)
		}
		got := back.Failure.task()
		if got.Node != 3 || got.Rank != 1 || !reflect.DeepEqual(got.Err, err) {
			t.Errorf("%#v became %#v", err, got.Err)
		}
	}
}
