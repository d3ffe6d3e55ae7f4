package dist

// This file encodes what is not sent in place: scalars, values of unknown size, and control
// messages.

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"io"
	"math"
	"sync"
	"unsafe"

	"flow/ir"
	"flow/ir/types"
	"flow/ir/value"
	"flow/memory"
)

// Tags on Control.
const (
	tagMessage = 0 // a message, by gob
	tagValue   = 1 // a value of variable form
	tagClear   = 2 // epoch and node: local.Engine.Clear
	tagHelp    = 3 // a message about help with a loop
)

// putClear encodes that a rank's tasks have succeeded that node shown waits for.
func putClear(epoch uint64, shown ir.ID) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, epoch), uint32(shown))
}

func getClear(b []byte) (epoch uint64, shown ir.ID, err error) {
	if len(b) != 8+4 {
		return 0, 0, fmt.Errorf("BUG: %d bytes arrived that clear no node", len(b))
	}
	return binary.LittleEndian.Uint64(b), ir.ID(binary.LittleEndian.Uint32(b[8:])), nil
}

// putScalar encodes a scalar of fixed size.
func putScalar(s value.Scalar) []byte {
	b := make([]byte, 0, scalarBytes)
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(s.F))
	return binary.LittleEndian.AppendUint64(b, uint64(s.I))
}

func getScalar(b []byte, e types.Elem) value.Scalar {
	return value.Scalar{Elem: e, F: math.Float64frombits(binary.LittleEndian.Uint64(b)), I: int64(binary.LittleEndian.Uint64(b[8:]))}
}

// The header of a value over Control: epoch, exchange, kind, element, rows, columns, and what aligns
// the data behind it. A sparse matrix has the kind sparseKind, and its data are values, columns and
// lengths of rows.
const (
	valueHeader = 8 + 4 + 1 + 1 + 8 + 8 + 2
	sparseKind  = types.Kind(255)
)

// putValue encodes a value of variable form. It fails for kinds of values that it does not know.
func putValue(epoch uint64, id ir.ID, v value.Value) ([]byte, error) {
	head := func(n int, kind types.Kind, e types.Elem, rows, cols int) []byte {
		b := memory.Fresh[byte](valueHeader + n)[:0]
		b = binary.LittleEndian.AppendUint64(b, epoch)
		b = binary.LittleEndian.AppendUint32(b, uint32(id))
		b = append(b, byte(kind), byte(e))
		b = binary.LittleEndian.AppendUint64(b, uint64(rows))
		return append(binary.LittleEndian.AppendUint64(b, uint64(cols)), 0, 0)
	}
	switch x := v.(type) {
	case value.Scalar:
		b := head(scalarBytes+len(x.S), types.Scalar, x.Elem, 0, 0)
		return append(append(b, putScalar(x)...), x.S...), nil
	case *value.Dense:
		if x.Elem.Size() == 0 {
			break
		}
		b := head(x.Rows*x.Cols*x.Elem.Size(), types.Matrix, x.Elem, x.Rows, x.Cols)
		for i := range x.Rows {
			b = append(b, x.View(i, 0, 1, x.Cols).Bytes()...)
		}
		return b, nil
	case *value.CSR:
		b := head(x.Bytes(), sparseKind, x.Elem, x.Rows, x.Cols)
		col, val := x.Parts()
		return append(append(append(b, val...), col...), bytesOf(x.Lengths())...), nil
	}
	return nil, fmt.Errorf("not supported yet: a value of type %v cannot be sent to another rank", v.Type())
}

// getValue decodes what putValue made. The value is on the heap; a sparse matrix takes over the memory
// of b.
func getValue(b []byte) (epoch uint64, id ir.ID, v value.Value, err error) {
	damaged := fmt.Errorf("BUG: a value of %d bytes arrived that cannot be decoded", len(b))
	if len(b) < valueHeader {
		return 0, 0, nil, damaged
	}
	epoch = binary.LittleEndian.Uint64(b)
	id = ir.ID(binary.LittleEndian.Uint32(b[8:]))
	kind, e := types.Kind(b[12]), types.Elem(b[13])
	rows, cols := int(binary.LittleEndian.Uint64(b[14:])), int(binary.LittleEndian.Uint64(b[22:]))
	data := b[valueHeader:]
	switch {
	case kind == types.Scalar && len(data) >= scalarBytes:
		s := getScalar(data, e)
		s.S = string(data[scalarBytes:])
		return epoch, id, s, nil
	case kind == sparseKind && e <= types.Dur:
		m, err := value.CSRFromParts(e, rows, cols, data)
		if err != nil {
			return 0, 0, nil, fmt.Errorf("BUG: a value arrived damaged: %w", err)
		}
		return epoch, id, m, nil
	case kind == types.Matrix && e <= types.Dur && rows >= 0 && cols >= 0 && rows*cols*e.Size() == len(data):
		d := value.New(e, rows, cols)
		copy(d.Bytes(), data)
		return epoch, id, d, nil
	}
	return 0, 0, nil, damaged
}

