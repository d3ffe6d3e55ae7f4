package figure

import (
	"encoding/binary"
	"errors"
	"math"
)

// This file makes a picture a string of bytes, which engines carry and ranks send, and reads it back.
// The same picture has the same bytes.

// Encode is the picture as bytes.
func (p *Picture) Encode() string {
	n := 64
	for _, f := range p.Fields {
		for _, l := range f.Layers {
			n += 8*(len(l.X)+len(l.Y)+len(l.Z)) + 256
		}
	}
	e := encoder{make([]byte, 0, n)}
	e.text(p.Title)
	e.int(p.Columns)
	e.int(len(p.Fields))
	for _, f := range p.Fields {
		e.text(f.Title)
		e.text(f.XLabel)
		e.text(f.YLabel)
		e.flag(f.LogX)
		e.flag(f.LogY)
		e.int(len(f.Layers))
		for _, l := range f.Layers {
			e.b = append(e.b, byte(l.Kind))
			e.text(l.Label)
			e.text(l.Map)
			e.int(len(l.Names))
			for _, s := range l.Names {
				e.text(s)
			}
			e.int(l.Rows)
			e.int(l.Cols)
			e.floats(l.Range[:])
			e.floats(l.X)
			e.floats(l.Y)
			e.floats(l.Z)
		}
	}
	return string(e.b)
}

type encoder struct{ b []byte }

func (e *encoder) int(n int) { e.b = binary.AppendUvarint(e.b, uint64(n)) }

func (e *encoder) text(s string) {
	e.int(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) flag(x bool) {
	n := byte(0)
	if x {
		n = 1
	}
	e.b = append(e.b, n)
}

// floats writes one bit pattern for all nan: which nan an addition hands on is the processor's
// business.
func (e *encoder) floats(x []float64) {
	e.int(len(x))
	for _, v := range x {
		if v != v {
			v = math.NaN()
		}
		e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(v))
	}
}

// Decode reads what Encode wrote. Anything else is an error.
func Decode(s string) (*Picture, error) {
	d := decoder{s: s}
	p := &Picture{Title: d.text(), Columns: d.int()}
	for range d.count(8) {
		f := Field{Title: d.text(), XLabel: d.text(), YLabel: d.text(), LogX: d.flag(), LogY: d.flag()}
		for range d.count(8) {
			l := Layer{Kind: Kind(d.byte()), Label: d.text(), Map: d.text()}
			for range d.count(1) {
				l.Names = append(l.Names, d.text())
			}
			l.Rows, l.Cols = d.int(), d.int()
			if r := d.floats(); len(r) == 2 {
				l.Range = [2]float64(r)
			}
			l.X, l.Y, l.Z = d.floats(), d.floats(), d.floats()
			f.Layers = append(f.Layers, l)
		}
		p.Fields = append(p.Fields, f)
	}
	if d.bad || d.s != "" {
		return nil, errors.New("BUG: a picture cannot be decoded")
	}
	return p, nil
}

type decoder struct {
	s   string
	bad bool
}

func (d *decoder) byte() byte {
	if d.s == "" {
		d.bad = true
		return 0
	}
	b := d.s[0]
	d.s = d.s[1:]
	return b
}

func (d *decoder) flag() bool { return d.byte() != 0 }

func (d *decoder) int() int {
	var x uint64
	for shift := 0; shift < 63; shift += 7 {
		b := d.byte()
		if x |= uint64(b&0x7f) << shift; b < 0x80 {
			return int(x)
		}
	}
	d.bad = true
	return 0
}

// count is a number of things that take so many bytes at least.
func (d *decoder) count(size int) int {
	n := d.int()
	if n < 0 || n > len(d.s)/size {
		d.bad = true
		return 0
	}
	return n
}

func (d *decoder) text() string {
	n := d.count(1)
	t := d.s[:n]
	d.s = d.s[n:]
	return t
}

func (d *decoder) floats() []float64 {
	n := d.count(8)
	if n == 0 {
		return nil
	}
	x := make([]float64, n)
	for i := range x {
		var bits uint64
		for k := range 8 {
			bits |= uint64(d.s[8*i+k]) << (8 * k)
		}
		x[i] = math.Float64frombits(bits)
	}
	d.s = d.s[8*n:]
	return x
}
