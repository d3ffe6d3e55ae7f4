package local_test

import (
	"context"
	"fmt"

	"flow/runtime/local"
)

// Four tasks: 0 before 1 and 2, these before 3, which also waits for an input from another machine.
func ExamplePool() {
	pool := local.NewPool(2)
	defer pool.Close()
	diamond := &local.DAG{
		N:       4,
		Waits:   []int32{0, 1, 1, 3},
		SuccOff: []int32{0, 2, 3, 4, 4},
		Succ:    []int32{1, 2, 3, 3},
	}
	value := make([]int, 4)
	run := pool.Start(context.Background(), diamond, func(w *local.Worker, t int32) error {
		switch t {
		case 0:
			value[0] = 1
		case 1, 2:
			value[t] = value[0] + int(t)
		case 3:
			value[3] = value[1] * value[2]
		}
		return nil
	})
	run.Satisfy(3)
	fmt.Println(run.Wait(), value)
	// Output: <nil> [1 2 3 6]
}

func ExampleBufferPool() {
	pool := local.NewBufferPool(1 << 20)
	tile, err := pool.GetZeroed(240 * 240 * 8)
	fmt.Println(len(tile), err)
	_, err = pool.Get(1 << 20)
	fmt.Println(err)
	pool.Put(tile)
	fmt.Println(pool.Stats().Live, pool.Stats().Peak)
	// Output:
	// 460800 <nil>
	// 1 MiB beside the 512 KiB in use are more than there is (1 MiB, the limit of the pool)
	// 0 524288
}
