package local

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestChangedRows sends rows round by round as a gather with lists does. All rows must arrive, and few
// changed rows must make a short message.
func TestChangedRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{1, 8, 24} {
		for _, listed := range []bool{false, true} {
			var sent resending
			f := &fetch{Parts: newParts(1), received: make([]resending, 1), landed: make([][]byte, 1)}
			matrix := make([]byte, 4000*size)
			short, long := 0, 0
			for round := range 60 {
				// Few rows change, then all, then none, then another list.
				change := []int{5, 4000, 0, 7}[round/15]
				for range change {
					matrix[rng.IntN(len(matrix))]++
				}
				var rows []int32
				want := matrix
				if listed {
					want = nil
					for i := int32(0); i < 4000; i += int32(2 + round/45) {
						rows = append(rows, i)
						want = append(want, matrix[int(i)*size:int(i+1)*size]...)
					}
				}
				message, some := sent.message(matrix, rows, !listed, size, true)
				arrived := make([]byte, len(want))
				if listed {
					arrived = room(&f.landed[0], len(want))
				}
				if f.TakeSome[0] = f.received[0].begin(len(want)); f.TakeSome[0] != some {
					t.Fatalf("size %d, round %d: the ranks disagree", size, round)
				}
				f.Take[0], f.Got[0] = arrived, copy(arrived, message)
				if len(message) == len(want) {
					long++
				} else if short++; !some || 2*len(message) > len(want) {
					t.Fatalf("size %d, round %d: a message of %d bytes for %d", size, round, len(message), len(want))
				}
				f.complete(size, func(int) bool { return listed })
				if !bytes.Equal(f.Take[0], want) || !listed && &f.Take[0][0] != &arrived[0] {
					t.Fatalf("size %d, listed %v, round %d: other rows arrived", size, listed, round)
				}
			}
			if short < 30 || long < 10 {
				t.Fatalf("size %d, listed %v: %d short messages and %d with all rows", size, listed, short, long)
			}
		}
	}
}

// TestMostRowsChange checks that rows are not compared one by one where all of them change, and that
// they are where at most about half of them change.
func TestMostRowsChange(t *testing.T) {
	const n, size = 6400, 8
	for _, x := range []struct{ every, compared int }{{1, 0}, {2, (n*size/2 - 8) / (size + 4)}, {4, n / 4}} {
		matrix := make([]byte, n*size)
		var sent resending
		sent.message(matrix, nil, true, size, true)
		for i := 0; i < n; i += x.every {
			matrix[i*size]++
		}
		m, some := sent.message(matrix, nil, true, size, true)
		if x.every == 1 { // no rank keeps such rows, and the next message is not compared
			if again, some := sent.message(matrix, nil, true, size, true); some || &again[0] != &matrix[0] || &m[0] != &matrix[0] {
				t.Errorf("rows that all change: the next message is compared: %v", some)
			}
		}
		if len(sent.at) < x.compared || len(sent.at) > x.compared+atOnce || !some || (len(m) == len(matrix)) != (x.every < 4) {
			t.Errorf("every row of %d changes: %d rows are in the list of changed ones, want %d; message of %d bytes", x.every, len(sent.at), x.compared, len(m))
		}
	}
}

// TestMostChangedRows: a message has only the changed rows if that is at most half of the bytes.
func TestMostChangedRows(t *testing.T) {
	const n, size = 6400, 8
	const most = (n*size/2 - 8) / (size + 4)
	for _, changed := range []int{most, most + 1} {
		matrix := make([]byte, n*size)
		var sent resending
		sent.message(matrix, nil, true, size, true)
		for i := range changed {
			matrix[i*size]++
		}
		m, _ := sent.message(matrix, nil, true, size, true)
		if all := len(m) == len(matrix); all != (changed > most) || !bytes.Equal(sent.last, matrix) {
			t.Errorf("%d of %d rows change: a message of %d bytes; the kept rows are the new ones: %v", changed, n, len(m), bytes.Equal(sent.last, matrix))
		}
	}
}

// BenchmarkChangedRows makes the messages of rounds in which one row changes, every fifth, and all.
func BenchmarkChangedRows(b *testing.B) {
	const n, size = 325729, 8
	var rows []int32
	for i := int32(0); i < n; i += 3 {
		rows = append(rows, i)
	}
	for name, every := range map[string]int{"one": n, "fifth": 15, "all": 3} {
		b.Run(name, func(b *testing.B) {
			matrix := make([]byte, n*size)
			var sent resending
			sent.message(matrix, rows, false, size, true)
			b.SetBytes(int64(len(rows) * size))
			for b.Loop() {
				for i := 0; i < n; i += every {
					matrix[i*size]++
				}
				sent.kept = true // it compares in every round
				if m, _ := sent.message(matrix, rows, false, size, true); (len(m) == len(rows)*size) != (every == 3) {
					b.Fatal(len(m))
				}
			}
		})
	}
}
