package lang

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every block of spec.md that is marked as Flow parses, formats to itself in a stable
// way, and a block to run has its output below it.
func TestSpecBlocks(t *testing.T) {
	b, err := os.ReadFile("spec.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```([a-z ]*)\n(.*?)^```$").FindAllStringSubmatchIndex(string(b), -1)
	runs := 0
	for i, m := range blocks {
		mark, text := string(b[m[2]:m[3]]), string(b[m[4]:m[5]])
		line := 1 + strings.Count(string(b[:m[4]]), "\n")
		switch mark {
		case "flow run", "flow parse":
			checkRound(t, "spec.md block at line "+strconv.Itoa(line), text)
			f, _, _ := parse(text)
			if got := string(Format(f, text)); got != text {
				t.Errorf("spec.md:%d: not formatted; want\n%s", line, got)
			}
			if mark == "flow run" {
				runs++
				if i+1 == len(blocks) || string(b[blocks[i+1][2]:blocks[i+1][3]]) != "output" {
					t.Errorf("spec.md:%d: no output block after a program to run", line)
				}
			}
		case "output", "":
		default:
			t.Errorf("spec.md:%d: unknown mark %q", line, mark)
		}
	}
	if runs < 10 {
		t.Errorf("%d programs to run", runs)
	}
}
