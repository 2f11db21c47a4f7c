package provider

import "ctxplugin/compartments"

// Model is what one model costs through one kind of cache.
type Model struct {
	Name   string // with the cache, where a model has several
	Short  string // for drawings
	Prices compartments.Prices
	Source string // of the prices
	Date   string // when the source said so
}

const minuteMs = 60_000

// The lives of cache entries, in milliseconds.
const (
	FiveMinutes = 5 * minuteMs
	OneHour     = 60 * minuteMs
)

const (
	anthropicPage = "platform.claude.com/docs/en/about-claude/pricing"
	anthropicDate = "2026-02, when Opus 4.6 was the newest row"
	openaiPage    = "developers.openai.com/api/docs/pricing, as carried by docs.rs/crate/adk-model"
	openaiDate    = "2026-03"
)

// Models are the prices that experiments use: dollars, in micro-units per million
// tokens. Writing costs 1.25 times the input for entries that live five minutes,
// and twice as much for those of an hour. An automatic cache keeps what was not
// used for five to ten minutes; it is taken to be ten.
func Models() []Model {
	marks := func(input, output, read, write float64, ttl int64) compartments.Prices {
		return compartments.Prices{Kind: "marks", Input: micro(input), Output: micro(output), CacheRead: micro(read), CacheWrite: micro(write), TTLMs: ttl}
	}
	automatic := func(input, output, read float64) compartments.Prices {
		return compartments.Prices{Kind: "automatic", Input: micro(input), Output: micro(output), CacheRead: micro(read), CacheWrite: micro(input), TTLMs: 2 * FiveMinutes}
	}
	return []Model{
		{"Claude Sonnet 4.6, marks, 5 minutes", "Sonnet, 5 min", marks(3, 15, 0.30, 3.75, FiveMinutes), anthropicPage, anthropicDate},
		{"Claude Sonnet 4.6, marks, 1 hour", "Sonnet, 1 h", marks(3, 15, 0.30, 6, OneHour), anthropicPage, anthropicDate},
		{"Claude Opus 4.6, marks, 5 minutes", "Opus, 5 min", marks(5, 25, 0.50, 6.25, FiveMinutes), anthropicPage, anthropicDate},
		{"Claude Haiku 4.5, marks, 1 hour", "Haiku, 1 h", marks(1, 5, 0.10, 2, OneHour), anthropicPage, anthropicDate},
		{"GPT-5.4, automatic", "GPT-5.4", automatic(2.50, 15, 0.25), openaiPage, openaiDate},
		{"GPT-4.1, automatic", "GPT-4.1", automatic(2, 8, 0.50), openaiPage, openaiDate},
		{"Claude Sonnet 4.6, nothing cached", "no cache", compartments.Prices{Kind: "none", Input: micro(3), Output: micro(15)}, anthropicPage, anthropicDate},
	}
}

func micro(dollars float64) int64 { return int64(dollars*1e6 + 0.5) }
