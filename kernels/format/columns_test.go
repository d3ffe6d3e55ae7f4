package format

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"flow/ir/types"
	"flow/ir/value"
)

// TestColumns: chosen columns have the numbers that encoding/csv and strconv find, read at once, as a
// stream and by windows behind the cuts of small blocks, whatever the other columns hold.
func TestColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	texts := []string{"ann", `"Ulm, Donau"`, `"a ""b"" c"`, "", "7x", `"two` + "\n" + `lines, 3"`, "NA", "  blank ", `""`, "1,5"}
	numbers := []string{"1", "-2.5", " 3e2 ", `"4"`, "", "NA", "inf", "0.1", `" 5 "`, "9007199254740993"}
	dir := t.TempDir()
	for round := range 200 {
		sep := []string{",", ";", "\t"}[r.IntN(3)]
		heads, holds := []string{"id", "name", "x y", "city", "amount"}, make([]bool, 5)
		for k := range holds {
			holds[k] = k == 0 || r.IntN(2) == 0
		}
		var text strings.Builder
		named := r.IntN(3) > 0
		if named {
			text.WriteString(strings.Join(heads, sep) + "\n")
		}
		rows := 1 + r.IntN(40)
		for range rows {
			for k := range heads {
				if k > 0 {
					text.WriteString(sep)
				}
				if holds[k] {
					text.WriteString(numbers[r.IntN(len(numbers))])
				} else if s := texts[r.IntN(len(texts))]; s[:min(1, len(s))] == `"` || !strings.Contains(s, sep) {
					text.WriteString(s)
				}
			}
			text.WriteString("\n")
		}
		var list []string
		var takes []int
		for _, k := range r.Perm(5) {
			if holds[k] && r.IntN(3) > 0 || k == 0 {
				takes = append(takes, k)
				if word := strconv.Itoa(k - 5*r.IntN(2)); !named || round%2 == 0 {
					list = append(list, word)
				} else {
					list = append(list, heads[k])
				}
			}
		}
		o := Options{Form: "csv", Sep: sep[0], Columns: strings.Join(list, ", "), Header: No}
		if named {
			o.Header = Yes
		}
		c := csv.NewReader(strings.NewReader(text.String()))
		c.Comma = rune(sep[0])
		records, err := c.ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if named {
			records = records[1:]
		}
		want := value.New(types.F64, len(records), len(takes))
		for i, record := range records {
			for j, k := range takes {
				v, err := strconv.ParseFloat(strings.TrimSpace(record[k]), 64)
				if err != nil {
					v = math.NaN()
				}
				want.F64[i*len(takes)+j] = v
			}
		}
		got, err := Parse(strings.NewReader(text.String()), "-", o)
		if err != nil || fmt.Sprint(got.F64) != fmt.Sprint(want.F64) || got.Cols != want.Cols {
			t.Fatalf("%q of\n%s: %v, %v, want %v", o.Columns, text.String(), got, err, want)
		}
		path := filepath.Join(dir, "a.csv")
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		h, cuts, ok := cutRows(path, o, 16)
		if !ok || h.Rows != want.Rows || h.Cols != want.Cols {
			t.Fatalf("%q of\n%s: cut into %d x %d, %v", o.Columns, text.String(), h.Rows, h.Cols, ok)
		}
		x, err := cuts.Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			row, col := r.IntN(want.Rows), r.IntN(want.Cols)
			part := value.New(types.F64, 1+r.IntN(want.Rows-row), 1+r.IntN(want.Cols-col))
			if err := x.Read(part, row, col); err != nil {
				t.Fatal(err)
			}
			for i := range part.Rows {
				for j := range part.Cols {
					if a, b := part.F64[i*part.Stride+j], want.F64[(row+i)*want.Cols+col+j]; a != b && (a == a || b == b) {
						t.Fatalf("%q of\n%s: (%d, %d) is %v, want %v", o.Columns, text.String(), row+i, col+j, a, b)
					}
				}
			}
		}
		x.Close()
	}
}

