package provider

import "testing"

// What a provider asks for writing follows from how long an entry lives.
func TestModels_WritingCostsWhatItsLifeSays(t *testing.T) {
	for _, m := range Models() {
		p := m.Prices
		if m.Source == "" || m.Date == "" || p.Input <= 0 || p.Output <= p.Input {
			t.Errorf("%s: %+v", m.Name, m)
		}
		switch p.Kind {
		case "marks":
			want := p.Input * 5 / 4
			if p.TTLMs == OneHour {
				want = p.Input * 2
			}
			if p.CacheWrite != want || p.CacheRead*10 != p.Input {
				t.Errorf("%s: writing costs %d, reading %d of an input of %d", m.Name, p.CacheWrite, p.CacheRead, p.Input)
			}
		case "automatic":
			if p.CacheWrite != p.Input || p.CacheRead >= p.Input {
				t.Errorf("%s: writing costs %d, reading %d of an input of %d", m.Name, p.CacheWrite, p.CacheRead, p.Input)
			}
		case "none":
			if p.CacheRead != 0 || p.CacheWrite != 0 || p.TTLMs != 0 {
				t.Errorf("%s has prices for a cache: %+v", m.Name, p)
			}
		default:
			t.Errorf("%s caches in a way that is not simulated: %s", m.Name, p.Kind)
		}
	}
}
