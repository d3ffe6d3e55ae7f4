package local

// This file builds the graphs that tests and benchmarks run.

import "math/rand/v2"

// graph makes a DAG of the edges from -> to; external adds inputs that no task provides.
func graph(n int, edges [][2]int32, external map[int32]int32) *DAG {
	d := &DAG{N: n, Waits: make([]int32, n), SuccOff: make([]int32, n+1), Succ: make([]int32, len(edges))}
	for _, e := range edges {
		d.SuccOff[e[0]+1]++
		d.Waits[e[1]]++
	}
	for i := range n {
		d.SuccOff[i+1] += d.SuccOff[i]
	}
	at := append([]int32(nil), d.SuccOff...)
	for _, e := range edges {
		d.Succ[at[e[0]]] = e[1]
		at[e[0]]++
	}
	for t, k := range external {
		d.Waits[t] += k
	}
	return d
}

func chain(n int) *DAG {
	edges := make([][2]int32, 0, n)
	for i := range n - 1 {
		edges = append(edges, [2]int32{int32(i), int32(i + 1)})
	}
	return graph(n, edges, nil)
}

// fan is one task, n-2 that wait for it, and one that waits for these.
func fan(n int) *DAG {
	edges := make([][2]int32, 0, 2*n)
	for i := 1; i < n-1; i++ {
		edges = append(edges, [2]int32{0, int32(i)}, [2]int32{int32(i), int32(n - 1)})
	}
	return graph(n, edges, nil)
}

// random gives each task up to degree predecessors among the window tasks before it, and if asked
// random priorities and brief tasks.
func random(n, degree, window int, prio bool, seed uint64) *DAG {
	rng := rand.New(rand.NewPCG(seed, 1))
	edges := make([][2]int32, 0, n*degree)
	for t := 1; t < n; t++ {
		for range rng.IntN(degree + 1) {
			edges = append(edges, [2]int32{int32(t - 1 - rng.IntN(min(t, window))), int32(t)})
		}
	}
	d := graph(n, edges, nil)
	if prio {
		d.Prio = make([]int32, n)
		for i := range d.Prio {
			d.Prio[i] = int32(rng.IntN(100000))
		}
		d.Brief = make([]bool, n)
		for i := range d.Brief {
			d.Brief[i] = rng.IntN(3) == 0
		}
	}
	return d
}

// wavefront is a side x side grid, each task after its upper and left neighbour, the priority its
// distance to the end.
func wavefront(side int) *DAG {
	edges := make([][2]int32, 0, 2*side*side)
	for i := range side {
		for j := range side {
			t := int32(i*side + j)
			if j+1 < side {
				edges = append(edges, [2]int32{t, t + 1})
			}
			if i+1 < side {
				edges = append(edges, [2]int32{t, t + int32(side)})
			}
		}
	}
	d := graph(side*side, edges, nil)
	d.Prio = make([]int32, d.N)
	for t := range d.Prio {
		d.Prio[t] = int32(2*side - t/side - t%side)
	}
	return d
}
