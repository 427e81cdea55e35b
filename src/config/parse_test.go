package config_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"external-context.internal/appliance/src/config"
	"external-context.internal/appliance/testing/configcases"
	"external-context.internal/appliance/testing/fakes"
)

func TestRejectedConfigurationsNameTheRuleAndNothingElse(t *testing.T) {
	cases := configcases.Rejected()
	if len(cases) < 60 {
		t.Errorf("only %d rejected configurations, want at least 60", len(cases))
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			canary := fakes.Canary()
			_, err := config.Parse([]byte(c.With(canary)))
			var failure *config.Error
			if !errors.As(err, &failure) {
				t.Fatalf("got %v, want a *config.Error", err)
			}
			if err.Error() != c.Line {
				t.Errorf("got  %s\nwant %s", err, c.Line)
			}
			if leaks := fakes.Leaks([]string{canary}, []byte(err.Error())); len(leaks) > 0 {
				t.Errorf("the line repeats the configuration: %s", err)
			}
		})
	}
}

func TestAcceptedConfigurations(t *testing.T) {
	for _, c := range configcases.Accepted() {
		t.Run(c.Name, func(t *testing.T) {
			if _, err := config.Parse([]byte(c.With("canary"))); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCaseNamesAreUnique(t *testing.T) {
	var names []string
	for _, c := range slices.Concat(configcases.Accepted(), configcases.Rejected()) {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) {
		t.Errorf("%d of %d names are taken twice", len(names)-len(unique), len(names))
	}
}

func TestParsedValues(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       config.Config
	}{
		{
			"version 1 has a default timeout of 5 s",
			`{"version":1,"provider":{"type":"mem0-platform-v3","apiKeyEnv":"K","appId":"\u3000 a b\t"}}`,
			config.Config{Version: 1, Timeout: 5 * time.Second,
				Provider: config.Provider{Type: config.Mem0PlatformV3, AppID: "a b", CredentialEnv: "K"}},
		},
		{
			"version 1 with everything",
			`{"version":1,"timeoutMs":7,"write":{"enabled":true},"provider":{"type":"mem0-platform-v3","apiKeyEnv":"K","appId":"a"}}`,
			config.Config{Version: 1, Timeout: 7 * time.Millisecond, WriteEnabled: true,
				Provider: config.Provider{Type: config.Mem0PlatformV3, AppID: "a", CredentialEnv: "K"}},
		},
		{
			"version 2 has a default timeout of 1.5 s and ignores timeoutMs",
			`{"version":2,"timeoutMs":30000,"autoRecall":{"repositoryRoot":"/srv/r"},"provider":{"type":"generic-http-search-v1","baseUrl":"https://a/","tokenEnv":"T"}}`,
			config.Config{Version: 2, Timeout: 1500 * time.Millisecond, RepositoryRoot: "/srv/r",
				Provider: config.Provider{Type: config.GenericHTTPSearchV1, BaseURL: "https://a", CredentialEnv: "T"}},
		},
		{
			"an origin becomes canonical",
			`{"version":1,"provider":{"type":"generic-http-search-v1","baseUrl":"HTTPS://[2001:DB8::1]:8443/","tokenEnv":"T"}}`,
			config.Config{Version: 1, Timeout: 5 * time.Second,
				Provider: config.Provider{Type: config.GenericHTTPSearchV1, BaseURL: "https://[2001:db8::1]:8443", CredentialEnv: "T"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := config.Parse([]byte(c.text))
			if err != nil || *got != c.want {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func FuzzParseSaysNothingOfItsOwn(f *testing.F) {
	known := map[string]bool{}
	for _, c := range configcases.Accepted() {
		f.Add([]byte(c.Text))
	}
	for _, c := range configcases.Rejected() {
		known[c.Line] = true
		f.Add([]byte(c.Text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		cfg, err := config.Parse(text)
		switch {
		case err == nil && (cfg.Version < 1 || cfg.Version > 2 || cfg.Timeout <= 0 || cfg.Provider.CredentialEnv == ""):
			t.Errorf("accepted %q as %+v", text, cfg)
		case err != nil && !known[err.Error()] && !ruleOfTwoVersions(err.Error()):
			t.Errorf("a line that no case knows: %s", err)
		}
	})
}

// ruleOfTwoVersions reports lines that are right and that no case of the table
// produces: the same rule on a sibling member.
func ruleOfTwoVersions(line string) bool {
	for _, member := range []string{"timeoutMs", "autoRecall.timeoutMs", "autoRecall.repositoryRoot", "autoRecall", "write", "write.enabled",
		"provider.type", "provider.apiKeyEnv", "provider.tokenEnv", "provider.appId", "provider.baseUrl"} {
		for _, rule := range []string{"is given twice", "must be an integer", "must be a string", "must be the name of an environment variable"} {
			if line == "External context config: "+member+" "+rule+"." {
				return true
			}
		}
	}
	return false
}
