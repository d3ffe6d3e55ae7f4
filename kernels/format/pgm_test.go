package format

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

func TestPGM(t *testing.T) {
	d := value.New(types.F64, 2, 3)
	copy(d.F64, []float64{-1, 0, 50, 100, 200, math.NaN()})
	hundred := 100.0
	for _, c := range []struct {
		max  *float64
		want string
	}{
		{&hundred, "P5\n3 2\n255\n\x00\x00\x80\xff\xff\x00"},
		{nil, "P5\n3 2\n255\n\x00\x00\x40\x80\xff\x00"},
	} {
		var b bytes.Buffer
		if err := Write(&b, "a.pgm", d, Options{Max: c.max}); err != nil || b.String() != c.want {
			t.Errorf("%q, %v; want %q", b.String(), err, c.want)
		}
	}
	var b bytes.Buffer
	if err := Write(&b, "a.pgm", value.New(types.I64, 1, 1), Options{}); err != nil || b.String() != "P5\n1 1\n255\n\x00" {
		t.Errorf("a black point is %q, %v", b.String(), err)
	}
	file := filepath.Join(t.TempDir(), "a.pgm")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := Read(file, Options{}); !errors.As(err, &e) || e.Cause != UnknownFormat {
		t.Errorf("an image is read: %v", err)
	}
}
