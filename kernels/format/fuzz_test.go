package format

import (
	"bytes"
	"errors"
	"testing"

	"flow/ir/value"
	"flow/memory"
)

// FuzzRead: whatever the bytes, a reader of any format returns a matrix or an *Error, agrees with
// its own header, and what it returned can be written and read back to the same bits.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n1 1 1.5\n3 2 -2e-3\n",
		"%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n",
		"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n",
		gzipped("%%MatrixMarket matrix array real general\n1 2\n1\nnan\n"),
		"a,b\n1,\"2\"\n,NA\n",
		"x,y\r1,2\r",
		csrUnsummed + string(make([]byte, 16)) + "\x01" + string(make([]byte, 23)), // no rows, a column; no checksum hides what is wrong
		npy("{'descr': '<f8', 'fortran_order': True, 'shape': (1, 1), }", "\x00\x00\x00\x00\x00\x00\xf0\x3f"),
	} {
		for k := range forms() {
			f.Add(k, []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, k int, data []byte) {
		list := forms()
		chosen := list[(k%len(list)+len(list))%len(list)]
		read := func(form form, data []byte, headOnly bool) (Header, *value.Dense, error) {
			in := &input{file: "fuzz", size: int64(len(data)), memory: memory.Limit{Bytes: 1 << 22}, longest: 1 << 22}
			if err := in.unpack(bytes.NewReader(data), form.cause); err != nil {
				return Header{}, nil, err
			}
			return in.decode(form, Options{}, headOnly)
		}
		if chosen.readSparse != nil {
			fuzzSparse(t, chosen, data)
		}
		if chosen.read == nil {
			return
		}
		head, _, herr := read(chosen, data, true)
		_, d, err := read(chosen, data, false)
		for _, err := range []error{herr, err} {
			if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
				t.Fatalf("an error of another type: %v", err)
			}
		}
		if err != nil {
			return
		}
		if herr != nil || head.Type() != d.Type() {
			t.Fatalf("the header says %v, %v; the matrix is %v", head.Type(), herr, d.Type())
		}
		if d.Rows*d.Cols == 0 {
			return // an empty CSV has no lines to read back
		}
		var b bytes.Buffer
		if err := Write(&b, "fuzz."+chosen.name, d, Options{}); err != nil {
			t.Fatal(err)
		}
		_, back, err := read(chosen, b.Bytes(), false)
		if err != nil {
			t.Fatalf("what was written is not read: %v\n%s", err, b.Bytes())
		}
		if d.Elem == back.Elem && !value.Same(d, back) {
			t.Fatalf("written and read back differently: %s and %s", rows(d), rows(back))
		}
	})
}

// fuzzSparse is the same of the sparse form: a matrix or an error of ours, and what is written is
// read back.
func fuzzSparse(t *testing.T, chosen form, data []byte) {
	read := func(data []byte) (*value.CSR, error) {
		in := &input{file: "fuzz", size: int64(len(data)), memory: memory.Limit{Bytes: 1 << 22}, longest: 1 << 22}
		if err := in.unpack(bytes.NewReader(data), chosen.cause); err != nil {
			return nil, err
		}
		_, m, err := chosen.readSparse(in, Options{}, false)
		return m, err
	}
	m, err := read(data)
	if e := (*Error)(nil); err != nil && !errors.As(err, &e) {
		t.Fatalf("an error of another type: %v", err)
	}
	if err != nil {
		return
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Write(&b, "fuzz."+chosen.name, m, Options{}); err != nil {
		t.Fatal(err)
	}
	back, err := read(b.Bytes())
	if err != nil || m.Elem == back.Elem && !value.Same(m, back) {
		t.Fatalf("what was written is not read back: %v\n%s", err, b.Bytes())
	}
}
