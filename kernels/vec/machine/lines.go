package machine

// This file writes folds over the entries of a sparse matrix. Each entry names a line of a dense
// matrix. foldLines folds a strip of the lines that a row names in registers. addLines adds a strip of
// a line to the lines that a row names. A strip is one element, or 1, 2 or 4 vectors with a mask that
// leaves out elements. The latency of scattered lines limits the kernels, so they prefetch the lines of
// later entries. Each element is one chain in the order of entries.

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"

	"flow/kernels/loop/amd64"
)

const (
	// linesAhead is the distance in entries at which a line is prefetched, and gatherAhead that of an
	// element. Both were measured on graphs of 2 to 31 million entries.
	linesAhead  = 24
	gatherAhead = 64
	// streamAhead is the distance in entries at which columns and values are prefetched. Processors
	// prefetch consecutive memory themselves, but on a shared virtual machine with 4 KiB pages a pass over
	// 4 million entries was twice as fast with it (November 2026; 256 to 1024 are alike).
	streamAhead = 256
)

// Ahead is the largest number of entries beyond a row that the kernels read.
const Ahead = gatherAhead + 16

// Step is what an entry of value u does to an element v of the result. x is an element of the line that
// the entry names. u is 1 if entries have no values.
type Step uint8

// These are the steps. The least and the greatest of floats are NaN if one of them is, and -0 is less
// than 0.
const (
	Chain         Step = iota // v += u*x, fused
	LeastTimes                // v = min(v, u*x)
	GreatestTimes             // v = max(v, u*x)
	LeastPlus                 // v = min(v, u+x)
	GreatestPlus              // v = max(v, u+x)
	steps
)

func (s Step) greatest() bool { return s == GreatestTimes || s == GreatestPlus }
func (s Step) plus() bool     { return s == LeastPlus || s == GreatestPlus }

// Form selects a kernel of this file.
type Form struct {
	Type    int // of elements: f64, f32, i64
	Step    Step
	Valued  bool // entries have values
	Vectors int  // of a strip: 1, 2 or 4; 0: one element
	Whole   bool // on AVX2, AddLines: no mask leaves out elements, which makes a store many times as fast
}

// OnAVX2 reports that FoldLines and AddLines have the kernel for AVX2, too. That set multiplies no
// integers of 64 bits.
func (f Form) OnAVX2() bool { return laneTypes[f.Type].float && (f.Vectors == 0 || f.Step == Chain) }

// These are the kernels. ldout and ldb are in bytes. mask has a bit for each column of a strip; for
// AVX2 it is the address of as many vectors as the strip has, in which the elements of its columns have
// all bits set.
var (
	// FoldLines folds into the strips of rows of out the lines of b that the entries ptr[i] <= k < ptr[i+1]
	// name. It reads Ahead columns beyond a row.
	FoldLines = map[Form]*Kernel{}
	// AddLines makes the step Chain of the strip of row col[k] of out with row i of b, for the entries k of
	// row i with lo <= col[k] < hi, row by row. Columns ascend in a row. A hi of math.MaxInt32 stands for
	// all entries.
	AddLines = map[Form]*Kernel{}
)

func init() {
	for t, l := range laneTypes {
		for n := range 8 * int(steps) {
			f := Form{t, Step(n / 8), n/4%2 > 0, []int{0, 1, 2, 4}[n%4], false}
			name := fmt.Sprint(l.bits, l.float, f.Step, f.Valued, f.Vectors)
			sets := []Set{AVX512}
			if f.OnAVX2() {
				sets = nil
			}
			const params = "out ptr col val b rows ldout ldb mask"
			FoldLines[f] = of("FoldLines"+name, params, func(e *emitter) { e.foldLines(f) }, sets...)
			if f.Step == Chain {
				AddLines[f] = of("AddLines"+name, params+" lo hi", func(e *emitter) { e.addLines(f) }, sets...)
				if whole := f; f.Vectors > 0 && f.OnAVX2() {
					whole.Whole = true
					AddLines[whole] = of("AddLinesWhole"+name, params+" lo hi", func(e *emitter) { e.addLines(whole) }, AVX2)
				}
			}
		}
	}
}

// stripMask are the bytes of the masks of AVX2: those of a strip of n bytes begin n bytes before its
// middle.
var stripMask = [2 * 4 * 32]byte(append(bytes.Repeat([]byte{0xff}, 4*32), make([]byte, 4*32)...))

// StripMask is the address of the mask of n bytes for AVX2, at most 4 vectors.
func StripMask(n int) uint64 { return uint64(uintptr(unsafe.Pointer(&stripMask[len(stripMask)/2-n]))) }

