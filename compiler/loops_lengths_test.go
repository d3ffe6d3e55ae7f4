package compiler_test

import (
	"testing"

	"flow/kernels"
)

// longBodies are bodies whose points are loops of different length, over y, k and x; j is a second
// index of the last ones.
var longBodies = []string{
	`iterate d = 2 until d * d > i + 50 or (i + 50) % d == 0 { next d = d + 1 }
	 d * d > i + 50`,
	`iterate s = y[i], r = 0 until s > 3 or r == k[i] * 9 { next s = s * 1.07 + 0.01 * x[i, 1]; next r = r + 1 }
	 f32(s + x[i, 2]) * f32(r)`,
	`iterate s = 0.0, r = 0 until r >= k[i] { next s = s + y[r] / (1 + x[i, r % 3]); next r = r + 1 }
	 s`,
	`iterate z = [[y[i], 0.5]], r = 0 until sum(z ^ 2) > 4 or r > 30 {
	   next z = [[z[0, 0] ^ 2 - z[0, 1] ^ 2 + y[i], 2 * z[0, 0] * z[0, 1] + 0.3]]
	   next r = r + 1
	 }
	 r + k[i]`,
	`iterate a = k[i], b = i + 1 until b == 0 { next a = b; next b = a % b }
	 i64(100 // (a + 7))`,
	`iterate a = k[i], r = 0 until r > 20 or a > 60 { next a = a + 100 // (r - k[i] - 20) + 9; next r = r + 1 }
	 a`,
	`iterate a = k[i], r = 0 until a > 40 or r == 9 { next a = a + 1 + 9 // (a - 4); next r = r + 1 }
	 a`,
	`iterate a = k[i] until a == 9 or 9 // (a - 8) == 1 { next a = a + 1 }
	 a`,
	`iterate a = k[i] + 50, r = 0 until r == 3 + i % 4 { next a = a - 100 // (3 + i % 4 - r); next r = r + 1 }
	 a`,
	`iterate s = exp(y[i]) until s > 90 { next s = s * (1.01 + sum(x[i, :])) }
	 log(s)`,
	`iterate p = i % 9 until p >= 9 { next p = if y[p] < 0.8 { p + 1 } else { 1_000_000_000_000 + i } }
	 p`,
	`iterate p = i % 9, s = 0.0 until p > 8 { next p = p + 1 + 4_000_000_000 * i64(s > 2); next s = s + y[p] * x[p, k[p] % 3] }
	 s`,
	`iterate s = y[i], r = 0 until r == 3 or y[min(r, 5)] > 2 { next s = s + x[i, min(r, 2)]; next r = r + 1 }
	 s`,
}

var longBodiesOfTwo = []string{
	`iterate a = i + 3, b = j + 2 until b == 0 { next a = b; next b = a % b }
	 a`,
	`iterate u = 0.0, v = 0.0, r = 0 until u * u + v * v > 4 or r == 40 {
	   next u = u * u - v * v + y[i] * 3 - 2; next v = 2 * u * v + x[j, 0]; next r = r + 1
	 }
	 r`,
	`iterate a = k[j], r = 0 until a > 40 or r == 9 { next a = a + 1 + 9 // (a + i - 9); next r = r + 1 }
	 a`,
}

// TestLanesThatTakePoints: bodies of different length give what the definition gives where a lane
// that has ended takes the next point, and fail where it fails.
func TestLanesThatTakePoints(t *testing.T) {
	kernels.TakePoints(true)
	defer kernels.TakePoints(false)
	table := tinyTable(t)
	for space, bodies := range map[string][]string{"i in 0..n": longBodies, "i in 5..n + 5": longBodies[:1], "i in 0..7, j in 0..n": longBodiesOfTwo, "i in 0..n, j in 0..3": longBodiesOfTwo} {
		for _, n := range []string{"1", "13", "70"} {
			for _, body := range bodies {
				text := "n = " + n + "\nx = materialize(rand(max(n, 9), 3, seed = 1))\ny = materialize(rand(max(n, 9), 1, seed = 2))\nk = materialize(i64(9 * rand(max(n, 9), 1, seed = 3)))\n" +
					"v = parfor " + space + " {\n " + body + "\n}\nemit v\n"
				before := kernels.PointsTaken()
				if _, err := (runs{{1, 1, nil, false, ""}, {1, 3, nil, true, "FAC2"}}).differ(table, text); err != nil {
					t.Errorf("%v\nin\n%s", err, text)
				}
				if kernels.PointsTaken() == before {
					t.Errorf("no lane takes a point\n%s", text)
				}
			}
		}
	}
}
