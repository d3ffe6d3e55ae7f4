package compiler_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"flow/kernels"
)

// branchRounds are rounds with branches whose sides are matrices: some sides keep what is carried, and
// some make another matrix by operators that may fail.
var branchRounds = []string{
	// a segment is reversed if a number says so
	`n = 100
iterate tour = seq(0, n), r = 0 times 90 {
  u = randint(2, 1, 0, n, seed = r)
  a = min(u[0, 0], u[1, 0])
  b = max(u[0, 0], u[1, 0])
  k = seq(0, n)
  next tour = if (tour[a, 0] + tour[b, 0]) % 3 == 0 { tour[ifelse(k >= a and k <= b, a + b - k, k)] } else { tour }
  next r = r + 1
}
emit t(tour)
`,
	// the side that makes a matrix is the other one
	`n = 500
k = seq(0, n)
iterate x = rand(n, 1, seed = 1), r = 0 times 40 {
  next x = if x[r, 0] > 0.4 { x } else { x[ifelse(k < r, k + 7, k), :] }
  next r = r + 1
}
emit t(x)
`,
	// matrices beside numbers, which the round reads again
	`iterate w = zeros(1, 80), s = zeros(1, 80), e = 0, r = 0 times 90 {
  x = rand(9, 80, seed = 1)[r % 9, :]
  v, u, f = if sum(w * x) < 20 { (w + x, s, e + 1) } else { (w, s - x[:, (t(seq(0, 80)) + e) % 80], e) }
  next w = v
  next s = u + 0.5 * v
  next e = f
  next r = r + 1
}
emit w
emit s
emit e
`,
	// matrices that change places
	`iterate a = seq(0, 70), b = seq(0, 70) * 3, r = 0 until r == 90 {
  c = a[r % 70, 0] < b[(3 * r) % 70, 0]
  next a = if c { b } else { a }
  next b = if c { a } else { b[(seq(0, 70) + 1) % 70] }
  next r = r + 1
}
emit t(a)
emit t(b)
`,
	// operators that cannot fail
	`g = rand(1, 2000, seed = 1)
iterate w = zeros(1, 2000), r = 0 times 90 {
  s = (r * 7919) % 1000
  next w = if s < 200 { w + f64(s) * g } else { w }
  next r = r + 1
}
emit w[:, 0..90]
`,
	// branches in branches, and rounds in one that carry the outer matrix on
	`iterate a = rand(70, 2, seed = 1), b = rand(70, 2, seed = 2), r = 0 times 60 {
  i = r % 70
  c = if a[i, 0] < b[i, 1] { if r % 3 == 0 { a } else { b[(seq(0, 70) + r) % 70, :] } } else { b }
  iterate x = c, q = 0 until q == 2 or x[i, 0] > 0.9 { next x = if q == 0 { x + a } else { a[(seq(0, 70) * 3) % 70, :] }; next q = q + 1 }
  next a = if r % 2 == 1 { x / 2 } else { a }
  next b = c
  next r = r + 1
}
emit a
emit b
`,
}

// TestRoundsOfBranches checks that rounds with branches whose sides are large matrices are one loop, in
// which only the side that is taken is made. Results and failures are those of the definition.
func TestRoundsOfBranches(t *testing.T) {
	table, err := kernels.Table("")
	if err != nil {
		t.Fatal(err)
	}
	kernels.LoopsFrom(0)
	on := runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}, {2, 2, nil, false, "SS"}, {1, 2, []string{"rounds"}, false, ""}}
	around := regexp.MustCompile(`(?m)^    (v\d+(, v\d+)* = )?if v\d+ \{\n(      .*\n|    \} else \{\n)*      for `)
	for _, text := range branchRounds {
		if !slices.ContainsFunc(roundsOf(t, table, text), around.MatchString) {
			t.Errorf("no loop has the rounds of\n%s", text)
		}
		if _, err := on.differ(table, text); err != nil {
			t.Errorf("%v\nin\n%s", err, text)
		}
	}
	// Columns of more elements than fewNumbers are chosen by stages of one task.
	large := strings.Replace(strings.Replace(branchRounds[1], "n = 500", "n = 50_000", 1), "emit t(x)", "emit t(x[0..90, :])", 1)
	c, err := compileTiny(table, large, 1, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(nestsOfRounds(t, c.Plan.Graph)) == 0 {
		t.Errorf("the rounds are no task:\n%s", c.Plan.Graph)
	}
	if _, err := on.differ(table, large); err != nil {
		t.Errorf("%v\nin\n%s", err, large)
	}
	// A place is wrong in a side that is taken in round 50, and never in one that is not taken.
	text := strings.Replace(branchRounds[0], "tour[ifelse", "tour[r // 50 * n + ifelse", 1)
	if o, err := on.differ(table, text); err != nil || !o.failed {
		t.Errorf("error %v, the definition fails: %v\nin\n%s", err, o.failed, text)
	}
	text = strings.Replace(text, "if (tour[a, 0]", "if r < 50 and (tour[a, 0]", 1)
	if o, err := on.differ(table, text); err != nil || o.failed {
		t.Errorf("error %v, the definition fails: %v\nin\n%s", err, o.failed, text)
	}
}
