package e2e

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every session checks that its proxy was asked for nothing. These show that the
// proxy would have seen it.

func TestTheProxySeesWhatTheProductReachesFor(t *testing.T) {
	s := newSession(t)
	s.config["provider"].(object)["baseUrl"] = "https://provider.invalid"
	const arguments = `{"query":"x"}`
	results := s.carryOut(asked(search(arguments)))
	if diff := cmp.Diff([]string{"CONNECT provider.invalid:443"}, s.proxy.Asked()); diff != "" {
		t.Errorf("the proxy was asked for something else: %s", diff)
	}
	if diff := cmp.Diff([]string{toolError(arguments, "External context search failed.")}, results); diff != "" {
		t.Errorf("the model was given something else: %s", diff)
	}
}

// The refusing proxy is all that the statistics get to.
func TestTheProxySeesWhatQwenCodeReachesFor(t *testing.T) {
	s := newSession(t)
	s.settings = with(s.settings, "privacy", object{"usageStatisticsEnabled": true})
	s.carryOut()
	if len(s.proxy.Asked()) == 0 {
		t.Error("usage statistics are on and nobody was asked for")
	}
}
