package amd64

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"testing"
)

// TestScalarForms compares the scalar instructions with the Go toolchain.
func TestScalarForms(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil || runtime.GOOS != "linux" {
		t.Skip("the oracle is the go command on Linux")
	}
	d := drawer{rand.New(rand.NewPCG(7, 9))}
	var lines []string
	var asm Asm
	var ends []int
	add := func(text string, write func()) {
		write()
		lines, ends = append(lines, text), append(ends, asm.Len())
	}
	name := func(r Reg) string { return regName(r, wG64, 0) }
	place := func(m Mem) string {
		i := Inst{Op: VMOVUPD, InMem: true, Mem: m, Dst: V(0)}
		var out string
		fmt.Sscanf(i.text(), "VMOVUPD %s", &out)
		return out[:len(out)-1]
	}
	arith := map[Arith]string{AddG: "ADDQ", OrG: "ORQ", AndG: "ANDQ", SubG: "SUBQ", XorG: "XORQ"}
	shifts := map[Shift]string{ShlG: "SHLQ", ShrG: "SHRQ"}
	conds := map[Cond]string{Below: "CS", AboveEqual: "CC", Equal: "EQ", NotEqual: "NE", Above: "HI", Less: "LT", GreaterEq: "GE",
		LessEqual: "LE", Greater: "GT", Sign: "MI"}
	for range 12 {
		r, s, m := d.general(), d.general(), d.memory()
		v := int32(d.IntN(1<<20)) - 1<<19
		small := int32(d.IntN(256)) - 128
		for v == int32(int8(v)) {
			v += 1000
		}
		add(fmt.Sprintf("MOVQ %s, %s", name(s), name(r)), func() { asm.Mov(r, s) })
		add(fmt.Sprintf("ADDQ $%d, %s", v, place(m)), func() { asm.AddImmTo(m, v) })
		add(fmt.Sprintf("ADDQ $%d, %s", small|2, place(m)), func() { asm.AddImmTo(m, small|2) })
		add(fmt.Sprintf("INCQ %s", place(m)), func() { asm.AddImmTo(m, 1) })
		add(fmt.Sprintf("MOVQ %s, %s", place(m), name(r)), func() { asm.LoadG(r, m) })
		add(fmt.Sprintf("MOVQ %s, %s", name(r), place(m)), func() { asm.StoreG(m, r) })
		add(fmt.Sprintf("MOVL %s, %s", name(r), place(m)), func() { asm.StoreG32(m, r) })
		if r < RSP || r > RDI {
			add(fmt.Sprintf("MOVB %s, %s", name(r), place(m)), func() { asm.StoreG8(m, r) })
		}
		add(fmt.Sprintf("MOVLQSX %s, %s", place(m), name(r)), func() { asm.LoadG32(r, m) })
		add(fmt.Sprintf("MOVBLZX %s, %s", place(m), name(r)), func() { asm.LoadG8(r, m) })
		add(fmt.Sprintf("LEAQ %s, %s", place(m), name(r)), func() { asm.Lea(r, m) })
		add(fmt.Sprintf("MOVQ $%d, %s", int64(v)|1<<40, name(r)), func() { asm.MovImm(r, int64(v)|1<<40) })
		add(fmt.Sprintf("MOVQ $%d, %s", -int64(v)*int64(v)-1, name(r)), func() { asm.MovImm(r, -int64(v)*int64(v)-1) })
		add(fmt.Sprintf("MOVL $%d, %s", v&0xfffff|1, name(r)), func() { asm.MovImm(r, int64(v&0xfffff|1)) })
		for op, text := range arith {
			add(fmt.Sprintf("%s %s, %s", text, name(s), name(r)), func() { asm.ArithG(op, r, s) })
			add(fmt.Sprintf("%s %s, %s", text, place(m), name(r)), func() { asm.ArithMem(op, r, m) })
			add(fmt.Sprintf("%s $%d, %s", text, v, name(r)), func() { asm.ArithImm(op, r, v) })
			add(fmt.Sprintf("%s %s, %s", text, name(r), place(m)), func() { asm.ArithTo(op, m, r) })
			far := int64(v) << 31
			add(fmt.Sprintf("MOVQ $%d, R11; %s R11, %s", far, text, name(r)), func() { asm.ArithConst(op, r, far) })
			if small != 1 && small != -1 { // the assembler has shorter words for these
				add(fmt.Sprintf("%s $%d, %s", text, small, name(r)), func() { asm.ArithImm(op, r, small) })
			}
		}
		add(fmt.Sprintf("CMPQ %s, %s", name(r), name(s)), func() { asm.ArithG(CmpG, r, s) })
		add(fmt.Sprintf("CMPQ %s, $%d", name(r), v), func() { asm.ArithImm(CmpG, r, v) })
		add(fmt.Sprintf("CMPQ %s, %s", name(r), place(m)), func() { asm.ArithMem(CmpG, r, m) })
		add(fmt.Sprintf("TESTQ %s, %s", name(s), name(r)), func() { asm.Test(r, s) })
		add(fmt.Sprintf("IMULQ %s, %s", name(s), name(r)), func() { asm.IMul(r, s) })
		add(fmt.Sprintf("IMULQ %s, %s", place(m), name(r)), func() { asm.IMulMem(r, m) })
		add(fmt.Sprintf("IMUL3Q $%d, %s, %s", v, name(s), name(r)), func() { asm.IMulImm(r, s, v) })
		add(fmt.Sprintf("IMUL3Q $%d, %s, %s", small, name(s), name(r)), func() { asm.IMulImm(r, s, small) })
		for op, text := range shifts {
			n := uint8(1 + d.IntN(63))
			add(fmt.Sprintf("%s $%d, %s", text, n, name(r)), func() { asm.ShiftImm(op, r, n) })
		}
		add(fmt.Sprintf("IDIVQ %s", name(r)), func() { asm.IDiv(r) })
		add("CQO", asm.SignExtend)
		add(fmt.Sprintf("SHLXQ %s, %s, %s", name(m.Base), name(s), name(r)), func() { asm.ShlX(r, s, m.Base) })
		add(fmt.Sprintf("MOVLQSX %s, %s", name(s), name(r)), func() { asm.Extend32(r, s) })
		add(fmt.Sprintf("POPCNTQ %s, %s", name(s), name(r)), func() { asm.PopCount(r, s) })
		add(fmt.Sprintf("BSFQ %s, %s", name(s), name(r)), func() { asm.BitScan(r, s) })
		add(fmt.Sprintf("NEGQ %s", name(r)), func() { asm.Neg(r) })
		for c, text := range conds {
			add(fmt.Sprintf("CMOVQ%s %s, %s", text, name(s), name(r)), func() { asm.Cmov(c, r, s) })
		}
		add(fmt.Sprintf("PREFETCHT0 %s", place(m)), func() { asm.Prefetch(m, false) })
		add(fmt.Sprintf("PREFETCHT1 %s", place(m)), func() { asm.Prefetch(m, true) })
		add("VZEROUPPER", asm.ZeroUpper)
		add("SFENCE", asm.StoreFence)
	}
	compare(t, lines, func(b []byte, k int) []byte { return append(b, asm.code[len(b):ends[k]]...) })
}

