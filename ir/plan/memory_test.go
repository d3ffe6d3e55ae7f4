package plan_test

import (
	"fmt"
	"testing"

	"flow/ir/plan"
)

// A matrix of 10 x 10 takes 800 bytes.
func TestLeastMemory(t *testing.T) {
	const made = `%0 = tile() {s=1} : f64[10,10]
`
	for _, c := range []struct {
		name, text string
		want       string // peaks by rank, and what the first rank with the largest holds
	}{
		{"one value", "plan ranks 1\n" + made, "[800] [{0 1 800}]"},
		{"operand and result", "plan ranks 1\n" + made + "%1 = tile(%0) {s=1} : f64[10,20]\n", "[2400] [{0 2 2400}]"},
		{"an operand is given back", "plan ranks 1\n" + made + `%1 = tile(%0) {s=1} : f64[10,10]
%2 = tile(%1) {s=1} : f64[10,10]
%3 = tile(%2) {s=1} : f64[10,10]
`, "[1600] [{0 2 1600}]"},
		{"an operand is kept for another reader", "plan ranks 1\n" + made + `%1 = tile(%0) {s=1} : f64[10,10]
%2 = tile(%1) {s=1} : f64[10,10]
%3 = tile(%2, %0) {s=1} : f64[10,10]
`, "[2400] [{0 3 2400}]"},
		{"in the memory of an operand", "plan ranks 1\n" + made + `%1 = over(%0) {s=1} : f64[10,10]
%2 = over(%1) {s=1} : f64[10,10]
`, "[800] [{0 1 800}]"},
		{"what is in the memory of an operand is held for its readers", "plan ranks 1\n" + made + `%1 = over(%0) {s=1} : f64[10,10]
%2 = tile(%1) {s=1} : f64[10,10]
`, "[1600] [{1 2 1600}]"},
		{"of an operand of another size", "plan ranks 1\n" + made + "%1 = over(%0) {s=1} : f64[10,11]\n", "[1680] [{0 2 1680}]"},
		{"of an operand that is read later", "plan ranks 1\n" + made + `%1 = over(%0) {s=1} : f64[10,10]
%2 = tile(%0, %1) {s=1} : f64[10,10]
`, "[2400] [{0 3 2400}]"},
		{"memory of the task alone", "plan ranks 1\n" + made + `%1 = keys(%0) {s=1} : f64[10,1]
%2 = tile(%1) {s=1} : f64[10,1]
`, "[1880] [{0 3 1880}]"},
		{"on ranks that share rows a part of it", "plan ranks 2\nown -1 -1\n%0 = tile() {s=1} : f64[10,10]\n" +
			"%1 = keys(%0) {ranks=2, s=1} : f64[10,1]\n", "[1380 1380] [{0 3 1380}]"},
		{"a received value", "plan ranks 2\nown 0 0 1\n" + made + `%1 = exchange(%0) {to=[1]} : f64[10,10]
%2 = tile(%1) {s=1} : f64[1,10]
`, "[800 880] [{1 2 880}]"},
		{"on its owner an exchange is no copy", "plan ranks 2\nown 0 0 0 1\n" + made + `%1 = exchange(%0) {to=[1]} : f64[10,10]
%2 = tile(%1) {s=1} : f64[1,10]
%3 = task(%1) {s=1} : f64
`, "[880 800] [{0 2 880}]"},
	} {
		// the origin of all nodes is none, so what is held is one entry
		m := plan.LeastMemory(parse(t, c.text))
		if got := fmt.Sprint(m.Peak, " ", m.Largest); got != c.want && c.want != "" {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if plan.FitsIn(parse(t, c.text), m.Most()-1) {
			t.Errorf("%s: fits in less than %d bytes", c.name, m.Most())
		}
	}
}

// FitsIn never says yes where LeastMemory is more, and counts a result in the memory of an operand
// once.
func TestFitsIn(t *testing.T) {
	const over = `plan ranks 1
%0 = tile() {s=1} : f64[10,10]
%1 = over(%0) {s=1} : f64[10,10]
%2 = over(%1) {s=1} : f64[10,10]
`
	if p := parse(t, over); !plan.FitsIn(p, 800) || plan.FitsIn(p, 799) {
		t.Error("a tile and two results in its memory do not take 800 bytes")
	}
	for _, text := range []string{diamond, crossing, "plan ranks 1\n%0 = tile() {s=1} : f64[10,10]\n%1 = tile(%0) {s=1} : f64[10,10]\n"} {
		p := parse(t, text)
		most := plan.LeastMemory(p).Most()
		if !plan.FitsIn(p, 1<<20) || most > 0 && plan.FitsIn(p, most-1) {
			t.Errorf("%d bytes\n%s", most, text)
		}
	}
}