// strip writes a kernel for strips.
type strip struct {
	*emitter
	Form
	lanes
	masks      []reg
	size       int // bytes of an element
	sign       reg // changes signs: the greatest floats are found as the least of their negatives
	u          reg // the value of an entry
	out, b     reg
	ldout, ldb reg
	ptr, col   reg
	val, rows  reg
	k, end, j  reg // the current entry and the end of its row; the column of the entry
}

// strip begins a kernel: it makes masks and constants.
func (e *emitter) strip(f Form) *strip {
	s := &strip{emitter: e, Form: f, lanes: laneTypes[f.Type], val: e.block, k: e.general(), end: e.general(), j: e.general()}
	s.out, s.ptr, s.col, s.b, s.rows = e.param("out"), e.param("ptr"), e.param("col"), e.param("b"), e.param("rows")
	s.ldout, s.ldb = e.param("ldout"), e.param("ldb")
	s.size, s.u = s.bits/8, s.fresh()
	if f.Valued {
		s.val = e.param("val")
	} else if f.Step.plus() {
		one := map[lanes]uint64{laneTypes[0]: 0x3ff << 52, laneTypes[1]: 0x3f8 << 20, laneTypes[2]: 1}[s.lanes]
		s.spread(mem{word: one, isWord: true})
	}
	if f.Step.greatest() && s.float {
		s.sign = e.signs(s.bits)
		s.sign.length = s.u.length
	}
	if f.Vectors > 0 && !f.Whole {
		bits := e.param("mask")
		for i := range f.Vectors {
			if e.set == AVX2 {
				s.masks = append(s.masks, e.vector())
				e.v(amd64.VMOVUPD, mem{base: bits, disp: i * e.bytes}, s.masks[i])
				continue
			}
			m := e.mask()
			e.v(amd64.KMOVW, bits, m)
			e.shr(64/s.size, bits)
			s.masks = append(s.masks, m)
		}
	}
	return s
}

// fresh returns a new register for a vector of a strip. each returns one for each vector.
func (s *strip) fresh() reg {
	if s.Vectors == 0 {
		return s.of(amd64.L128)
	}
	return s.vector()
}

func (s *strip) each() []reg {
	v := make([]reg, max(1, s.Vectors))
	for i := range v {
		v[i] = s.fresh()
	}
	return v
}

// by returns wide for elements of 8 bytes and narrow for elements of 4.
func (s *strip) by(wide, narrow amd64.Op) amd64.Op {
	if s.bits == 32 {
		return narrow
	}
	return wide
}

// spread sets all lanes of u to an element in memory.
func (s *strip) spread(from mem) {
	if s.Vectors == 0 {
		s.v(s.by(amd64.VMOVSD, amd64.VMOVSS), from, s.u)
	} else {
		s.v(s.by(amd64.VBROADCASTSD, amd64.VBROADCASTSS), from, s.u)
	}
}

// load loads the strip of a line. store stores it.
func (s *strip) load(line mem, to []reg) {
	for i, v := range to {
		if line.disp = s.bytes * i; s.Vectors == 0 {
			s.v(s.by(amd64.VMOVSD, amd64.VMOVSS), line, v)
		} else if s.Whole {
			s.v(amd64.VMOVUPD, line, v)
		} else if s.set == AVX2 {
			s.v(s.by(amd64.VMASKMOVPD, amd64.VMASKMOVPS), line, s.masks[i], v)
		} else {
			s.vz(s.by(amd64.VMOVUPD, amd64.VMOVUPS), line, s.masks[i], v)
		}
	}
}

func (s *strip) store(from []reg, line mem) {
	for i, v := range from {
		if line.disp = s.bytes * i; s.Vectors == 0 {
			s.v(s.by(amd64.VMOVSD, amd64.VMOVSS), v, line)
		} else if s.Whole {
			s.v(amd64.VMOVUPD, v, line)
		} else if s.set == AVX2 {
			s.v(s.by(amd64.VMASKMOVPDStore, amd64.VMASKMOVPSStore), v, s.masks[i], line)
		} else {
			s.v(s.by(amd64.VMOVUPD, amd64.VMOVUPS), v, s.masks[i], line)
		}
	}
}

// named returns the line of base that j names. Lines of one element are contiguous.
func (s *strip) named(base, j, ld reg) mem {
	if s.Vectors == 0 {
		return mem{base: base, index: j, scale: uint8(s.size)}
	}
	s.imul(ld, j)
	return mem{base: base, index: j, scale: 1}
}

