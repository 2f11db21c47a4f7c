package historian

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

func TestDevLabels(t *testing.T) {
	raw, err := os.ReadFile("testdata/survival/tuned.json")
	if err != nil {
		t.Skip()
	}
	var set struct {
		Ranges []struct {
			Name, Type, File string
			First, Last      int
			Items            []struct {
				Kind, What string
				Any        []string
			}
		}
	}
	if err := json.Unmarshal(raw, &set); err != nil {
		t.Fatal(err)
	}
	var kept, all [4]int
	norm := func(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
	kinds := map[string]*[5]int{}
	for _, g := range set.Ranges {
		path := filepath.Join("testdata/survival", g.File)
		if strings.HasPrefix(g.File, "corpus/") {
			path = filepath.Join("../../shared", g.File)
		}
		if g.File == "sample" {
			path = "../lab/sample/sample.json"
		}
		if _, err := os.Stat(path); err != nil {
			t.Log("skip", path)
			continue
		}
		r := loadExport(t, path)
		if g.Last >= len(r.Messages) {
			continue
		}
		sub := Range{Messages: r.Messages[g.First : g.Last+1], Hashes: r.Hashes[g.First : g.Last+1], Tokens: r.Tokens[g.First : g.Last+1]}
		c, err := testBuiltin().WriteOne(t.Context(), sub)
		if err != nil {
			t.Fatal(err)
		}
		var own [4]int
		var miss []string
		for _, it := range g.Items {
			k := kinds[it.Kind]
			if k == nil {
				k = new([5]int)
				kinds[it.Kind] = k
			}
			k[4]++
			for i, tr := range compartments.Rendered {
				all[i]++
				text := norm(c.Tiers[tr].Text)
				ok := false
				for _, a := range it.Any {
					ok = ok || strings.Contains(text, norm(a))
				}
				if ok {
					own[i]++
					kept[i]++
					k[i]++
				} else if i < 3 {
					miss = append(miss, fmt.Sprintf("%s/%s: %s %q", tr, it.Kind, it.What, it.Any))
				}
			}
		}
		fmt.Printf("%-32s %-18s raw %5d  %v of %d  tokens %d %d %d %d\n", g.Name, filepath.Base(g.File), c.RawTokens, own, len(g.Items), c.Tokens(2), c.Tokens(3), c.Tokens(4), c.Tokens(5))
		if os.Getenv("MISS") != "" && strings.Contains(g.Name, os.Getenv("MISS")) {
			fmt.Println("   ", strings.Join(miss, "\n    "))
			for _, tr := range compartments.Rendered {
				fmt.Printf("---- %s %d\n%s\n", tr, c.Tiers[tr].Tokens, c.Tiers[tr].Text)
			}
		}
		if os.Getenv("MISSALL") != "" {
			for _, m := range miss {
				if strings.HasPrefix(m, os.Getenv("MISSALL")) {
					fmt.Println("     ", m)
				}
			}
		}
	}
	for i, tr := range compartments.Rendered {
		fmt.Printf("%s %d/%d %.3f\n", tr, kept[i], all[i], share(kept[i], all[i]))
	}
	for k, v := range kinds {
		fmt.Println(k, *v)
	}
}