// TestLabels checks distances forwards and backwards, and those of constants, which count from the
// end of the instruction that reads them.
func TestLabels(t *testing.T) {
	var a Asm
	top, end := a.Label(), a.Label()
	a.Bind(top)
	a.Jump(Equal, end) // 6 bytes
	a.Emit(Inst{Op: VADDPD, Len: L256, Dst: V(1), A: V(2), InMem: true, Mem: a.Const(1, 2, 3, 4, 5, 6, 7, 8)})
	a.Emit(Inst{Op: VCMPPD, Len: L256, Dst: V(1), A: V(2), InMem: true, Mem: a.Const(9), Imm: 1})
	a.Emit(Inst{Op: VMULPD, Len: L512, Dst: V(17), A: V(2), InMem: true, Mem: a.Const(1, 2, 3, 4, 5, 6, 7, 8)})
	a.Lea(R9, a.Const(9))
	a.Goto(top)
	a.Bind(end)
	a.Return()
	code, err := a.Finish()
	if err != nil {
		t.Fatal(err)
	}
	at := func(k int) int { return int(int32(binary.LittleEndian.Uint32(code[k:]))) }
	where := func(words ...uint64) int {
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
		return bytes.Index(code, b)
	}
	first, second := where(1, 2, 3, 4, 5, 6, 7, 8), where(9)
	if first%64 != 0 || second%8 != 0 || bytes.LastIndex(code, code[first:first+64]) != first {
		t.Errorf("constants at %d and %d", first, second)
	}
	for _, c := range []struct{ at, end, target int }{{10, 14, first}, {18, 23, second}, {29, 33, first}, {36, 40, second}} {
		if got := c.end + at(c.at); got != c.target {
			t.Errorf("the distance at %d leads to %d, want %d", c.at, got, c.target)
		}
	}
	ret := bytes.IndexByte(code[40:], 0xc3) + 40
	if got := 6 + at(2); got != ret {
		t.Errorf("the jump leads to %d, want %d", got, ret)
	}
	if got := ret + at(ret-4); got != 0 {
		t.Errorf("the jump back leads to %d", got)
	}
	a.Reset()
	a.Goto(a.Label())
	if _, err := a.Finish(); err == nil {
		t.Error("a jump to nowhere is finished")
	}
}

// TestWrongOperands: what an instruction does not have is a bug of the caller, not other code.
func TestWrongOperands(t *testing.T) {
	for _, i := range []Inst{
		{Op: VPAND, Len: L512, Dst: V(1), A: V(2), B: V(3)},
		{Op: VPAND, Len: L256, Dst: V(17), A: V(2), B: V(3)},
		{Op: VPERM2F128, Len: L256, Dst: V(1), A: V(2), B: V(3), Mask: K(1)},
		{Op: VADDPD, Len: L256, Dst: V(1), A: V(2), InMem: true, Mem: Mem{Base: V(3), Index: NoReg}},
		{Op: VADDPD, Len: L256, Dst: V(1), A: V(2), InMem: true, Mem: Indexed(RAX, RSP, 1, 0)},
		{Op: VADDPD, Len: L256, Dst: V(1), A: V(2), InMem: true, Mem: Indexed(RAX, RCX, 3, 0)},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is encoded", i)
				}
			}()
			Encode(nil, &i)
		}()
	}
}

func BenchmarkEncode(b *testing.B) {
	var a Asm
	for range b.N {
		a.Reset()
		for k := range 100 {
			a.Emit(Inst{Op: VFMADD231PD, Len: L512, Dst: V(k & 31), A: V(2), InMem: true, Mem: At(RAX, int32(k)*64)})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/100, "ns/instruction")
}
