package amd64

import (
	"bytes"
	"debug/elf"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// lengths limits the vector lengths of forms that do not have all that their encoding allows.
var lengths = map[Op][]Len{
	VPERMQI:      {L256, L512},
	VBROADCASTSD: {L256, L512}, VSHUFF64X2: {L256, L512},
	VPTEST: {L128, L256}, VPBLENDD: {L128, L256}, VPERM2F128: {L256}, VEXTRACTF128: {L256}, VINSERTF128: {L256}, VEXTRACTF64X4: {L512},
}

// noCast forms have a full tuple and take no broadcast.
var noCast = map[Op]bool{VPADDB: true, VPSUBB: true, VPMINSB: true, VPMAXSB: true, VPCMPB: true, VPSADBW: true}

// memOnly forms have no register in the place of memory. Loads are among them because the Go assembler
// copies registers by the form that stores.
var memOnly = map[Op]bool{
	VMOVNTPD: true, VMASKMOVPD: true, VMASKMOVPS: true, VMASKMOVPDStore: true, VMASKMOVPSStore: true,
	VMOVSD: true, VMOVSDStore: true, VMOVHPD: true, VMOVHPDStore: true, VMOVSS: true, VMOVSSStore: true, KMOVWStore: true, KMOVQStore: true,
	VMOVUPD: true, VMOVUPS: true, VMOVAPD: true, VMOVDQU: true, VMOVDQU64: true, VMOVDQU32: true, VMOVDQU8: true,
}

// drawer makes random instructions.
type drawer struct{ *rand.Rand }

func (d drawer) vector(long bool) Reg {
	if long {
		return V(d.IntN(32))
	}
	return V(d.IntN(16))
}

func (d drawer) general() Reg { return RAX + Reg(d.IntN(16)) }

func (d drawer) of(w width, long bool) Reg {
	switch w {
	case wK:
		return K(d.IntN(8))
	case wG64, wG32:
		return d.general()
	}
	return d.vector(long)
}

func (d drawer) memory() Mem {
	m := At(d.general(), 0)
	switch d.IntN(4) {
	case 0:
		m.Disp = int32(d.IntN(40)-20) * 8
	case 1:
		m.Disp = int32(d.IntN(1<<20)) - 1<<19
	case 2:
		m.Disp = int32(d.IntN(200)-100) * 64
	}
	if d.IntN(2) == 0 {
		for m.Index = RSP; m.Index == RSP; {
			m.Index = d.general()
		}
		m.Scale = 1 << d.IntN(4)
	}
	return m
}

// inst draws an instruction of op; ok is false where the draw has no such form.
func (d drawer) inst(op Op) (i Inst, ok bool) {
	f := &forms[op]
	i = Inst{Op: op}
	long := f.evexW != no && d.IntN(2) == 0
	scalar := f.dst == wX || f.tuple == tScalar && (f.dst == wG64 || f.dst == wG32) || f.pat == krvm || f.pat == krm || f.pat == kmr
	if op == VEXTRACTF128 {
		scalar = false
	}
	switch list := lengths[op]; {
	case scalar:
	case list != nil:
		i.Len = list[d.IntN(len(list))]
	default:
		i.Len = Len(d.IntN(3))
	}
	if i.Len == L512 && f.evexW == no {
		return i, false
	}
	i.Dst, i.A, i.B, i.C = d.of(f.dst, long), d.vector(long), d.of(f.src, long), d.vector(false)
	switch f.pat {
	case krvm:
		i.A = d.of(wK, false)
	case kmr:
		i.A = d.of(wK, false)
	case mr:
		i.A = d.of(f.src, long)
	}
	if f.imm {
		i.Imm = uint8(d.IntN(16))
	}
	i.InMem = memOnly[op] || !f.noMem && d.IntN(3) == 0
	if f.pat == gather || f.pat == scatter {
		i.InMem = true
	}
	if (f.pat == krm || f.pat == krvm) && !memOnly[op] && op != KMOVB && op != KMOVW && op != KMOVQ {
		i.InMem = false
	}
	if i.InMem {
		i.Mem = d.memory()
		if (f.tuple == tFull || f.tuple == tHalf) && f.evexW != no && (f.elem >= 4) && !noCast[op] && d.IntN(3) == 0 {
			i.Mem.Broadcast = true
		}
	}
	if f.pat == gather || f.pat == scatter {
		i.Mem.Index, i.Mem.Scale = d.vector(long), 1<<d.IntN(4)
		if f.pat == gather && f.vexW != no && i.Len != L512 && d.IntN(2) == 0 {
			i.Dst, i.A, i.Mem.Index = V(1), V(d.IntN(4)+4), V(d.IntN(4)+9) // VEX: three different ones
			return i, true
		}
		if i.Dst == i.Mem.Index {
			return i, false
		}
		i.A, i.Mask = d.vector(long), K(1+d.IntN(7))
		if f.pat == gather {
			i.A = V(0)
		}
		return i, true
	}
	if f.evexW != no && !f.noMask && d.IntN(3) == 0 {
		i.Mask = K(1 + d.IntN(7))
		stores := i.InMem && (f.pat == mr)
		i.Zero = f.dst != wK && !stores && d.IntN(2) == 0
	}
	return i, true
}

// assembled is the machine code of a list of lines by the Go toolchain.
func assembled(t *testing.T, lines []string) []byte {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module oracle\n\ngo 1.21\n")
	write("main.go", "package main\n\nimport \"os\"\n\nfunc code()\n\nfunc main() {\n\tif len(os.Args) > 9 {\n\t\tcode()\n\t}\n}\n")
	write("code_amd64.s", "TEXT ·code(SB), 4, $0-0\n"+strings.Join(lines, "\n")+"\nRET\n")
	cmd := exec.Command("go", "build", "-o", "oracle", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.4000s", err, out)
	}
	file, err := elf.Open(filepath.Join(dir, "oracle"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == "main.code" || s.Name == "main.code.abi0" {
			section := file.Sections[s.Section]
			data, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			return data[s.Value-section.Addr:][:s.Size]
		}
	}
	t.Fatal("the oracle has no code")
	return nil
}

// compare encodes the list and compares it with the bytes of the toolchain.
func compare(t *testing.T, lines []string, encode func(b []byte, k int) []byte) {
	t.Helper()
	want := assembled(t, lines)
	var got []byte
	wrong := 0
	for k := range lines {
		from := len(got)
		got = encode(got, k)
		if len(want) < len(got) || !bytes.Equal(got[from:], want[from:len(got)]) {
			t.Errorf("%s\n got % x\nwant % x", lines[k], got[from:], want[min(from, len(want)):min(from+12, len(want))])
			if wrong++; wrong == 1 {
				return // what follows is out of step
			}
		}
	}
}

// TestForms assembles every row with many operands and compares with the Go toolchain.
func TestForms(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("the oracle is the go command, which is not here")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the oracle is read as an ELF file")
	}
	d := drawer{rand.New(rand.NewPCG(3, 5))}
	var list []Inst
	var lines []string
	if len(forms) > mostOps {
		t.Fatalf("%d forms have no numbers", len(forms)-mostOps)
	}
	for op := range Op(len(forms) - 1) {
		op++ // not noOp
		for made, tries := 0, 0; made < 24 && tries < 1000; tries++ {
			if i, ok := d.inst(op); ok {
				list, lines = append(list, i), append(lines, i.text())
				made++
			}
		}
	}
	compare(t, lines, func(b []byte, k int) []byte { return Encode(b, &list[k]) })
}
