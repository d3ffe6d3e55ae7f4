package format

import (
	"errors"
	"strings"
	"testing"
)

// TestFirstLine: a first line is data where it has numbers, names where no field begins like a
// number, and else a mistake. No row is lost without a word, and the head of the file says what the
// whole file says.
func TestFirstLine(t *testing.T) {
	for _, c := range []struct {
		text string
		head Choice
		want string // rows, or what the error holds
		help string // of the error
	}{
		{"1e999,2\n3,4\n", Auto, `:1:1: field 1: a number is wanted, found "1e999"`, "1.8e308"},
		{"10O,2\n3,4\n", Auto, `:1:1: field 1: a number is wanted, found "10O"`, "head = true"},
		{"$5,2\n3,4\n", Auto, `:1:1: field 1: a number is wanted, found "$5"`, "currency"},
		{"5,€2\n3,4\n", Auto, `:1:3: field 2: a number is wanted, found "€2"`, "currency"},
		{"1;2\n3;4\n", Auto, `:1:1: field 1: a number is wanted, found "1;2"`, `sep = ";"`},
		{"1,5;2,5\n", Auto, `:1:3: field 2: a number is wanted, found "5;2"`, `sep = ";"`},
		{"1\t2\n3\t4\n", Auto, `:1:1: field 1: a number is wanted, found "1\t2"`, `sep = "\t"`},
		{"1 2\n3 4\n", Auto, `:1:1: field 1: a number is wanted, found "1 2"`, `sep = " "`},
		{"1,2\x00\n3,4\n", Auto, `:1:3: field 2: a number is wanted, found "2\x00"`, "no text"},
		{"\x00a,b\n3,4\n", Auto, `:1:1: field 1: a number is wanted, found "\x00a"`, "no text"},
		{"a,\x1b\n3,4\n", Auto, `:1:1: field 1`, "field 2 begins like a number"},
		{"a,b\r3,4\n5,6\n", Auto, `:1:1: field 1`, "head = true"},
		{"1,2\r3,4\n5,6\n", Auto, `:1:3: field 2: a number is wanted, found "2\r3"`, "this file has both"},
		{"x,2\n3,4\n", Auto, `:1:1: field 1: a number is wanted, found "x"`, "field 2 begins like a number"},
		{"x,nan\n3,4\n", Auto, `:1:1: field 1: a number is wanted, found "x"`, "head = true"},
		{"x,-Infinity\n3,4\n", Auto, `:1:1: field 1`, "head = true"},
		{"x,.5a\n3,4\n", Auto, `:1:1: field 1`, "head = true"},
		{"x,+y\n3,4\n", Auto, `:1:1: field 1`, "head = true"},
		{"x,\u22121\n3,4\n", Auto, `:1:1: field 1`, "head = true"},
		{"x,\"2019\"\n3,4\n", Auto, `:1: field 1`, "head = true"},
		{"\"x\",y2,\"\"\n3,4,5\n", Auto, "f64: 3 4 5", ""},
		{"nan,inf\n3,4\n", Auto, "f64: nan inf / 3 4", ""},
		{",,\n3,4,5\n", Auto, "f64: nan nan nan / 3 4 5", ""},
		{"NA,1\n3,4\n", Auto, "f64: nan 1 / 3 4", ""},
		{",a\n3,4\n", Auto, "f64: 3 4", ""},
		{"\n \n\ufeffx\n3\n", Auto, "f64: 3", ""},
		{"\ufeff\"1\", 2\r\n3,4\r\n", Auto, "f64: 1 2 / 3 4", ""},
		{"\n\n1,2\n", Auto, "f64: 1 2", ""},
		{"\n\na,b\n\n1,2\n", Auto, "f64: 1 2", ""},
		{"\"a\nb\",c\n1,2\n", Auto, "f64: 1 2", ""},
		{"1,2\r3,4\r", Auto, "f64: 1 2 / 3 4", ""},
		{"a,b\r3,4\r5,6", Auto, "f64: 3 4 / 5 6", ""},
		{"1,2\r", Auto, "f64: 1 2", ""},
		{"\xff\xfe1\x00,\x002\x00", Auto, ": the text is UTF-16", "UTF-8"},
		{"x,y\n", Auto, ":1: the line is taken for the names", "head = true"},
		{"x,y\n", Yes, "f64: ", ""},
		{"10O,2\n3,4\n", Yes, "f64: 3 4", ""},
		{"1,2\n3,4\n", Yes, "f64: 3 4", ""},
		{"1,2\n3,4\n", No, "f64: 1 2 / 3 4", ""},
		{"x,y\n3,4\n", No, `:1:1: field 1: a number is wanted, found "x"`, "head = false"},
		{"1,2\n3;4,5\n", Auto, `:2:1: field 1: a number is wanted, found "3;4"`, `sep = ";"`},
	} {
		o := Options{Header: c.head}
		path := put(t, "a.csv", c.text)
		h, herr := statOf(path, o)
		d, err := Read(path, o)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Cause != CSV || !strings.HasPrefix(strings.TrimPrefix(e.Error(), path), c.want) || !strings.Contains(e.Help, c.help) {
				t.Errorf("%q: %v; help %q; want %s; help %q", c.text, err, e.Help, c.want, c.help)
			}
			if first := e.Line <= 1; first && (herr == nil || herr.Error() != err.Error()) {
				t.Errorf("%q: the head says %v, the file %v", c.text, herr, err)
			}
			continue
		}
		if got := rows(d); got != c.want || herr != nil || h.Type() != d.Type() {
			t.Errorf("%q: %s, head %v %v; want %s", c.text, got, h, herr, c.want)
		}
	}
}

// TestDecimalComma: with another separator a comma in a number is named.
func TestDecimalComma(t *testing.T) {
	_, err := Read(put(t, "a.csv", "1,5;2\n"), Options{Sep: ';'})
	if e := (*Error)(nil); !errors.As(err, &e) || !strings.Contains(e.Help, "1.5, not 1,5") {
		t.Errorf("%v", err)
	}
}

// TestFirstLineOfEdges: the first line of a list of edges in a CSV is names by the same rule.
func TestFirstLineOfEdges(t *testing.T) {
	for text, want := range map[string]string{"from,to\n0,1\n": "", "\"from\",\"to\"\n0,1\n": "", "a,2\n0,1\n": `found "a"`, "10O,2\n0,1\n": `found "10O"`,
		"0,1\nfrom,to\n": `:2:1: a vertex is wanted, found "from"`} {
		_, err := ReadGraph(put(t, "g.csv", text), Options{})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
