package config

import (
	"net/netip"
	"strconv"
	"strings"
	"unicode"
)

// The rules of provider.baseUrl, one text each.
const (
	ruleOriginBlank       = "must not contain whitespace or control characters"
	ruleOriginQuery       = "must be an origin without a query"
	ruleOriginFragment    = "must be an origin without a fragment"
	ruleOriginScheme      = "must be an https origin, or http on loopback"
	ruleOriginCredentials = "must be an origin without credentials"
	ruleOriginPath        = "must be an origin without a path"
	ruleOriginPort        = "must have a port from 1 to 65535, or none"
	ruleOriginHost        = "must have a valid host name or address"
)

// origin checks an origin and returns its canonical form, or the rule it breaks.
// It is stricter than a URL parser: of all that a URL can hold, only what an origin
// needs is let in. A name that looks like a number (127.1) stays a name.
func origin(text string) (canonical, broken string) {
	if strings.ContainsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Z, r) }) {
		return "", ruleOriginBlank
	}
	scheme, rest, ok := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	if !ok || (scheme != "https" && scheme != "http") {
		return "", ruleOriginScheme
	}
	switch authority, path, slash := strings.Cut(rest, "/"); {
	case strings.Contains(rest, "#"):
		return "", ruleOriginFragment
	case strings.Contains(rest, "?"):
		return "", ruleOriginQuery
	case strings.Contains(authority, "@"):
		return "", ruleOriginCredentials
	case slash && path != "", strings.Contains(rest, `\`):
		return "", ruleOriginPath
	case strings.ContainsFunc(authority, func(r rune) bool { return r > unicode.MaxASCII }):
		return "", ruleOriginHost // before letters are lowered: some become ASCII by it
	default:
		return originOf(scheme, strings.ToLower(authority))
	}
}

// originOf checks host and port of an origin in lower case.
func originOf(scheme, authority string) (canonical, broken string) {
	host, port := authority, ""
	if colon := strings.LastIndexByte(authority, ':'); colon > strings.LastIndexByte(authority, ']') {
		host, port = authority[:colon], authority[colon:]
	}
	switch {
	case !isHost(host):
		return "", ruleOriginHost
	case port != "" && !isPort(port[1:]):
		return "", ruleOriginPort
	case scheme == "http" && host != "localhost" && host != "127.0.0.1" && host != "[::1]":
		return "", ruleOriginScheme
	}
	return scheme + "://" + host + port, ""
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0 && text[0] != '0'
}

// isHost accepts a DNS name in ASCII, an IPv4 address, or an IPv6 address in
// brackets without a zone.
func isHost(host string) bool {
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		address, err := netip.ParseAddr(inner)
		return ok && err == nil && address.Is6() && address.Zone() == ""
	}
	if len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if len(label) < 1 || len(label) > 63 || strings.ContainsFunc(label, notInLabel) {
			return false
		}
	}
	return true
}

func notInLabel(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' || r == '_')
}
