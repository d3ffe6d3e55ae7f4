package amd64

// This file writes code as text, for people, in the notation of the Go assembler: operands from the
// last to the first.

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"
)

// Listing is what List tells of code.
type Listing struct {
	Index    string // the index that the lanes of a vector are; "" for one point
	Lanes    int    // of a vector
	Together int    // how many vectors are worked on at a time
	Text     string // a line an instruction, labels where jumps lead, and the constants
}

// listing is the finished code as text.
func (a *Asm) listing(text []byte) string {
	end := len(text)
	for _, c := range a.consts {
		if c.used {
			end = min(end, c.at)
		}
	}
	lines := *a.list
	targets := map[int]bool{}
	for _, j := range a.jumps {
		targets[a.labels[j.target]] = true
	}
	for at, k := 0, 0; at < end; { // what is between the vector instructions
		if k < len(lines) && lines[k].from == at {
			at, k = lines[k].to, k+1
			continue
		}
		if text[at] == 0xcc { // up to the constants
			break
		}
		x, err := x86asm.Decode(text[at:end], 64)
		size, as := x.Len, ""
		switch {
		case strings.HasPrefix(string(text[at:end]), zeroUpper):
			size, as = len(zeroUpper), "VZEROUPPER"
		case err != nil:
			size, as = 1, fmt.Sprintf("BYTE $%#02x", text[at])
		default:
			as = general(x, at)
		}
		lines = slices.Insert(lines, k, listed{at, at + size, as})
		at, k = at+size, k+1
	}
	var b strings.Builder
	for _, l := range lines {
		if targets[l.from] {
			fmt.Fprintf(&b, "%s:\n", labelAt(l.from))
		}
		fmt.Fprintf(&b, "  %04x  %s\n", l.from, l.text)
	}
	for k, c := range a.consts {
		if c.used {
			fmt.Fprintf(&b, "%-8s%s\n", constantName(int32(k)+1), wordsText(c.words))
		}
	}
	return b.String()
}

const zeroUpper = "\xc5\xf8\x77"

// general is an instruction at an offset that is no vector instruction. A jump names its label.
func general(x x86asm.Inst, at int) string {
	if to, is := x.Args[0].(x86asm.Rel); is {
		return x.Op.String() + " " + labelAt(at+x.Len+int(to))
	}
	return x86asm.GoSyntax(x, 0, nil)
}

func labelAt(at int) string { return fmt.Sprintf("L%04x", at) }

// constantName is what a listing calls a constant: 1 + its number; "" for 0.
func constantName(n int32) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("c%d", n)
}

// wordsText is the words of a constant, and as a number what may be one.
func wordsText(words []uint64) string {
	var list []string
	for _, w := range words {
		s := fmt.Sprintf("%#x", w)
		if f := math.Float64frombits(w); w>>52&0x7ff != 0 && f == f {
			s += fmt.Sprintf(" (%g)", f)
		}
		list = append(list, s)
	}
	return strings.Join(list, ", ")
}

// suffixed forms are named by the length of their source.
var suffixed = map[Op]bool{VCVTPD2PS: true, VCVTQQ2PS: true, VCVTTPD2DQ: true}

// regName is the name of a register as an operand of that width in an instruction of that length.
func regName(r Reg, w width, l Len) string {
	switch w {
	case wX:
		l = L128
	case wHalf, wQuarter, wEighth:
		l = L128 + Len(max(0, int(l)-int(w-wFull)))
	}
	switch {
	case r.isK():
		return fmt.Sprintf("K%d", r.num())
	case r.isG():
		return [...]string{"AX", "CX", "DX", "BX", "SP", "BP", "SI", "DI", "R8", "R9", "R10", "R11", "R12", "R13", "R14", "R15"}[r.num()]
	}
	return fmt.Sprintf("%c%d", "XYZ"[l], r.num())
}

// text is the instruction as the Go assembler reads it: operands from the last to the first.
func (i *Inst) text() string {
	f := &forms[i.Op]
	name := f.name
	if suffixed[i.Op] && i.Len != L512 {
		name += string("XY"[i.Len])
	}
	if i.InMem && i.Mem.Broadcast {
		name += ".BCST"
	}
	if i.Zero {
		name += ".Z"
	}
	mem := ""
	if i.InMem {
		mem = constantName(i.Mem.Constant)
		if i.Mem.Constant == 0 {
			mem = fmt.Sprintf("%d(%s)", i.Mem.Disp, regName(i.Mem.Base, wFull, 0))
		}
		if x := i.Mem.Index; x != NoReg {
			w := wFull
			if f.pat == gather && f.src == wHalf {
				w = wHalf
			}
			mem += fmt.Sprintf("(%s*%d)", regName(x, w, i.Len), i.Mem.Scale)
		}
	}
	or := func(m, r string) string {
		if i.InMem {
			return m
		}
		return r
	}
	dst, a, b := regName(i.Dst, f.dst, i.Len), regName(i.A, wFull, i.Len), regName(i.B, f.src, i.Len)
	if f.dst == wX {
		a = regName(i.A, wX, i.Len)
	}
	var ops []string
	if f.imm {
		ops = append(ops, fmt.Sprintf("$%d", i.Imm))
	}
	switch f.pat {
	case rvm, krvm:
		ops = append(ops, or(mem, b), a, dst)
	case rvmr:
		ops = append(ops, regName(i.C, wFull, i.Len), or(mem, b), a, dst)
	case rm, krm, vmi:
		ops = append(ops, or(mem, b), dst)
	case mr, kmr:
		ops = append(ops, regName(i.A, f.src, i.Len), or(mem, dst))
	case mvr:
		ops = append(ops, b, a, mem)
	case gather:
		if i.Mask == 0 {
			ops = append(ops, regName(i.A, f.dst, i.Len))
		}
		ops = append(ops, mem, dst)
	case scatter:
		ops = append(ops, regName(i.A, f.dst, i.Len), mem)
	}
	if i.Mask != 0 {
		last := len(ops) - 1
		ops = append(ops[:last:last], fmt.Sprintf("K%d", i.Mask.num()), ops[last])
	}
	return name + " " + strings.Join(ops, ", ")
}
