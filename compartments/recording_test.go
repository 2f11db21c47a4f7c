package compartments

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCandidates_AreStoredAsRuns(t *testing.T) {
	c := Candidates{{3, TierDense, 1000}, {4, TierDense, 1000}, {5, TierDense, 2000}, {9, TierDense, 2000}, {10, TierRaw, 4000}}
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[[3,2,3,1000],[5,1,3,2000],[9,1,3,2000],[10,1,1,4000]]`; string(b) != want {
		t.Errorf("%s, want %s", b, want)
	}
	for _, bad := range []string{`{}`, `[[1,0,3,1000]]`, `[[1,-1,3,1000]]`, `[[1,1099511627776,3,1000]]`, `[[1,1,99,1000]]`, `[[1,1,-1,1000]]`} {
		if err := json.Unmarshal([]byte(bad), new(Candidates)); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestCandidates_ComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := Candidates(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) CandidateRecord {
			return CandidateRecord{CompartmentID(rapid.IntRange(1, 6).Draw(t, "id")), Tier(rapid.IntRange(1, 3).Draw(t, "tier")), 1000 * rapid.IntRange(1, 2).Draw(t, "relevance")}
		}), 0, 12).Draw(t, "candidates"))
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out Candidates
		if err := json.Unmarshal(b, &out); err != nil || !slices.Equal(in, out) {
			t.Fatalf("%v came back as %v: %v", in, out, err)
		}
	})
}