// entry loads the column of entry k to j and its value to u.
func (s *strip) entry() {
	s.extend(mem{base: s.col, index: s.k, scale: 4}, s.j)
	if s.Valued {
		s.spread(mem{base: s.val, index: s.k, scale: uint8(s.size)})
	}
}

// askStreams prefetches the values of entries, and their columns if columns.
func (s *strip) askStreams(columns bool) {
	if columns {
		s.prefetch(mem{base: s.col, index: s.k, scale: 4, disp: 4 * streamAhead})
	}
	if s.Valued {
		s.prefetch(mem{base: s.val, index: s.k, scale: uint8(s.size), disp: s.size * streamAhead})
	}
}

// askLine prefetches the line of b that a later entry names.
func (s *strip) askLine() {
	j, ahead := s.general(), linesAhead
	if s.Vectors == 0 {
		ahead = gatherAhead
	}
	s.extend(mem{base: s.col, index: s.k, scale: 4, disp: 4 * ahead}, j)
	line := s.named(s.b, j, s.ldb)
	for line.disp = 0; line.disp < max(1, s.Vectors*s.bytes); line.disp += 64 {
		s.prefetch(line)
	}
}

// chain makes the step Chain of acc with the element of a line where it lies; false: there is no
// instruction for it. Vectors under masks are loaded first.
func (s *strip) chain(line mem, acc reg) bool {
	switch {
	case s.Step != Chain || !s.float || s.Vectors > 0:
		return false
	case s.Valued:
		s.v(s.by(amd64.VFMADD231SD, amd64.VFMADD231SS), line, s.u, acc)
	case s.bits == 64:
		s.v(amd64.VADDSD, line, acc, acc)
	default:
		return false
	}
	return true
}

// product replaces x by the contribution of an entry. It turns the sign of floats if the greatest are
// wanted.
func (s *strip) product(x reg) {
	switch {
	case s.Step.plus() && s.float:
		s.v(s.by(amd64.VADDPD, amd64.VADDPS), s.u, x, x)
	case s.Step.plus():
		s.v(amd64.VPADDQ, s.u, x, x)
	case !s.Valued:
	case s.float:
		s.v(s.by(amd64.VMULPD, amd64.VMULPS), s.u, x, x)
	default:
		s.v(amd64.VPMULLQ, s.u, x, x)
	}
	s.turn(x)
}

// join makes a step of acc with a product.
func (s *strip) join(x, acc reg) {
	switch {
	case s.Step != Chain:
		s.better(s.lanes, s.Step.greatest(), x, acc)
	case s.float:
		s.v(s.by(amd64.VADDPD, amd64.VADDPS), x, acc, acc)
	default:
		s.v(amd64.VPADDQ, x, acc, acc)
	}
}

// turn changes the sign of floats if the step takes the greatest.
func (s *strip) turn(v reg) {
	if s.Step.greatest() && s.float {
		s.v(amd64.VXORPD, s.sign, v, v)
	}
}

