package provider

import (
	"crypto/x509"
	"net/url"
	"testing"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

func TestTheEnvironmentIsReadInEitherCaseUpperFirst(t *testing.T) {
	environment := map[string]string{"HTTPS_PROXY": "upper", "https_proxy": "lower", "http_proxy": "lower", "NO_PROXY": "", "no_proxy": "lower", "SSL_CERT_FILE": "file"}
	got := NetworkFrom(func(name string) (string, bool) { value, set := environment[name]; return value, set })
	if want := (Network{CertFile: "file", HTTPSProxy: "upper", HTTPProxy: "lower", NoProxy: "lower"}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestProxyIsPickedByURL(t *testing.T) {
	network := Network{HTTPProxy: "http://plain.example:1", HTTPSProxy: "https://secure.example:2", NoProxy: "direct.example,.internal.example"}
	pick, err := network.proxy()
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string]string{
		"https://api.mem0.ai/": "https://secure.example:2", "http://api.mem0.ai/": "http://plain.example:1",
		"https://direct.example/": "", "https://a.internal.example/": "", "https://localhost/": "", "https://127.0.0.1:8/": "", "http://[::1]:8/": "",
	} {
		u, err := url.Parse(target)
		if err != nil {
			t.Fatal(err)
		}
		proxy, err := pick(u)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if proxy != nil {
			got = proxy.String()
		}
		if got != want {
			t.Errorf("%s goes through %q, want %q", target, got, want)
		}
	}
}

func TestProxySettingsThatTheLibraryWouldIgnoreAreRefused(t *testing.T) {
	for setting, good := range map[string]bool{
		"http://p.example": true, "https://p.example:8443": true, "socks5://p.example": true, "p.example:8080": true, "http://user:pass@p.example": true,
		"gopher://p.example": false, "http://": false, "http://[": false, "://p": false, " ": false, "ftp://p.example": false, "http://p.example:port": false,
	} {
		_, err := Network{HTTPSProxy: setting}.proxy()
		if (err == nil) != good {
			t.Errorf("%q: got %v, want accepted: %v", setting, err, good)
		}
	}
}

func TestTheBuiltInRootsAreMozillasWithTheirConstraints(t *testing.T) {
	pool, err := builtinRoots()
	if err != nil {
		t.Fatal(err)
	}
	count, constrained := 0, 0
	for root := range bundle.Roots() {
		count++
		if root.Constraint != nil {
			constrained++
		}
	}
	if count < 100 || constrained == 0 {
		t.Errorf("the bundle has %d roots, %d with constraints", count, constrained)
	}
	if pool.Equal(x509.NewCertPool()) {
		t.Error("the pool is empty")
	}
}
