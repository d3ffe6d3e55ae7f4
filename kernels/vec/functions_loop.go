package vec

// This file runs one function, of one number or of two, or one division of integers over slices: by
// the chain machine where there is one.

import "unsafe"

// A Function2 is a function of two numbers; for the rest it is like a Function. Ulps is 0 where the
// exact value is rounded once.
type Function2 struct {
	Name string
	F    func(x, y float64) float64
	Link uint64
	Ulps float64
	Tiny float64
	// F32 and Link32 are as those of a Function.
	F32    func(x, y float64) float64
	Link32 uint64
}

// Functions2 are all of them.
var Functions2 = []Function2{
	{"pow", Pow, LinkPow, 0.7, 1, Pow32, LinkPow32},
	{"atan2", Atan2, LinkAtan2, 0.75, 0, Atan232, LinkAtan232},
	{"idiv", FloorDiv, LinkFloorDiv, 0, 0, FloorDiv, LinkFloorDiv},
	{"mod", Mod, LinkMod, 0, 0, Mod, LinkMod},
}

// Function2Named is that one.
func Function2Named(name string) (Function2, bool) {
	for _, f := range Functions2 {
		if f.Name == name {
			return f, true
		}
	}
	return Function2{}, false
}

// LoopF64 is the loop of f.
func (f Function2) LoopF64() func(dst, a, b []float64) {
	loop := Map2F64(f.F)
	if plain := loop; HaveChain {
		loop = func(dst, a, b []float64) { chained64(dst, a, b, f.Link, plain) }
	}
	if f.Link == LinkPow {
		return powerLoop(loop)
	}
	return loop
}

// LoopF32 is the loop on float32. A square is just the product.
func (f Function2) LoopF32() func(dst, a, b []float32) {
	loop := Map2F32(f.F32)
	if plain := loop; HaveChain {
		loop = func(dst, a, b []float32) { chained32(dst, a, b, f.Link32, plain) }
	}
	if f.Link != LinkPow {
		return loop
	}
	return func(dst, a, b []float32) {
		if len(b) > 0 && b[0] == 2 && uniform(b) {
			MulF32(dst, a[:len(dst)], a[:len(dst)])
			return
		}
		loop(dst, a, b)
	}
}

// LoopF64 is the loop of f.
func (f Function) LoopF64() func(dst, a []float64) {
	plain := Map1F64(f.F)
	if !HaveChain {
		return plain
	}
	rest := func(dst, a, _ []float64) { plain(dst, a) }
	return func(dst, a []float64) { chained64(dst, a, a, f.Link, rest) }
}

// LoopF32 is the loop on float32.
func (f Function) LoopF32() func(dst, a []float32) {
	plain := Map1F32(f.F32)
	if !HaveChain {
		return plain
	}
	rest := func(dst, a, _ []float32) { plain(dst, a) }
	return func(dst, a []float32) { chained32(dst, a, nil, f.Link32, rest) }
}

// fewElements is how many are left to the plain loop: a group of the machine costs about as much as
// that many.
const fewElements = 4

// group is how many elements the machine works on at a time.
const group = ChainBytes / 8

// chained64 runs one link on a, with the operand b: whole groups in place, the rest by way of a
// group of its own.
func chained64(dst, a, b []float64, link uint64, plain func(dst, a, b []float64)) {
	a, b = a[:len(dst)], b[:len(dst)]
	whole := len(dst) - len(dst)%group
	run64(dst[:whole], a, b, link)
	if dst, a, b = dst[whole:], a[whole:], b[whole:]; len(dst) <= fewElements {
		plain(dst, a, b)
		return
	}
	var x, y [group]float64
	copy(x[:], a)
	copy(y[:], b)
	run64(x[:], x[:], y[:], link)
	copy(dst, x[:])
}

// run64 runs one link on whole groups.
func run64(dst, a, b []float64, link uint64) {
	if len(dst) == 0 {
		return
	}
	all := ^uint64(0)
	code := [...]Link{{LinkLoad, unsafe.Pointer(&a[0]), all}, {link, unsafe.Pointer(&b[0]), all}, {LinkStore, unsafe.Pointer(&dst[0]), all}, {Op: LinkEnd}}
	ChainF64(code[:], len(dst))
}

// chained32 is chained64 on float32, which are float64 in the machine. b is nil for a function of
// one number.
func chained32(dst, a, b []float32, link uint64, plain func(dst, a, b []float32)) {
	a = a[:len(dst)]
	whole := len(dst) - len(dst)%group
	run32(dst[:whole], a, b, link)
	rest := func(x []float32) []float32 {
		if x == nil {
			return nil
		}
		return x[whole:len(dst)]
	}
	if a, b, dst = rest(a), rest(b), rest(dst); len(dst) <= fewElements {
		plain(dst, a, b)
		return
	}
	var x, y [group]float32
	copy(x[:], a)
	copy(y[:], b)
	if b != nil {
		b = y[:]
	}
	run32(x[:], x[:], b, link)
	copy(dst, x[:])
}

// run32 runs one link on whole groups.
func run32(dst, a, b []float32, link uint64) {
	if len(dst) == 0 {
		return
	}
	var second [group]float64
	all := ^uint64(0)
	code := make([]Link, 0, 7)
	if b != nil {
		code = append(code, Link{LinkLoadFloats, unsafe.Pointer(&b[0]), all}, Link{LinkStore, unsafe.Pointer(&second), 0})
	}
	code = append(code, Link{LinkLoadFloats, unsafe.Pointer(&a[0]), all}, Link{Op: link, Base: unsafe.Pointer(&second)},
		Link{Op: LinkRoundFloats}, Link{LinkStoreFloats, unsafe.Pointer(&dst[0]), all}, Link{Op: LinkEnd})
	ChainF64(code, len(dst))
}

// IDivI64 is the quotient rounded towards minus infinity; no b may be 0.
func IDivI64(dst, a, b []int64) { divide(dst, a, b, LinkFloorDivWords, floorDivs) }

// ModI64 is the remainder with the sign of b, a - IDiv(a,b)*b; no b may be 0.
func ModI64(dst, a, b []int64) { divide(dst, a, b, LinkModWords, mods) }

// CeilDivI64 is the quotient rounded towards plus infinity; no b may be 0.
func CeilDivI64(dst, a, b []int64) { divide(dst, a, b, LinkCeilDivWords, ceilDivs) }

// divide runs one division on whole groups, the rest by the plain loop.
func divide(dst, a, b []int64, link uint64, plain func(dst, a, b []int64)) {
	a, b = a[:len(dst)], b[:len(dst)]
	whole := 0
	if HaveChain {
		whole = len(dst) - len(dst)%(ChainBytes/8)
	}
	if whole > 0 {
		var none Failures
		all := ^uint64(0)
		code := [...]Link{{LinkLoad, unsafe.Pointer(&a[0]), all}, {LinkOther, unsafe.Pointer(&none), 0}, {link, unsafe.Pointer(&b[0]), all},
			{LinkStore, unsafe.Pointer(&dst[0]), all}, {Op: LinkEnd}}
		ChainF64(code[:], whole)
	}
	plain(dst[whole:], a[whole:], b[whole:])
}
