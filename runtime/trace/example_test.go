package trace_test

import (
	"fmt"
	"os"

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
	summary := trace.Summarise(here.Recording(), &arrived)
	if _, err := summary.WriteTo(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// makespan 0.000004 s   tasks 1   messages 1 sent (512 B), 0 received (0 B)
	// rank  track                tasks    busy    comm    wait    idle
	// 0     worker 0                 0    0.0%    0.0%    0.0%  100.0%
	// 1     worker 0                 1   75.0%    0.0%    0.0%   25.0%
	// 1     communication            0    0.0%   50.0%    0.0%   50.0%
	// communication 0.000002 s, of it 50.0% hidden behind work (50.0% with all workers busy)
}