// TestColumnsRefused: what cannot be chosen is told with what to write.
func TestColumnsRefused(t *testing.T) {
	const text = "id,name,amount,id\n1,ann,3.5,2\n"
	for _, c := range []struct{ columns, text, want, help string }{
		{"amonut", text, `:1: there is no column "amonut"`, "did you mean `amount`"},
		{"zzz", text, `:1: there is no column "zzz"`, "the columns are id, name, amount, id"},
		{"id", text, `:1: several columns are called "id"`, "columns = \"0, 2\""},
		{"amount, amount", text, `:1: columns lists column "amount" twice`, "repeats"},
		{"1, -3", text, `:1: columns lists column "-3" twice`, "repeats"},
		{"4", text, ":1: there is no column 4: line 1 has 4 fields", "from 0 on"},
		{"-5", text, ":1: there is no column -5", "from 0 on"},
		{"amount,", text, `:1: columns = "amount," has a comma too many`, "the columns are"},
		{"name", text, `:2:3: field 2: a number is wanted, found "ann"`, `columns = "0, 2, 3" reads`},
		{"", text, `:2:3: field 2: a number is wanted, found "ann"`, `columns = "0, 2, 3" reads`},
		{"", "name,2019\nx,1\n", `:1:1: field 1: a number is wanted, found "name"`, `columns = "1" reads`},
		{"", "a,\"b,c\"\nx,1\n", `:2:1: field 1: a number is wanted, found "x"`, `columns = "1" reads`},
		{"", "x,1,2\ny,3,4\n", `:1:1: field 1: a number is wanted, found "x"`, `columns = "1, 2" reads the columns of numbers alone`},
		{"amount", text + "2,bob\n", ":3: 2 fields, line 1 has 4", "missing value"},
		{"amount", text + "2,\"b\"ob,3,4\n", ":3:", ""},
		{"amount", text + "2,b\"o\"b,3,4\n", ":3:", ""},
	} {
		_, err := Parse(bytes.NewReader([]byte(c.text)), "-", Options{Form: "csv", Columns: c.columns})
		e, is := err.(*Error)
		if !is || !strings.Contains(e.Error(), c.want) || !strings.Contains(e.Help, c.help) {
			t.Errorf("%q of %q: %v (%v), want %q, %q", c.columns, c.text, err, e, c.want, c.help)
		}
	}
	if _, err := Parse(strings.NewReader("\x93NUMPY"), "-", Options{Form: "npy", Columns: "0"}); err == nil || !strings.Contains(err.Error(), "columns are chosen in a CSV") {
		t.Error(err)
	}
}

// TestColumnsOfNames: a first line without numbers is one of names, also if the names of the columns
// that are read could be missing numbers.
func TestColumnsOfNames(t *testing.T) {
	for _, c := range []struct {
		text, columns string
		rows          int
	}{
		{",a,b\n0,3,t\n1,,u\n", "0", 2}, {",a,b\n0,3,t\n1,,u\n", "1, 0", 2}, {"NA,EU\n1,x\n2,y\n", "0", 2}, {"inf,x\n1,x\n", "0", 1},
		{"ann,1\nbob,2\n", "1", 2}, {",1,b\n0,3,t\n", "0", 2}, {",\n3,\n", "0", 2},
	} {
		x, err := Parse(strings.NewReader(c.text), "-", Options{Form: "csv", Columns: c.columns})
		if err != nil || x.Rows != c.rows {
			t.Errorf("columns %s of %q: %v, %v, want %d rows", c.columns, c.text, x, err, c.rows)
		}
	}
}

// TestEmptyNameOfTabs: a name that is empty between tabs is a field, also beside names in quotes.
func TestEmptyNameOfTabs(t *testing.T) {
	d, err := Parse(strings.NewReader("\"a\"\t\t\"b\"\n1\t2\t3\n"), "-", Options{Form: "tsv"})
	if err != nil || d.Cols != 3 {
		t.Errorf("%v, %v", d, err)
	}
}
