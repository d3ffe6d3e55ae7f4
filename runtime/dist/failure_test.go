package dist

import (
	"errors"
	"testing"

	"flow/ir/op"
	"flow/runtime/local"
)

// Who is to blame for a failed task survives the wire: an integer divided by zero is the user's mistake,
// though its code is the one that failures without a code get.
func TestBlameSurvivesTheWire(t *testing.T) {
	for _, c := range []struct {
		err  error
		user bool
	}{
		{&op.Failure{Code: "E606", Msg: "//: integer division by zero"}, true},
		{&op.Failure{Code: "E601", Msg: "leading minor 1", Help: "h"}, true},
		{errors.New("index out of range"), false},
	} {
		b, err := encode(&message{Failure: failureOf(&local.TaskFailure{Node: 3, Rank: 1, Err: c.err})})
		if err != nil {
			t.Fatal(err)
		}
		m, err := decode(b)
		if err != nil {
			t.Fatal(err)
		}
		got := m.Failure.public()
		var u *op.Failure
		if errors.As(got, &u) != c.user {
			t.Errorf("%v became %v, the user's: %v, want %v", c.err, got, !c.user, c.user)
		}
		if c.user && *u != *c.err.(*op.Failure) {
			t.Errorf("%+v became %+v", c.err, u)
		}
	}
}
