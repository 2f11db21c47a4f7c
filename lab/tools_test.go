package lab

import (
	"fmt"
	"strings"
	"testing"
)

// withLong is the test session with outputs of some sizes in its second reply,
// which is folded away in the end.
func withLong(t testing.TB, sizes ...int) []byte {
	t.Helper()
	parts := `"parts": [`
	for i, n := range sizes {
		line := fmt.Sprintf("row %d of the long output\\n", i)
		parts += fmt.Sprintf(`{"type":"tool","tool":"read","callID":"long%d","state":{"status":"completed","input":{},"output":"%s"}},`, i, strings.Repeat(line, n/(len(line)-1)+1))
	}
	data := strings.SplitN(string(session(t, 6, 2)), `"parts": [`, 4)
	return []byte(data[0] + `"parts": [` + data[1] + parts + data[2] + `"parts": [` + data[3])
}

// However long texts are, opening them comes to an end: those of some hundred KB
// are opened to their end, of longer ones some pages from several places are.
func TestLongTexts(t *testing.T) {
	for name, sizes := range map[string][]int{"many pages": {wholeBytes - 5000, wholeBytes - 5000}, "longer than is opened whole": {2 * wholeBytes, 3000, 3 * wholeBytes}} {
		out, exit, err := against(t, "", withLong(t, sizes...))
		if err != nil || exit != exitHeld {
			t.Errorf("%s: exit %d, %v, %+v", name, exit, err, out)
		}
	}
	for _, fault := range []string{"a page is altered", "the end is altered", "a page has a gap", "the rest is not named"} {
		out, exit, err := against(t, fault, withLong(t, 2*wholeBytes))
		if err != nil || exit != exitBroken {
			t.Fatalf("%s: exit %d, %v", fault, exit, err)
		}
		for _, b := range out.Sessions[0].Breaches {
			if b.Promise != promisePages {
				t.Errorf("%s: %s", fault, b)
			}
		}
	}
}
