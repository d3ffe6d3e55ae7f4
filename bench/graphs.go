package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// This file makes the graphs of the benchmarks, in the format of the peers and in Flow's, and runs
// components on them.

// rmat returns the peers' RMAT graph of a scale, made once.
func (b *bench) rmat(scale int) (string, error) {
	dir := filepath.Join(filepath.Dir(b.peers.build), "data")
	bin := filepath.Join(dir, fmt.Sprintf("rmat%d.bin", scale))
	if exists(bin) {
		return bin, nil
	}
	generate, err := b.peers.binary("rmat")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	_, err = launch(nil, generate, strconv.Itoa(scale), "16", bin)
	return bin, err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// graph returns the same graph with the header that Flow reads.
func (b *bench) graph(scale int) (string, error) {
	file := filepath.Join(b.dir, fmt.Sprintf("rmat%d.csr", scale))
	if exists(file) {
		return file, nil
	}
	bin, err := b.rmat(scale)
	if err != nil {
		return "", err
	}
	return file, asCSR(bin, file)
}

// summedGraph is graph as a program writes it, with a checksum: ranks read rows of it.
func (b *bench) summedGraph(scale int) (string, error) {
	file := filepath.Join(b.dir, fmt.Sprintf("rmat%d_summed.csr", scale))
	if exists(file) {
		return file, nil
	}
	plain, err := b.graph(scale)
	if err == nil {
		_, err = launch(nil, b.flowrun, b.program("directed.flow"), "--set=edges="+plain, "--set=file="+file)
	}
	if err != nil {
		return "", err
	}
	return file, nil
}

// notreDame returns the graph of web-NotreDame as a program writes it, symmetric.flow or directed.flow:
// for Flow, and for the peers.
func (b *bench) notreDame(program string) (flow, peers string, err error) {
	edges := filepath.Join(b.root, "..", "shared", "data", "web-NotreDame.txt.gz")
	if !exists(edges) {
		return "", "", fmt.Errorf("web-NotreDame of SNAP is not at %s", edges)
	}
	name := filepath.Join(b.dir, "notredame_"+strings.TrimSuffix(program, ".flow"))
	flow, peers = name+".csr", name+".bin"
	if _, err := launch(nil, b.flowrun, b.program(program), "--set=edges="+edges, "--set=file="+flow); err != nil {
		return "", "", err
	}
	return flow, peers, fromCSR(flow, peers)
}

// components runs on an RMAT graph of scale 20, with very uneven rows, and on a web graph.
func components(b *bench) error {
	flow, err := b.graph(20)
	if err != nil {
		b.skip("%v", err)
		return nil
	}
	peers, err := b.rmat(20)
	if err != nil {
		return err
	}
	b.labels("RMAT scale 20, edge factor 16", flow, peers)
	if flow, peers, err = b.notreDame("symmetric.flow"); err != nil {
		b.skip("%v", err)
		return nil
	}
	b.labels("web-NotreDame", flow, peers)
	return nil
}

// labels prints the table of one graph.
func (b *bench) labels(name, flow, peers string) {
	schedules := [][]string{{"static", "0"}, {"dynamic", "64"}, {"dynamic", "1024"}, {"guided", "1"}}
	b.table("maximum labels to a fixpoint, "+name+", two threads", 0, contest(b.reps, []contestant{
		b.flowWork("Flow, i64 labels", "components.flow", "--set=graph="+flow),
		b.scan("C, OpenMP, f64 labels", "components_f64", []string{peers}, schedules...),
		b.scan("C, OpenMP, i32 labels", "components_i32", []string{peers}, schedules...),
		b.peers.peer("SuiteSparse:GraphBLAS, f64 labels", "components_graphblas", peerEnv(), peers, "2"),
		b.peers.script("SciPy, connected_components", "components_scipy.py", peerEnv(), peers),
	}))
}

// headCSR is the size of a .csr file's header: magic, element type (0: bool), rows, columns,
// entries, checksum. sumCSR is the size of the checksum at its end. The peers' files begin with
// order and entries.
const headCSR, sumCSR = 44, 4

// asCSR converts a graph of the peers (order, number of entries, row pointers, columns) to a .csr
// file of the first version, which has another header and no checksum.
func asCSR(from, to string) error {
	return rehead(from, to, 16, 0, func(head []byte) [][]byte {
		order, entries := head[:8], head[8:]
		return [][]byte{[]byte("FLOWCSR1"), make([]byte, 8), order, order, entries}
	})
}

// fromCSR is the inverse of asCSR.
func fromCSR(from, to string) error {
	return rehead(from, to, headCSR, sumCSR, func(head []byte) [][]byte { return [][]byte{head[16:24], head[32:40]} })
}

// rehead copies a file with another header instead of its first n bytes, without its last `tail`
// bytes.
func rehead(from, to string, n, tail int, head func([]byte) [][]byte) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	old := make([]byte, n)
	if _, err := io.ReadFull(in, old); err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	for _, part := range head(old) {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	st, err := in.Stat()
	if err != nil {
		return err
	}
	if _, err := io.CopyN(out, in, st.Size()-int64(n+tail)); err != nil {
		return err
	}
	return out.Close()
}
