package trace_test

import (
	"fmt"

	"flow/runtime/trace"
)

// Rank 1 sends what it recorded as bytes; rank 0 adds it to its own.
func Example() {
	here, there := trace.New(0, 1), trace.New(1, 1)
	gemm := there.Name("gemm")
	there.Worker(0).Add(trace.Event{Kind: trace.Task, ID: 4, Name: gemm, Start: 0, End: 3000})
	there.Communication().Add(trace.Event{Kind: trace.Send, ID: 4, Name: gemm, Peer: 0, Bytes: 512, Start: 2000, End: 4000})
	raw, err := there.Recording().MarshalBinary()
	if err != nil {
		fmt.Println(err)
		return
	}
	var arrived trace.Recording
	if err := arrived.UnmarshalBinary(raw); err != nil {
		fmt.Println(err)
		return
	}
	arrived.Offset = 0 // measured by whoever exchanged messages with rank 1
	s := trace.Summarise(here.Recording(), &arrived)
	fmt.Println(s.Total.Tasks, "task in", s.Makespan, "ns")
	fmt.Println(s.Communication, "ns of communication,", s.Hidden, "of them hidden behind work")
	// Output:
	// 1 task in 4000 ns
	// 2000 ns of communication, 1000 of them hidden behind work
}
