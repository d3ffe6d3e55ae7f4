package lang

import "testing"

// checkRound fails t unless text formats to a text with the same tree that formats to
// itself, and prints to a text with the same tree that prints to itself.
func checkRound(t *testing.T, name, text string) {
	t.Helper()
	f, ds, fs := parse(text)
	if len(ds) > 0 {
		t.Fatalf("%s:\n%s", name, rendered(fs, ds))
	}
	once := string(Format(f, text))
	g, ds, fs := parse(once)
	if len(ds) > 0 || !sameTree(f, g) {
		t.Fatalf("%s: formatting changed the tree:\n%s\n%s", name, once, rendered(fs, ds))
	}
	if len(f.Comments) != len(g.Comments) {
		t.Fatalf("%s: %d comments became %d:\n%s", name, len(f.Comments), len(g.Comments), once)
	}
	if twice := string(Format(g, once)); twice != once {
		t.Fatalf("%s: formatting is not idempotent; from\n%s\nonce\n%s\ntwice\n%s", name, text, once, twice)
	}
	printed := Print(f)
	h, ds, fs := parse(printed)
	if len(ds) > 0 || !sameTree(f, h) {
		t.Fatalf("%s: printing changed the tree:\n%s\n%s", name, printed, rendered(fs, ds))
	}
	if again := Print(h); again != printed {
		t.Fatalf("%s: printing is not stable:\n%s\nthen\n%s", name, printed, again)
	}
	if got := string(Format(h, printed)); got != printed {
		t.Fatalf("%s: the printed text is not in canonical form:\n%s\nit formats to\n%s", name, printed, got)
	}
}

func TestProgramsRoundTrip(t *testing.T) {
	for name, text := range programs(t) {
		t.Run(name, func(t *testing.T) { checkRound(t, name, text) })
	}
}
