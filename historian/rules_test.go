package historian

import (
	"slices"
	"strings"
	"testing"

	"ctxplugin/compartments"
)

// TestRules: what the user forbids or lays down is known in each language of the
// cue tables, and what only reports is not.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		in, want string // want: the text that is kept, "" for none
		order    order
	}{
		{"never drop a row silently", "never drop a row silently", ban},
		{"now the page. no websocket, the proxy blocks it", "no websocket, the proxy blocks it", ban},
		{"lease 90s is fine and no new dependency for this", "lease 90s is fine and no new dependency for this", ban},
		{"but never force push there", "never force push there", ban},
		{"do NOT reuse the version number", "do NOT reuse the version number", ban},
		{"take it out, don’t delete it", "take it out, don’t delete it", ban},
		{"leave webhooks.js alone", "leave webhooks.js alone", ban},
		{"only look, change nothing yet", "only look, change nothing yet", ban},
		{"I don't want a second cache", "I don't want a second cache", ban},
		{"the API must not change", "the API must not change", ban},
		{"must work on postgres 12", "must work on postgres 12", lasting},
		{"not more than one connection per instance", "not more than one connection per instance", lasting},
		{"the defaults stay as they are", "the defaults stay as they are", lasting},
		{"keep the csv path as fast as it is", "keep the csv path as fast as it is", lasting},
		{"i would only want tests of the whole importer", "i would only want tests of the whole importer", lasting},
		{"the page should only poll while it is seen", "the page should only poll while it is seen", lasting},
		{"we only want one worker", "we only want one worker", lasting},
		{"it only fails at night", "", noOrder},
		{"i only changed the page", "", noOrder},
		{"do it without touching the schema", "do it without touching the schema", lasting},
		{"die gateways nicht neu starten, sie verlieren den puffer", "die gateways nicht neu starten, sie verlieren den puffer", ban},
		{"keine neuen Abhängigkeiten", "keine neuen Abhängigkeiten", ban},
		{"du darfst die Tabelle nicht ändern", "du darfst die Tabelle nicht ändern", ban},
		{"ne touche pas au schéma", "ne touche pas au schéma", ban},
		{"pas de nouvelle dépendance", "pas de nouvelle dépendance", ban},
		{"no toques la base de datos", "no toques la base de datos", ban},
		{"nunca borres la tabla", "nunca borres la tabla", ban},
		{"não mude o esquema", "não mude o esquema", ban},
		{"不要改日志里的英文", "不要改日志里的英文", ban},
		{"必须兼容旧版本的数据库", "必须兼容旧版本的数据库", lasting},
		{"プッシュはしないで。", "プッシュはしないで。", ban},
		{"连接最多 20 个", "连接最多 20 个", lasting},
		{"再試行は3回まで", "再試行は3回まで", lasting},
		{"메일 서버 설정은 건드리지 마세요.", "메일 서버 설정은 건드리지 마세요.", ban},
		{"the importer reads the whole upload into memory and gets killed on the large files of the night shift, so please make it stream, but never hold a transaction open",
			"never hold a transaction open", ban},
		// what comes before an act: consent, and what is to be done each time
		{"ask me before pushing.", "ask me before pushing.", ban},
		{"check with me first before you merge", "check with me first before you merge", ban},
		{"get my approval before touching prod", "get my approval before touching prod", ban},
		{"wait for my ok, then deploy", "wait for my ok, then deploy", ban},
		{"hands off the router", "hands off the router", ban},
		{"nothing goes to main without review", "nothing goes to main without review", ban},
		{"run the tests before you commit anything", "run the tests before you commit anything", lasting},
		{"before committing, run make lint", "before committing, run make lint", lasting},
		{"frag mich, bevor du pushst", "frag mich, bevor du pushst", ban},
		{"pregúntame antes de subir", "pregúntame antes de subir", ban},
		{"推送前先问我", "推送前先问我", ban},
		{"提交前先跑测试", "提交前先跑测试", lasting},
		{"プッシュの前に確認してください", "プッシュの前に確認してください", lasting},
		{"커밋 전에 테스트를 실행하세요", "커밋 전에 테스트를 실행하세요", lasting},
		{"I think we should look at the terminal, before fiddling with the router", "", noOrder},
		{"look at the lid before the seal", "", noOrder},
		{"it worked before you committed", "", noOrder},
		{"run it again before i commit", "", noOrder},
		{"ask me anything", "", noOrder},
		{"by the way, the tests never worked on windows", "", noOrder},
		// what only reports, asks or talks
		{"p99 went from 40 ms to 900 ms whenever an import runs", "", noOrder},
		{"no wait, that is the old file", "", noOrder},
		{"if there are two headers, or no header at all, the file is refused", "", noOrder},
		{"no logs appear in the terminal", "", noOrder},
		{"they don't match the invoice", "", noOrder},
		{"I don't know where it is", "", noOrder},
		{"it never worked on this machine", "", noOrder},
		{"there must be a bug in the parser", "", noOrder},
		{"why don't you cache it", "", noOrder},
		{"must we keep the old table?", "", noOrder},
		{"das geht auf dem Handy nicht", "", noOrder},
		{"no funciona en el servidor", "", noOrder},
		{"não funciona no servidor", "", noOrder},
		{"要不要加一个缓存", "", noOrder},
		{"成都的客户遇到得最多", "", noOrder},
		{"明日の朝まで会議です", "", noOrder},
	} {
		got, best := "", noOrder
		for _, s := range ownSentences(c.in) {
			if o, from, to := ruleIn(s); o > best {
				best, got = o, ruleText(s, from, to)
			}
		}
		if best != c.order || got != c.want {
			t.Errorf("%q\n got %q, %d\nwant %q, %d", c.in, got, best, c.want, c.order)
		}
	}
}

