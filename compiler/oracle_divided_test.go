package compiler_test

import (
	"fmt"
	"os"

	"flow/compiler"
	"flow/ir/op"
)

// everyRun: drawn programs run in all of their ways. Else the ways are divided among the programs. make
// soak demands every run.
var everyRun = os.Getenv("FLOW_SOAK") != ""

// some returns the first way to run a drawn program and a third of the others, other ones for other
// seeds. Among many programs each way has its share, beside the first.
func (rs runs) some(seed uint64) runs {
	if everyRun {
		return rs
	}
	out := rs[:1:1]
	for k, r := range rs[1:] {
		if (seed*0x9e3779b97f4a7c15>>32+uint64(k))%3 == 0 {
			out = append(out, r)
		}
	}
	return out
}

// results are what the compiler made of the program that was compiled last, by the options. Some tests
// compare one program several times, as machine code and in the interpreter: a plan is the same for
// both.
var results struct {
	table *op.Table
	text  string
	known map[string]*compiler.Result
}

// compiledOnce is compileTiny, but for a program that is compiled once more with the same options.
func compiledOnce(table *op.Table, text string, ranks int, blocks bool, disable []string) (*compiler.Result, error) {
	if results.table != table || results.text != text {
		results.table, results.text, results.known = table, text, map[string]*compiler.Result{}
	}
	key := fmt.Sprint(ranks, blocks, disable)
	if r := results.known[key]; r != nil {
		return r, nil
	}
	r, err := compileTiny(table, text, ranks, blocks, disable)
	if err == nil {
		results.known[key] = r
	}
	return r, err
}
