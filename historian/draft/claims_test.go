package draft

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestClaims: what is claimed is told from what is denied, asked or hoped for, and
// from the same words in another sense, in several languages.
func TestClaims(t *testing.T) {
	for line, want := range map[string]claim{
		"all tests pass": claimTests, "all 14 tests are now passing": claimTests, "go test passes": claimTests, "tests passed: 14": claimTests, "tests pass (14 of 14)": claimTests,
		"ci is green": claimTests, "ci passes now": claimTests, "build passes": claimTests, "checks pass; not pushed": claimTests, "outcome: [4] checks pass": claimTests, "everything passes": claimTests, "all green": claimTests,
		"tests pass in ci": claimTests, "it compiles cleanly": claimTests,
		"alle tests bestehen": claimTests, "der build ist grün": claimTests, "tous les tests passent": claimTests, "todas las pruebas pasan": claimTests, "os testes passaram": claimTests, "i test passano tutti": claimTests,
		"все тесты прошли": claimTests, "所有测试通过": claimTests, "全てのテストが通過した": claimTests, "모든 테스트 통과": claimTests,
		"the deployment succeeded": claimDeploy | claimWell, "outcome: [4] deployed to production": claimDeploy, "it was deployed": claimDeploy, "successfully released": claimDeploy | claimWell, "released as v1.4.2": claimDeploy, "outcome: merged": claimDeploy, "the site is live": claimDeploy,
		"die bereitstellung war erfolgreich": claimDeploy | claimWell, "le déploiement a réussi": claimDeploy, "el despliegue fue exitoso": claimDeploy, "o deploy foi concluído com sucesso": claimDeploy | claimWell,
		"развёртывание прошло успешно": claimDeploy | claimWell, "部署成功": claimDeploy, "デプロイが完了した": claimDeploy, "배포 완료": claimDeploy,
		"everything works": claimWell, "the bug is fixed": claimWell, "the migration was verified": claimWell, "der import funktioniert jetzt": claimWell, "正常に動作する": claimWell,
		"the build is green, and it is live": claimTests | claimDeploy,

		"tests do not pass yet": claimNone, "make the tests pass": claimNone, "the build should pass once merged": claimNone, "whether all tests pass": claimNone, "tests need to pass": claimNone, "without the flag all tests pass": claimNone,
		"测试未通过": claimNone, "die tests sind nicht bestanden": claimNone, "not deployed": claimNone, "it will be deployed": claimNone, "not everything works": claimNone,
		"the test passed a nil pointer to readrow": claimNone, "the tests pass the id on": claimNone, "the test helper passed options": claimNone, "the parser passes tokens to the checks": claimNone,
		"all rows that pass validation are kept": claimNone, "the checker checks that passed values are set": claimNone, "all callers pass the id": claimNone, "the lock is released": claimNone, "options are merged with defaults": claimNone,
		"- [62] start → unknown field `pipeline` (then passed at [68])": claimNone,
		"row.go was fixed": claimNone, "- [70] builds scripts from successful steps only": claimNone, "the importer keeps rows without an id": claimNone,
	} {
		if got := claims(line); got != want {
			t.Errorf("%q claims %03b, want %03b", line, got, want)
		}
	}
}

// TestValidate_Unproven: a success needs an outcome in the very messages, of its own
// kind: of a call, or in words.
func TestValidate_Unproven(t *testing.T) {
	said := map[string]string{
		"tests": "all tests pass", "in German": "alle Tests bestehen", "in Chinese": "测试通过", "deploy": "the deployment succeeded", "works": "everything works",
	}
	for name, c := range map[string]struct {
		talk   []string
		proven string // of said; the others are not
	}{
		"nothing happened":      {[]string{"U do all tests pass, and is it deployed? everything works?", "A I have not looked at it yet. The deployment would need a key."}, ""},
		"only failures":         {[]string{"U run the tests and deploy it", "! go test ./... => FAIL x 0.1s", "! ./deploy.sh => no such host", "A The tests fail, and the deployment failed."}, ""},
		"only a wish":           {[]string{"U make all tests pass and deploy it, everything works on my machine?", "A I look at the tests."}, ""},
		"a file was read":       {[]string{"U look at the notes", "A I read them, in the file stands something."}, ""},
		"a passing run":         {[]string{"U run the tests", "$ go test ./... => ok  \tx\t0.2s", "A Here is what I ran."}, "tests in German in Chinese works"},
		"a build without words": {[]string{"U build it", "$ make build => "}, "tests in German in Chinese works"},
		"one of them failed":    {[]string{"U run them", "$ ./run.sh || true => 12 passed, 3 failed", "A Some of it is left."}, "works"},
		"the agent's words":     {[]string{"U how is it", "A All tests pass. I did nothing else."}, "tests in German in Chinese works"},
		"the user's words":      {[]string{"U the deployment succeeded, go on", "A I go on."}, "deploy works"},
		"a script that deploys": {[]string{"U bring it out", "$ ./scripts/deploy.sh staging => staging updated"}, "deploy works"},
		"an edit":               {[]string{"U change it", "A I change it.", "E a.txt => new"}, "works"},
	} {
		r := talk(c.talk...)
		for kind, sentence := range said {
			reply := fmt.Sprintf(`<compartment first="1" last="%d" importance="30" title="About the state of it"><full>Outcome: %s</full><dense>Outcome: %s</dense><compact>%s</compact><anchor>%s</anchor></compartment>`,
				len(r.Messages), sentence, sentence, sentence, sentence)
			_, faults, _ := held(t, r, reply)
			unproven := slices.Contains(codesOf(faults), string(FaultUnproven))
			if proven := strings.Contains(" "+c.proven+" ", " "+kind+" "); proven == unproven {
				t.Errorf("%s: %q is unproven: %v, %v", name, sentence, unproven, faults)
			}
		}
	}
	// What is open, quoted, or denied claims nothing; a title and an event do.
	r := talk("U do all tests pass?", "A I have not looked yet.")
	for text, want := range map[string]bool{
		"Open: whether all tests pass": false, "Open: all tests pass": false, `Asked: [1] "do all tests pass?"`: false, "Outcome: tests not run": false, "Outcome: all tests pass": true,
	} {
		reply := fmt.Sprintf(`<compartment first="1" last="2" importance="30" title="About it"><full>%s</full><dense>%s</dense><compact>nothing done</compact><anchor>nothing done</anchor></compartment>`, text, text)
		if _, faults, _ := held(t, r, reply); slices.Contains(codesOf(faults), string(FaultUnproven)) != want {
			t.Errorf("%q: %v", text, faults)
		}
	}
	pieces, faults, dropped := held(t, r, `<compartment first="1" last="2" importance="30" title="All tests pass"><full>nothing done</full><dense>nothing done</dense><compact>nothing done</compact><anchor>nothing done</anchor></compartment>`)
	if !slices.Contains(codesOf(faults), string(FaultUnproven)) {
		t.Errorf("a title: %v, %v", pieces, dropped)
	}
	pieces, faults, _ = held(t, r, `<compartment first="1" last="2" importance="30" title="About it"><full>nothing done</full><dense>nothing done</dense><compact>nothing done</compact><anchor>nothing done</anchor><event at="2" kind="passed">the checks of it</event></compartment>`)
	if len(faults) > 0 || len(pieces) != 1 || len(pieces[0].events) > 0 {
		t.Errorf("an event: %v, %+v", faults, pieces)
	}
}