// TestRulesOfATask: a program that sets a task lays down rules in the person's place,
// also in a block of its own and behind a word about answers to come; one that comes
// back with a complaint about the form of an answer does not.
func TestRulesOfATask(t *testing.T) {
	r := rangeFrom([]compartments.Message{
		personSays("<issue>\nThe importer loses the last row.\n</issue>\n\n<instructions>\n# Task\nFor each response:\n1. Say what you think\n2. Give one command\n\n## Limits\n- CHANGE: the importer\n- DO NOT CHANGE: tests, migrations\n\n" +
			"<format_example>\nthink, then `ls`\n</format_example>\n\n## The end\nWhen all is done give exactly the following command:\n\n```sh\nmake seal && make hand-in\n```\n</instructions>"),
		shellCall("ls", "importer.go", 0),
		personSays("Please never give two commands, as in <format_example>think, then `ls`</format_example>"),
		shellCall("cat importer.go", "package importer", 0),
	})
	c, err := testBuiltin().WriteOne(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := spansOf(&c), []string{"DO NOT CHANGE: tests, migrations", "make seal && make hand-in"}; !slices.Equal(got, want) {
		t.Errorf("kept %q, want %q", got, want)
	}
}

func spansOf(c *compartments.Compartment) []string {
	var out []string
	for _, s := range c.Spans {
		out = append(out, s.Text)
	}
	return out
}

// TestRulesStandAtEveryTier: bans go before what is merely laid down, and each
// stands in the anchor too.
func TestRulesStandAtEveryTier(t *testing.T) {
	r := rangeFrom([]compartments.Message{
		personSays("make the importer stream.\n\nWhat matters:\n- the defaults stay as they are\n- it must build with the old compiler\n- prices show two decimals always\n" +
			"- never drop a row silently. each one must be written to `<upload>.rejects.csv`\n- no websocket"),
		shellCall("go test ./importer", "ok", 0),
		agentText("The importer streams now, and rejected rows go to `<upload>.rejects.csv`."),
	})
	c, err := testBuiltin().WriteOne(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	got := spansOf(&c)
	if len(got) != spansMost || !slices.Contains(got, "never drop a row silently.") || !slices.Contains(got, "no websocket") {
		t.Errorf("spans %q", got)
	}
	for _, tier := range compartments.Rendered {
		for _, s := range got {
			if !strings.Contains(c.Tiers[tier].Text, s) {
				t.Errorf("%s lacks %q:\n%s", tier, s, c.Tiers[tier].Text)
			}
		}
	}
}

// TestRulesAreTheUsers: what an agent or a reviewer wrote, and the user passed on,
// is no rule of the user; nor is what a program says in the user's place.
func TestRulesAreTheUsers(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"own words", "never force push", []string{"never force push"}},
		{"a quotation", "what does this mean\n> never force push\n> to main please", nil},
		{"an introduced report", "the reviewer says:\nNever hold a lock here.\nAlways close the file.\n\nplease do that, but no new dependency", []string{"please do that, but no new dependency"}},
		{"an introduced list", "here is the answer of the other agent:\n\n- You must never call it twice\n- Do not use the cache\n\nkeep the cache as it is", []string{"keep the cache as it is"}},
		{"a report with ticks", "look at this\n✅ Never calls the API twice\n- must not be called twice\n", nil},
	} {
		r := rangeFrom([]compartments.Message{personSays(c.in), shellCall("go test ./importer", "ok", 0), agentText("The importer is done.")})
		one, err := testBuiltin().WriteOne(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if got := spansOf(&one); !slices.Equal(got, c.want) {
			t.Errorf("%s: spans %q, want %q", c.name, got, c.want)
		}
	}
	said := "You must never call `Flush` from two goroutines."
	list := parts(t, []compartments.Message{
		personSays("look at the writer and say what is wrong with it"),
		shellCall("go test ./writer", "ok", 0),
		agentText("The writer is not safe. " + said),
		personSays(said + "\nok, then mend it"),
		shellCall("go test ./writer", "ok", 0),
		agentText("Mended."),
	}, 3, 3)
	if got := spansOf(&list[1]); len(got) != 0 {
		t.Errorf("what the agent said in an earlier compartment is a rule: %q", got)
	}
	r := rangeFrom([]compartments.Message{
		personSays("mend the writer so that it can be used from two goroutines"),
		agentText("I look at the writer first."),
		personSays("Please always provide EXACTLY ONE action, found 2.\n<response_example>\nTHOUGHT\n</response_example>"),
		shellCall("go test ./writer", "ok", 0),
	})
	c, err := testBuiltin().WriteOne(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if full := c.Tiers[compartments.TierFull].Text; len(c.Spans) > 0 || strings.Contains(full, "EXACTLY ONE") {
		t.Errorf("a complaint about the form of an answer counts as the user's words:\n%s", full)
	}
}

// TestRuleBeforeBlanks: several blanks behind a rule end its sentence, also where the next
// one begins in small letters.
func TestRuleBeforeBlanks(t *testing.T) {
	c := parts(t, []compartments.Message{personSays("never commit without signing.   use the other seal"), shellCall("seal", "", 0)}, 2)[0]
	if got := spansOf(&c); !slices.Equal(got, []string{"never commit without signing."}) {
		t.Errorf("spans %q", got)
	}
}
