package config

import (
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"external-context.internal/appliance/src/jstext"
	"external-context.internal/appliance/src/strictjson"
)

// The bounds of contract section 2, in milliseconds and code points.
const (
	maxTimeoutMs     = 30000
	defaultTimeoutMs = 5000
	maxRecallMs      = 5000
	defaultRecallMs  = 1500
	maxAppID         = 256
)

// parse checks a document. The error is a [*strictjson.Violation] or
// [strictjson.ErrNotJSON].
func parse(text []byte) (*Config, error) {
	document, err := strictjson.Parse(text, "version", "timeoutMs", "write", "autoRecall", "provider")
	if err != nil {
		return nil, err
	}
	version, err := document.Integer("version")
	if err != nil {
		return nil, err
	}
	cfg := &Config{Version: version}
	switch version {
	case 1:
		err = cfg.parseVersion1(document)
	case 2:
		err = cfg.parseVersion2(document)
	default:
		err = document.Violation("version", "must be 1 or 2")
	}
	if err != nil {
		return nil, err
	}
	return cfg, nil
}

func (cfg *Config) parseVersion1(document strictjson.Object) (err error) {
	if document.Has("autoRecall") {
		return document.Violation("autoRecall", "is only for version 2")
	}
	if cfg.Timeout, err = milliseconds(document, "timeoutMs", maxTimeoutMs, defaultTimeoutMs); err != nil {
		return err
	}
	if cfg.Provider, err = parseProvider(document); err != nil {
		return err
	}
	cfg.WriteEnabled, err = parseWrite(document, cfg.Provider.Type)
	return err
}

func (cfg *Config) parseVersion2(document strictjson.Object) (err error) {
	if document.Has("write") {
		return document.Violation("write", "is only for version 1")
	}
	// Accepted for compatibility: it must be a valid value, and has no effect.
	if _, err := milliseconds(document, "timeoutMs", maxTimeoutMs, defaultTimeoutMs); err != nil {
		return err
	}
	recall, err := document.Object("autoRecall", "repositoryRoot", "timeoutMs")
	if err != nil {
		return err
	}
	if cfg.RepositoryRoot, err = parseRoot(recall); err != nil {
		return err
	}
	if cfg.Timeout, err = milliseconds(recall, "timeoutMs", maxRecallMs, defaultRecallMs); err != nil {
		return err
	}
	cfg.Provider, err = parseProvider(document)
	return err
}

// milliseconds returns an optional duration from 1 ms to limit.
func milliseconds(object strictjson.Object, name string, limit, fallback int) (time.Duration, error) {
	ms := fallback
	if object.Has(name) {
		var err error
		if ms, err = object.Integer(name); err != nil {
			return 0, err
		}
	}
	if ms < 1 || ms > limit {
		return 0, object.Violation(name, "must be from 1 to "+strconv.Itoa(limit))
	}
	return time.Duration(ms) * time.Millisecond, nil
}

func parseRoot(recall strictjson.Object) (string, error) {
	root, err := recall.String("repositoryRoot")
	if err != nil {
		return "", err
	}
	switch {
	case !filepath.IsAbs(root) || strings.ContainsRune(root, 0):
		return "", recall.Violation("repositoryRoot", "must be an absolute path")
	case filepath.Clean(root) == "/":
		return "", recall.Violation("repositoryRoot", "must not be the filesystem root")
	}
	return root, nil
}

func parseWrite(document strictjson.Object, provider ProviderType) (bool, error) {
	if !document.Has("write") {
		return false, nil
	}
	write, err := document.Object("write", "enabled")
	if err != nil {
		return false, err
	}
	enabled, err := write.Bool("enabled")
	switch {
	case err != nil:
		return false, err
	case !enabled:
		return false, write.Violation("enabled", "must be true")
	case provider != Mem0PlatformV3:
		return false, document.Violation("write", "is only for a mem0-platform-v3 provider")
	}
	return true, nil
}

func parseProvider(document strictjson.Object) (Provider, error) {
	// The members that belong depend on the type, so the type comes first.
	object, err := document.Object("provider", "type", "apiKeyEnv", "appId", "baseUrl", "tokenEnv")
	if err != nil {
		return Provider{}, err
	}
	name, err := object.String("type")
	if err != nil {
		return Provider{}, err
	}
	switch ProviderType(name) {
	case Mem0PlatformV3:
		return parseMem0(document)
	case GenericHTTPSearchV1:
		return parseGenericHTTP(document)
	}
	return Provider{}, object.Violation("type", "must be mem0-platform-v3 or generic-http-search-v1")
}

func parseMem0(document strictjson.Object) (Provider, error) {
	p := Provider{Type: Mem0PlatformV3}
	object, err := document.Object("provider", "type", "apiKeyEnv", "appId")
	if err != nil {
		return p, err
	}
	if p.CredentialEnv, err = variable(object, "apiKeyEnv"); err != nil {
		return p, err
	}
	appID, err := object.String("appId")
	if err != nil {
		return p, err
	}
	p.AppID = strings.TrimFunc(appID, jstext.IsSpace)
	if n := utf8.RuneCountInString(p.AppID); n < 1 || n > maxAppID {
		return p, object.Violation("appId", "must be from 1 to 256 characters long")
	}
	return p, nil
}

func parseGenericHTTP(document strictjson.Object) (Provider, error) {
	p := Provider{Type: GenericHTTPSearchV1}
	object, err := document.Object("provider", "type", "baseUrl", "tokenEnv")
	if err != nil {
		return p, err
	}
	baseURL, err := object.String("baseUrl")
	if err != nil {
		return p, err
	}
	var broken string
	if p.BaseURL, broken = origin(baseURL); broken != "" {
		return p, object.Violation("baseUrl", broken)
	}
	p.CredentialEnv, err = variable(object, "tokenEnv")
	return p, err
}

// variable returns a member that names an environment variable.
func variable(object strictjson.Object, name string) (string, error) {
	value, err := object.String(name)
	if err != nil {
		return "", err
	}
	if !isVariable(value) {
		return "", object.Violation(name, "must be the name of an environment variable")
	}
	return value, nil
}

// isVariable matches [A-Za-z_][A-Za-z0-9_]*.
func isVariable(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		digit := c >= '0' && c <= '9'
		if !letter && (!digit || i == 0) {
			return false
		}
	}
	return name != ""
}
