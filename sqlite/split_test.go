package sqlite

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ctxplugin/compartments"
)

func TestSplit_FindsStringsAndCalls(t *testing.T) {
	long := strings.Repeat("x", payloadBytes)
	escaped := strings.Repeat(`\"\\`, payloadBytes)
	for _, test := range []struct {
		name, raw string
		ok        bool
		strings   []string
		calls     []string // tool|input|output
	}{
		{"empty object", `{}`, true, nil, nil},
		{"short strings stay", `{"a":"` + long[1:] + `"}`, true, nil, nil},
		{"long string", ` { "a" : "` + long + `" } `, true, []string{long}, nil},
		{"long key stays", `{"` + long + `":1}`, true, nil, nil},
		{"escapes", `["` + escaped + `","` + long + `"]`, true, []string{escaped, long}, nil},
		{"escaped quote at the end", `["` + long + `\\","` + long + `\"x"]`, true, []string{long + `\\`, long + `\"x`}, nil},
		{"top level", `"` + long + `"`, true, []string{long}, nil},
		{"call", `{"parts":[{"state":{"output":"` + long + `","input":{"first": 1}},"tool":"ctx_expand"}]}`, true, []string{long}, []string{`ctx_expand|{"first": 1}|` + long}},
		{"two calls", `{"parts":[{"tool":"a","state":{"input":[]}},{"type":"text"},{"tool":"b"}]}`, true, nil, []string{"a|[]|", "b||"}},
		{"tool elsewhere", `{"parts":{"tool":"a"},"tool":"b","x":[{"tool":"c"}]}`, true, nil, nil},
		{"numbers and literals", `[-1.5e+3,true,false,null]`, true, nil, nil},
		{"trailing text", `{} x`, false, nil, nil},
		{"unclosed string", `{"a":"` + long, false, nil, nil},
		{"unclosed by backslash", `["` + long + `\"]`, false, nil, nil},
		{"unclosed object", `{"a":1`, false, nil, nil},
		{"comma without member", `[1,]`, false, nil, nil},
		{"no colon", `{"a" 1}`, false, nil, nil},
		{"nothing", ``, false, nil, nil},
		{"too deep", strings.Repeat("[", 600) + strings.Repeat("]", 600), false, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			raw := []byte(test.raw)
			c, ok := split(raw)
			if ok != test.ok {
				t.Fatalf("accepted: %v", ok)
			}
			var found, calls []string
			for _, s := range c.strings {
				found = append(found, string(s.of(raw)))
			}
			for _, call := range c.calls {
				calls = append(calls, string(call.tool.of(raw))+"|"+string(call.input.of(raw))+"|"+string(call.output.of(raw)))
			}
			if strings.Join(found, "\n") != strings.Join(test.strings, "\n") {
				t.Errorf("strings: %.80q", found)
			}
			if strings.Join(calls, "\n") != strings.Join(test.calls, "\n") {
				t.Errorf("calls: %.80q", calls)
			}
		})
	}
}

func TestSplit_AcceptsAllJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := drawValue(t, 3)
		raw, err := json.MarshalIndent(value, rapid.SampledFrom([]string{"", " "}).Draw(t, "prefix"), rapid.SampledFrom([]string{"", "\t"}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := split(raw); !ok {
			t.Fatalf("refused %s", raw)
		}
	})
}

func drawValue(t *rapid.T, depth int) any {
	switch rapid.IntRange(0, 3+2*min(depth, 1)).Draw(t, "kind") {
	case 0:
		return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
	case 1:
		return rapid.Bool().Draw(t, "bool")
	case 2:
		return nil
	case 3:
		return strings.Repeat(rapid.String().Draw(t, "string"), rapid.SampledFrom([]int{1, 90}).Draw(t, "times"))
	case 4:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawValue(t, depth-1)
		}
		return list
	}
	object := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		object[rapid.SampledFrom([]string{"parts", "state", "tool", "input", "output", "\"", "x"}).Draw(t, "key")] = drawValue(t, depth-1)
	}
	return object
}

// checkCuts: taking the strings out and putting them back gives the same bytes.
func checkCuts(t *testing.T, raw []byte) {
	c, ok := split(raw)
	if !ok && (len(c.strings) > 0 || len(c.calls) > 0) {
		t.Fatal("found something in what it refused")
	}
	var refs []ref
	var rest []byte
	end := 0
	for i, s := range c.strings {
		if s.from < end || s.to < s.from || s.to > len(raw) || s.len() < payloadBytes || raw[s.from-1] != '"' || raw[s.to] != '"' {
			t.Fatalf("span %d: %v after %d of %d", i, s, end, len(raw))
		}
		refs = append(refs, ref{gap: s.from - end, key: int64(i)})
		rest = append(rest, raw[end:s.from]...)
		end = s.to
	}
	refs, rest, err := decodeCut(encodeCut(refs, append(rest, raw[end:]...)))
	if err != nil {
		t.Fatal(err)
	}
	var back []byte
	for _, r := range refs {
		back = append(append(back, rest[:r.gap]...), c.strings[r.key].of(raw)...)
		rest = rest[r.gap:]
	}
	if back = append(back, rest...); !bytes.Equal(back, raw) {
		t.Fatalf("got %q, want %q", back, raw)
	}
}

