package format

// This file defines what several threads or ranks read of a file together, and what they answer.

import (
	"sync/atomic"
	"unsafe"

	"flow/ir/types"
)

// Task is the reading of a file by blocks, which several threads or ranks share. Edges, Market and Sum
// select the kind of reading. If none of them is set, the lines and records of a CSV are counted.
type Task struct {
	Path               string
	Size, Begin, Block int64   // bytes: of the file, before the first block, and of a block
	Edges              bool    // the edges of a graph
	Sep                byte    // separates the numbers of an edge
	Names              bool    // the first line of edges may hold names
	Market             *Market // the entries of this Matrix Market file
	Sum                bool    // the checksum of the bytes
	// Keep: each process keeps the entries, or columns of a sum, that it reads and answers with their Told.
	Keep     bool
	Graph    bool // the entries of a Matrix Market file are edges
	Cols     int  // of a sum: the bytes From..To-1 are numbers of columns below it, which are counted
	From, To int64

	read *atomic.Int64 // as in Options
	cols []byte        // of a sum that is kept: room for the bytes From..To-1
}

// Answer is what a task has read of some blocks, in the order of the file.
type Answer struct {
	Spans []Span    // of a count: one for each block
	Parts []Entries // of the other tasks: each of several blocks
}

// Span counts the lines that begin in a block. Index 0 of the arrays holds for an even number of quotes
// above the block, index 1 for an odd number.
type Span struct {
	Lines int
	Odd   bool     // the lines have an odd number of quotes
	Rows  [2]int   // records that begin with these lines
	First [2]int64 // the byte at which the first of them begins
	Above [2]int   // lines of the block above that
}

// Counting returns the task with a counter of the bytes that it reads.
func (c Task) Counting(read *atomic.Int64) Task {
	c.read = read
	return c
}

const (
	leastBlock = 64 << 10
	mostBlocks = 4096
)

// Blocks returns the number of blocks.
func (c Task) Blocks() int { return int((c.Size - c.Begin + c.Block - 1) / c.Block) }

// Entries is what some blocks hold, in the order of the file. The numbers are bytes in the machine's
// order, because ranks send them.
type Entries struct {
	Row, Col []byte // int32, from 0 on; empty for arrays, whose entries have no places
	Val      []byte // the values: f64 or i64; empty for edges and patterns
	Most     int32  // the greatest vertex of the edges; -1: no edge
	Lines    int    // number of lines of edges
	Widest   int    // the line of the greatest vertex, counted from the first of these lines
	Sum      uint32 // CRC-32C of Bytes bytes
	Bytes    int64
	// Count is the number of entries that another process keeps. From and To hold how many of its edges
	// begin and end at each vertex, as int32. Of a sum, To has the entries of each column.
	Count    int
	From, To []byte
}

// count returns the number of entries.
func (e *Entries) count() int { return max(e.Count, len(e.Val)/8, len(e.Row)/4) }

// Kept describes a sparse matrix whose entries several processes keep. Of a graph, ByRow and ByCol hold
// how many edges begin and end at each vertex, equal edges included.
type Kept struct {
	Header
	ByRow, ByCol []float64
}

// Market is what a Matrix Market file says of its entries.
type Market struct {
	Elem       types.Elem
	Rows, Cols int
	Entries    int // announced
	Array      bool
	Symmetry   uint8
}

// partBlock is the size of a block of entries.
const partBlock = 256 << 10

// of returns b as numbers. They share its memory.
func of[T int32 | uint64](b []byte) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(*new(T))))
}

// bytesOf is the memory of x.
func bytesOf[T int32 | int64 | uint64 | float32 | float64](x []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*int(unsafe.Sizeof(*new(T))))
}