// The first byte of a message. After byGob come the length of the types, the types, and the value.
const (
	byGob byte = iota
	aBeat
)

// coders encode and decode messages by gob. Each is used again, because gob takes half a millisecond to
// learn the types of a message. Pools of them would have none for another processor's first message.
var coders = struct {
	sync.Mutex
	types []byte       // of a message, as an encoder writes them before its first one
	b     bytes.Buffer // of enc
	enc   *gob.Encoder
	dec   map[string]*decoder // by the types that arrived: ranks of one build send the same
}{dec: map[string]*decoder{}}

type decoder struct {
	b bytes.Buffer
	*gob.Decoder
}

// Prepare makes the first messages of this process fast. It takes 2 ms, for what gob learns of types
// and for the build's identity.
func Prepare() {
	if b, err := encode(&message{Hello: &hello{Build: Build()}}); err == nil {
		_, _ = decode(b)
	}
}

func encode(m *message) ([]byte, error) {
	if m.beat != nil {
		l := append([]int32{int32(m.beat.From), int32(m.beat.Finished), int32(m.beat.Tasks)}, m.beat.Nodes...)
		b := binary.LittleEndian.AppendUint64([]byte{aBeat}, m.Epoch)
		for _, x := range l {
			b = binary.LittleEndian.AppendUint32(b, uint32(x))
		}
		return b, nil
	}
	c := &coders
	c.Lock()
	defer c.Unlock()
	c.b.Reset()
	if c.enc == nil {
		c.enc = gob.NewEncoder(&c.b)
		_ = c.enc.Encode(new(message)) // with types; a Buffer takes all
		whole := bytes.Clone(c.b.Bytes())
		c.b.Reset()
		_ = c.enc.Encode(new(message)) // without
		c.types = whole[:len(whole)-c.b.Len()]
		c.b.Reset()
	}
	if err := c.enc.Encode(m); err != nil {
		c.enc = nil
		return nil, err
	}
	b := binary.LittleEndian.AppendUint32([]byte{byGob}, uint32(len(c.types)))
	return append(append(b, c.types...), c.b.Bytes()...), nil
}

func decode(b []byte) (*message, error) {
	m := new(message)
	if len(b) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	if b[0] == byGob {
		return m, decodeGob(b[1:], m)
	}
	if len(b) < 1+8+3*4 {
		return nil, io.ErrUnexpectedEOF
	}
	m.Epoch = binary.LittleEndian.Uint64(b[1:])
	l := make([]int32, (len(b)-9)/4)
	for i := range l {
		l[i] = int32(binary.LittleEndian.Uint32(b[9+4*i:]))
	}
	m.beat = &beat{From: int(l[0]), Finished: int(l[1]), Tasks: int(l[2]), Nodes: l[3:]}
	return m, nil
}

// decodeGob decodes the lengths of types, the types and the value that follow the first byte.
func decodeGob(b []byte, m *message) error {
	if len(b) < 4 || uint64(len(b)-4) < uint64(binary.LittleEndian.Uint32(b)) {
		return io.ErrUnexpectedEOF
	}
	n := int(binary.LittleEndian.Uint32(b))
	types, value := string(b[4:4+n]), b[4+n:]
	c := &coders
	c.Lock()
	defer c.Unlock()
	d := c.dec[types]
	if d == nil {
		d = new(decoder)
		d.Decoder = gob.NewDecoder(&d.b)
		d.b.WriteString(types)
	}
	delete(c.dec, types) // of no more use after an error
	d.b.Write(value)
	if err := d.Decode(m); err != nil {
		return err
	}
	c.dec[types] = d
	return nil
}

// bytesOf returns the memory of rows.
func bytesOf(rows []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))), 4*len(rows))
}