func FuzzSplit(f *testing.F) {
	long := strings.Repeat("y", payloadBytes)
	for _, seed := range []string{
		``, `{}`, `{"parts":[{"tool":"ctx_expand","state":{"input":{"first":1},"output":"` + long + `"}}]}`,
		`["` + long + `\\\"","` + long + `"]`, `{"a":"` + strings.Repeat(`\u0000`, 400) + `"}`, `"` + long,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(checkCuts)
}

func FuzzDecodeCut(f *testing.F) {
	f.Add(encodeCut([]ref{{3, 9}, {0, 1 << 40}}, []byte("some rest")))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0x7f})
	f.Fuzz(func(t *testing.T, record []byte) {
		refs, rest, err := decodeCut(record)
		if err != nil {
			return
		}
		for _, r := range refs {
			rest = rest[r.gap:] // must not run past the end
		}
	})
}

func FuzzEntry(f *testing.F) {
	f.Add(encodeEntry(&compartments.Entry{Role: "assistant", Time: 9, Sizes: []compartments.Size{{Kind: 3, Tokens: 5, Input: -1}}}))
	f.Add(encodeEntry(&compartments.Entry{Role: "odd", Real: true}))
	f.Add(encodeEntry(&compartments.Entry{Role: "tool", Sizes: []compartments.Size{{Kind: 3, Media: 2, Preview: &compartments.Preview{Result: true, Tool: "bash", Runes: 9, Begin: "ab"}}}}))
	f.Fuzz(func(t *testing.T, record []byte) {
		var e, again compartments.Entry
		if decodeEntry(record, &e) != nil {
			return
		}
		canonical := encodeEntry(&e)
		if err := decodeEntry(canonical, &again); err != nil {
			t.Fatalf("%+v does not read back: %v", e, err)
		}
		if !bytes.Equal(canonical, encodeEntry(&again)) {
			t.Fatalf("%+v reads back as %+v", e, again)
		}
	})
}

func FuzzCompartment(f *testing.F) {
	f.Add(encodeCompartment(&compartments.Compartment{}))
	f.Add(encodeCompartment(&compartments.Compartment{First: 3, Last: 9, Members: []compartments.Ordinal{3, 9}, Title: "t", Types: []string{"a", ""},
		Tiers:  map[compartments.Tier]compartments.Rendition{compartments.TierFull: {Text: "x", Tokens: 1}},
		Spans:  []compartments.ExactSpan{{Ordinal: 3, Text: "s"}},
		Facts:  []compartments.Fact{{Ordinal: 3, Kind: "k", Text: "t", Anchor: "a"}},
		Events: []compartments.Event{{Ordinal: 9, Kind: "k", Text: "t"}}}))
	f.Fuzz(func(t *testing.T, record []byte) {
		var c, again compartments.Compartment
		if decodeCompartment(record, &c) != nil {
			return
		}
		canonical := encodeCompartment(&c)
		if err := decodeCompartment(canonical, &again); err != nil {
			t.Fatalf("%+v does not read back: %v", c, err)
		}
		if !bytes.Equal(canonical, encodeCompartment(&again)) {
			t.Fatalf("%+v reads back as %+v", c, again)
		}
	})
}

func FuzzQuote(f *testing.F) {
	for _, seed := range []string{`plain`, `\n\"\\\/\u00e9`, `\ud83d\ude00`, `\ud800`, `\udc00\ud800x`, `\`, `\u12`, "raw \x01 \xff", `\u0000\u001F`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, inner []byte) {
		text := unquote(nil, inner)
		for at := range len(text) + 2 {
			if o := escapedOffset(string(inner), at); o < 0 || o > len(inner) {
				t.Fatalf("offset %d of %q is %d", at, inner, o)
			}
		}
		// Whatever was quoted by us is unquoted as it was.
		if back := unquote(nil, quote(nil, inner)); !bytes.Equal(back, inner) {
			t.Fatalf("%q comes back as %q", inner, back)
		}
		// What is a JSON string without lone surrogates means the same to the
		// standard library.
		var want string
		if !bytes.Contains(inner, []byte(`\u`)) && json.Unmarshal([]byte(`"`+string(inner)+`"`), &want) == nil && !strings.Contains(want, "\ufffd") && want != string(text) {
			t.Fatalf("%q means %q, not %q", inner, want, text)
		}
	})
}

func FuzzExcerpt(f *testing.F) {
	f.Add("some text around the match and on", 5, 4)
	f.Add("\n\n漢字漢字漢字\t\xff", 2, 3)
	f.Fuzz(func(t *testing.T, text string, at, size int) {
		if at < 0 || size < 0 || at > len(text) || size > len(text)-at {
			return
		}
		e := excerpt(text, at, size)
		if len(e) > excerptBytes || strings.ContainsAny(e, "\n\r\t\x00") || strings.ToValidUTF8(e, "") != e {
			t.Fatalf("excerpt %q of %d bytes", e, len(e))
		}
	})
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"words here", `"quoted" OR x*`, "数据库", "--flag=x/y", "\x00\xff", "É"} {
		f.Add(seed, "a text with words here and \"quoted\" OR x*")
	}
	f.Fuzz(func(t *testing.T, asked, text string) {
		q := newQuery(asked)
		if q.literal == "" {
			return
		}
		text = strings.ToValidUTF8(text, "")
		m := q.find(text, fold(text), true)
		if m.grade != gradeNone && (m.at < 0 || m.at+m.size > len(text) || m.count < 1) {
			t.Fatalf("%q in %q: %+v", asked, text, m)
		}
		if strings.Contains(text, q.literal) {
			raw, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(fold(string(raw)), q.needle) {
				t.Fatalf("the needle %q of %q is not in %s", q.needle, asked, raw)
			}
		}
	})
}