// foldLines folds two entries at a time for a least or greatest. The better one of the two joins the
// running result, so that the chain of steps is half as long. The last one of a row may be taken twice.
func (e *emitter) foldLines(f Form) {
	s := e.strip(f)
	acc, line, other, last := s.each(), s.each(), s.each(), e.general()
	e.mov(mem{base: s.ptr}, s.k)
	e.test(s.rows)
	e.jumpIf(amd64.Equal, "done")
	e.label("row")
	e.mov(mem{base: s.ptr, disp: 8}, s.end)
	if f.Step != Chain {
		e.mov(s.end, last)
		e.dec(last)
	}
	s.load(mem{base: s.out}, acc)
	for _, v := range acc {
		s.turn(v)
	}
	e.jump("test")
	e.label("entries")
	s.take(line, acc)
	if f.Step != Chain {
		e.cmp(s.k, last)
		e.cmov(amd64.Greater, last, s.k)
		s.take(other, acc)
		for i, v := range other {
			s.join(line[i], v)
			s.join(v, acc[i])
		}
	}
	s.askStreams(true)
	e.label("test")
	e.cmp(s.k, s.end)
	e.jumpIf(amd64.Less, "entries")
	for _, v := range acc {
		s.turn(v)
	}
	s.store(acc, mem{base: s.out})
	e.add(8, s.ptr)
	e.add(s.ldout, s.out)
	e.dec(s.rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("done")
	e.finish()
}

// take makes the products of entry k in line, or a step of the chains acc, asks for the line of a later
// entry, and goes on to the next one.
func (s *strip) take(line, acc []reg) {
	s.entry()
	if from := s.named(s.b, s.j, s.ldb); !s.chain(from, acc[0]) {
		s.load(from, line)
		for i, v := range line {
			switch fused := s.Valued && s.float; {
			case s.Step != Chain:
				s.product(v)
			case fused:
				s.v(s.by(amd64.VFMADD231PD, amd64.VFMADD231PS), v, s.u, acc[i])
			default:
				s.product(v)
				s.join(v, acc[i])
			}
		}
	}
	s.askLine()
	s.inc(s.k)
}

func (e *emitter) addLines(f Form) {
	s := e.strip(f)
	lo, hi := e.vector(), e.vector()
	if e.set == AVX512 {
		e.v(amd64.VPBROADCASTD, e.param("lo"), lo)
		e.v(amd64.VPBROADCASTD, e.param("hi"), hi)
	}
	x, y, sum := s.each(), s.each(), s.each()
	e.test(s.rows)
	e.jumpIf(amd64.Equal, "done")
	e.label("row")
	e.mov(mem{base: s.ptr}, s.k)
	e.mov(mem{base: s.ptr, disp: 8}, s.end)
	s.load(mem{base: s.b}, y)
	s.bounds(lo, hi)
	e.jump("test")
	e.label("entry")
	s.entry()
	named := s.named(s.out, s.j, s.ldout)
	s.load(named, sum)
	for i, v := range sum {
		switch {
		case s.Valued && s.float:
			s.v(s.by(amd64.VFMADD231PD, amd64.VFMADD231PS), y[i], s.u, v)
		case s.Valued: // a product replaces a factor
			e.v(amd64.VMOVAPD, y[i], x[i])
			s.product(x[i])
			s.join(x[i], v)
		default:
			s.join(y[i], v)
		}
	}
	s.store(sum, named)
	s.askStreams(false) // bounds has prefetched columns
	e.inc(s.k)
	e.label("test")
	e.cmp(s.k, s.end)
	e.jumpIf(amd64.Less, "entry")
	e.add(8, s.ptr)
	e.add(e.param("ldb"), s.b)
	e.dec(s.rows)
	e.jumpIf(amd64.NotEqual, "row")
	e.label("done")
	e.finish()
}

// bounds finds the entries k..end-1 of a row whose columns are in lo..hi-1. Columns ascend, so it
// counts the columns below lo and below hi.
func (s *strip) bounds(lo, hi reg) {
	e, col, k, end := s.emitter, s.col, s.k, s.end
	at, n, some, full, one, below := e.general(), e.general(), e.general(), e.general(), e.general(), e.general()
	valid, less, entries := e.mask(), e.mask(), e.vector()
	limit := e.general()
	e.mov(e.place("hi"), limit)
	e.cmp(limit, math.MaxInt32)
	e.jumpIf(amd64.Equal, "test")
	e.mov(k, at)
	if e.set == AVX2 {
		s.boundsByOne(at, below)
		return
	}
	e.mov(end, n)
	e.sub(k, n)
	e.mov(k, end)
	e.mov(1, one)
	e.jump("more")
	e.label("count")
	e.mov(16, full)
	e.cmp(n, full)
	e.cmov(amd64.Less, n, full)
	e.shlx(full, one, some)
	e.dec(some)
	e.v(amd64.KMOVW, some, valid)
	e.vz(amd64.VMOVDQU32, mem{base: col, index: at, scale: 4}, valid, entries)
	e.prefetch(mem{base: col, index: at, scale: 4, disp: 4 * streamAhead})
	for _, c := range []struct {
		bound reg
		to    reg
	}{{lo, k}, {hi, end}} {
		e.v(amd64.VPCMPD, 1, c.bound, entries, valid, less)
		e.v(amd64.KMOVW, less, below)
		e.popcount(below, below)
		e.add(below, c.to)
	}
	e.add(16, at)
	e.sub(16, n)
	e.label("more")
	e.test(n)
	e.jumpIf(amd64.Greater, "count")
}

// boundsByOne is bounds without vectors under masks: it takes off the entries from lo and from hi on.
func (s *strip) boundsByOne(at, below reg) {
	e := s.emitter
	e.mov(s.end, s.k)
	e.jump("more")
	e.label("count")
	for _, c := range []struct {
		bound string
		to    reg
	}{{"lo", s.k}, {"hi", s.end}} {
		s.extend(mem{base: s.col, index: at, scale: 4}, s.j)
		e.mov(e.place(c.bound), below)
		e.sub(s.j, below)
		e.dec(below) // negative from the bound on
		e.shr(63, below)
		e.sub(below, c.to)
	}
	e.inc(at)
	e.label("more")
	e.mov(mem{base: s.ptr, disp: 8}, below)
	e.cmp(at, below)
	e.jumpIf(amd64.Less, "count")
}
