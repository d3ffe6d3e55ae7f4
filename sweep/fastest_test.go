package sweep

import "testing"

// tableOf is a table of rows with these seconds by round.
func tableOf(seconds ...[]float64) *Table {
	t := &Table{Rounds: len(seconds[0])}
	for i, s := range seconds {
		t.Rows = append(t.Rows, Row{Config: Config{Technique: string(rune('A' + i))}, Seconds: s})
	}
	t.finish(func(Config) int { return 0 })
	return t
}

func TestRivals(t *testing.T) {
	steady := []float64{10, 11, 12, 10, 11, 12, 10}
	less := []float64{9, 10, 11, 9, 10, 11, 9}
	mixed := []float64{9.5, 12, 10, 10, 10.5, 13, 8} // a greater median than of less, and smaller in two rounds
	for _, c := range []struct {
		name   string
		table  *Table
		best   string
		rivals string
		told   bool
	}{
		{"each round is faster", tableOf(steady, less), "B", "", true},
		{"one is not told apart", tableOf(steady, less, mixed), "B", "C", true},
		{"the same times", tableOf(steady, steady), "A", "B", true},
		{"four rounds", tableOf(steady[:4], less[:4]), "B", "", false},
		{"one schedule", tableOf(steady), "A", "", true},
	} {
		rivals, told := c.table.Rivals()
		got := ""
		for _, r := range rivals {
			got += r.Technique
		}
		if best := c.table.Best().Technique; best != c.best || got != c.rivals || told != c.told {
			t.Errorf("%s: best %s, rivals %q, told %v", c.name, best, got, told)
		}
	}
}
