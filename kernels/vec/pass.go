package vec

// This file defines the pass machine's programs. The machine itself is assembly (gen/pass.go): it goes over the rows of tall
// matrices in groups, keeps one register of a group in the processor's, the accumulator, and the others in memory, and
// ends with sums of columns. Or the lanes are iterations of a loop, and it goes over the rows one by one.

import "unsafe"

// PassRows is the rows that a register of the machine has room for: a group is as many, or half of it.
const PassRows = 64

// The operations of a step, of the accumulator and operands. Order and number are those of gen/pass.go.
const (
	PassEnd          = iota // the last step of every program
	PassLoad                // acc = operand
	PassStore               // operand = acc
	PassSpread              // acc = the one number at the operand
	PassAdd                 // acc + operand
	PassSub                 // acc - operand
	PassSubFrom             // operand - acc
	PassDifference          // third operand = first - second; acc is not touched
	PassMul                 // acc * operand
	PassDiv                 // acc / operand
	PassDivInto             // operand / acc
	PassSqrt                // correctly rounded
	PassSum3                // acc = the sum of three operands, rounded once
	PassSquares3            // the sum of their squares, each rounded, rounded once
	PassColumn              // adds the first operand to the ColumnState that is the third
	PassColumnTail          // adds what the mask leaves of it
	PassProducts            // adds the rounded product of the first two operands
	PassProductsTail        // adds what the mask leaves of it
	PassRsqrt               // as Rsqrt
	PassSquare              // acc * acc
	PassCube                // acc * acc * acc
	PassAbs
	PassNeg
	PassMin // as MinF64
	PassMax // as MaxF64
	PassDot // third operand = acc * first + third, rounded once; acc is not touched, nor by the next
	// Of the one number at the second operand, less the first operand, which lies still (PassHere) as the third does:
	PassRowDot        // third operand + acc * that, rounded once
	PassRowDotBack    // third operand + acc * (first - the number)
	PassRowSquare     // acc = its square
	PassRowSquareAdd  // acc + its square
	PassRowDifference // third operand = that
	PassSqrtBoth      // as PassSqrt, sooner where much else is to be divided; see PassRoot
	PassRootTimes     // acc times PassSqrtBoth
	PassRowSquares    // PassRowSquare and two of PassRowSquareAdd, of which this is the first step: for what runs often
	PassRowDots       // three of PassRowDot, likewise
)

// Sums of three that meet something infinite, or overflow on the way, are NaN, which is not always right. So are those that a
// column takes in: its sum says that it is out of range. That is how the caller learns of them.

// PassPlace says what is added to the base of an operand. The machine knows a table of offsets by place.
type PassPlace uint64

const (
	PassHere   PassPlace = iota // nothing
	PassRow                     // where the group's rows begin: for columns that lie in memory as a whole
	PassBefore                  // where those of the group before begin
	PassThis                    // where a register lies that has room for two groups
	PassLast                    // where its value in the group before lies
	passPlaces
)

// PassOperand is a register of the machine, or a column.
type PassOperand struct {
	Base unsafe.Pointer
	At   PassPlace
}

// PassStep is one step of a program.
type PassStep struct {
	Op  uint64
	Arg [3]PassOperand
}

// PassState is where a pass is.
type PassState struct {
	offsets [passPlaces]uint64
	step    uint64 // in bytes, from PassRow to the next group's
	mask    [PassRows]uint64
}

// Start goes to the first group.
func (s *PassState) Start() {
	group := uint64(8 * PassGroup())
	s.offsets, s.step = [passPlaces]uint64{PassBefore: -group, PassLast: group}, group
}

// StartRows goes to the first row, for a pass whose lanes are not rows: each of its groups is one row, of which PassRow is one number.
func (s *PassState) StartRows() {
	s.offsets, s.step = [passPlaces]uint64{}, 8
}

// Tail says how many rows the last group has: what is added up behind them by PassColumnTail and PassProductsTail is zero.
func (s *PassState) Tail(rows int) {
	for k := range s.mask {
		s.mask[k] = 0
		if k < rows {
			s.mask[k]--
		}
	}
}

// ColumnState is the state of a sum of a column, in vectors of PassLanes lanes: two of sums that begin with a bias, two of
// what did not fit into these, bits of an exponent other than the bias's, bits of what did not fit, and the bias. Package exact
// says what it means (Column).
type ColumnState [7 * 8]float64
