package local

import (
	"errors"
	"testing"
)

// Of a buffer that is touched in part, only that part counts against the limit of a pool.
func TestPartBuffers(t *testing.T) {
	const size, part = 64 << 20, 8 << 20
	p := NewBufferPool(size/2 + part)
	a, err := p.GetPart(size, part)
	if err != nil || len(a) != size {
		t.Fatalf("%d bytes, %v", len(a), err)
	}
	a[0], a[size-1] = 1, 1
	b, err := p.GetPart(size, part)
	if err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Live != 2*part || s.Resident != 2*part || s.Gets != 2 {
		t.Errorf("of two parts %+v", s)
	}
	var full *LimitError
	if _, err := p.Get(size); !errors.As(err, &full) {
		t.Errorf("a whole buffer: %v", err)
	}
	if err := p.Touch(a, size); !errors.As(err, &full) {
		t.Errorf("all of a: %v", err)
	}
	if err := p.Touch(a, 2*part); err != nil {
		t.Error(err)
	}
	if err := p.Touch(a, part); err != nil { // less than before
		t.Error(err)
	}
	if s := p.Stats(); s.Live != 3*part || s.Peak != 3*part {
		t.Errorf("with more of a %+v", s)
	}
	p.Put(a)
	p.Put(b)
	if s := p.Stats(); s.Live != 0 || s.Resident != 3*part {
		t.Errorf("after both are back %+v", s)
	}
	c, err := p.GetPart(size, part) // of two free ones that of which less is touched
	if err != nil || addressOf(c) != addressOf(b) {
		t.Errorf("%v, reused %d", err, p.Stats().Reused)
	}
	if s := p.Stats(); s.Reused != 1 || s.Resident != 3*part {
		t.Errorf("reused %+v", s)
	}
	d, err := p.Get(size / 2) // the free part makes room
	if err != nil {
		t.Error(err)
	}
	if s := p.Stats(); s.Resident != size/2+part {
		t.Errorf("beside a whole buffer %+v", s)
	}
	p.Put(d)
	if err := p.Touch(c, size/2); err != nil { // and so does the free whole buffer
		t.Errorf("more of c beside a free buffer: %v", err)
	}
	p.Put(c)
	defer func() {
		if recover() == nil {
			t.Error("a buffer was put back twice")
		}
		if err := p.Close(); err != nil || p.Stats().Resident != 0 {
			t.Errorf("%v, %+v", err, p.Stats())
		}
	}()
	p.Put(c)
}

// A small buffer, and one that is touched whole, are ordinary ones.
func TestPartsThatAreWhole(t *testing.T) {
	p := NewBufferPool(0)
	for _, c := range [][2]int{{4096, 100}, {8 << 20, 8 << 20}, {0, 0}} {
		b, err := p.GetPart(c[0], c[1])
		if err != nil || len(b) != c[0] || p.parts.count.Load() != 0 {
			t.Errorf("%v: %d bytes, %v", c, len(b), err)
		}
		if err := p.Touch(b, c[0]); err != nil {
			t.Error(err)
		}
		p.Put(b)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}
