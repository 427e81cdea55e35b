package provider

import (
	"crypto/x509"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/crypto/x509roots/fallback/bundle"
	"golang.org/x/net/http/httpproxy"
)

// Network is what the environment says about reaching a provider (contract
// section 4). An empty member is not set.
type Network struct {
	// CertFile and CertDir replace the built-in certificate authorities:
	// SSL_CERT_FILE, and SSL_CERT_DIR (directories separated by colons).
	CertFile, CertDir string
	// HTTPProxy, HTTPSProxy and NoProxy are the variables of those names in
	// either case, upper case first.
	HTTPProxy, HTTPSProxy, NoProxy string
}

// Errors of network settings. Their texts hold no setting's value.
var (
	errCertificates = errors.New("SSL_CERT_FILE or SSL_CERT_DIR holds no certificate that can be read")
	errProxy        = errors.New("a proxy variable is not the URL of an HTTP or SOCKS5 proxy")
)

// NetworkFrom reads the network settings from an environment.
func NetworkFrom(lookup func(name string) (string, bool)) Network {
	first := func(names ...string) string {
		for _, name := range names {
			if value, _ := lookup(name); value != "" {
				return value
			}
		}
		return ""
	}
	return Network{
		CertFile:   first("SSL_CERT_FILE"),
		CertDir:    first("SSL_CERT_DIR"),
		HTTPProxy:  first("HTTP_PROXY", "http_proxy"),
		HTTPSProxy: first("HTTPS_PROXY", "https_proxy"),
		NoProxy:    first("NO_PROXY", "no_proxy"),
	}
}

// proxy returns the function that picks the proxy of a URL, nil for none.
// Loopback is never proxied. A proxy setting that cannot be understood is an
// error here, because the library would go around the proxy without a word.
func (n Network) proxy() (func(*url.URL) (*url.URL, error), error) {
	for _, setting := range []string{n.HTTPProxy, n.HTTPSProxy} {
		if setting != "" && !isProxyURL(setting) {
			return nil, errProxy
		}
	}
	settings := httpproxy.Config{HTTPProxy: n.HTTPProxy, HTTPSProxy: n.HTTPSProxy, NoProxy: n.NoProxy}
	return settings.ProxyFunc(), nil
}

// isProxyURL reports what the library takes for a proxy: a URL of a scheme it
// can speak, or host and port alone.
func isProxyURL(setting string) bool {
	if !strings.Contains(setting, "://") {
		setting = "http://" + setting
	}
	u, err := url.Parse(setting)
	if err != nil || u.Hostname() == "" {
		return false
	}
	switch u.Scheme {
	case "http", "https", "socks5", "socks5h":
		return true
	}
	return false
}

// roots returns the certificate authorities to trust: those of the settings, and
// only those, or else the Mozilla roots built into the binary. The system's own
// are never read.
func (n Network) roots() (*x509.CertPool, error) {
	if n.CertFile == "" && n.CertDir == "" {
		return builtinRoots()
	}
	pool := x509.NewCertPool()
	if n.CertFile != "" {
		pem, err := readCertificates(n.CertFile)
		if err != nil || !pool.AppendCertsFromPEM(pem) {
			return nil, errCertificates
		}
	}
	if n.CertDir != "" && !appendDirectories(pool, filepath.SplitList(n.CertDir)) {
		return nil, errCertificates
	}
	return pool, nil
}

// maxCertificates bounds a file of certificates, in bytes.
const maxCertificates = 16 << 20

// readCertificates reads a regular file of bounded size. It does not wait for a
// pipe.
func readCertificates(path string) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errCertificates
	}
	return io.ReadAll(io.LimitReader(file, maxCertificates))
}

// appendDirectories adds the certificates in the files of the directories and
// reports whether there was one.
func appendDirectories(pool *x509.CertPool, directories []string) bool {
	found := false
	for _, directory := range directories {
		entries, err := os.ReadDir(directory)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			pem, err := readCertificates(filepath.Join(directory, entry.Name()))
			if err == nil && pool.AppendCertsFromPEM(pem) {
				found = true
			}
		}
	}
	return found
}

// builtinRoots returns the Mozilla roots with the constraints Mozilla puts on
// some of them.
func builtinRoots() (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	for root := range bundle.Roots() {
		certificate, err := x509.ParseCertificate(root.Certificate)
		if err != nil {
			return nil, err
		}
		if root.Constraint == nil {
			pool.AddCert(certificate)
		} else {
			pool.AddCertWithConstraint(certificate, root.Constraint)
		}
	}
	return pool, nil
}
