package source

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// zeros is a device without an end.
type zeros struct{ read int }

func (z *zeros) Read(b []byte) (int, error) {
	z.read += len(b)
	return len(b), nil
}

func TestReadTextEnds(t *testing.T) {
	device := &zeros{}
	if _, err := ReadText(device); !errors.Is(err, ErrTooLong) || device.read > 2*MostText {
		t.Errorf("%v after %d bytes", err, device.read)
	}
	for _, n := range []int{0, 1, MostText} {
		text, err := ReadText(io.LimitReader(&zeros{}, int64(n)))
		if err != nil || len(text) != n {
			t.Errorf("%d of %d bytes, %v", len(text), n, err)
		}
	}
	if text, err := ReadText(strings.NewReader("emit 1")); err != nil || string(text) != "emit 1" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := ReadFile("no such file"); err == nil {
		t.Error("a file that is not there is read")
	}
}
