package provider

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strconv"
	"syscall"
)

// Class is what kind of failure a provider operation met: all that may be known
// about it outside this package.
type Class string

// The classes of failure.
const (
	ClassTimeout     Class = "timeout"
	ClassCancelled   Class = "cancelled"
	ClassDNS         Class = "DNS"
	ClassRefused     Class = "refused"
	ClassTLS         Class = "TLS"
	ClassProxy       Class = "proxy"
	ClassStatus      Class = "HTTP status"
	ClassBadResponse Class = "bad response"
	ClassTransport   Class = "transport"
)

// Error is a failed provider operation. It holds its class and nothing that came
// from the network, the configuration or the query; it wraps no other error.
type Error struct {
	Class Class
	// Status is the HTTP status with ClassStatus, else 0.
	Status int
}

// Error returns the class, and for a status its hundreds ("HTTP 5xx").
func (e *Error) Error() string {
	if e.Class == ClassStatus {
		return "HTTP " + strconv.Itoa(e.Status/100) + "xx"
	}
	return string(e.Class)
}

// errProxyRefused reports a proxy that answered CONNECT with something else than
// success.
var errProxyRefused = errors.New("proxy refused the connection")

// classify reduces a transport error to its class.
func classify(ctx context.Context, err error) *Error {
	return &Error{Class: class(ctx, err)}
}

func class(ctx context.Context, err error) Class {
	var dns *net.DNSError
	var op *net.OpError
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return ClassTimeout
	case ctx.Err() != nil:
		return ClassCancelled
	case errors.Is(err, errProxyRefused):
		return ClassProxy
	case errors.As(err, &op) && op.Op == "proxyconnect":
		return ClassProxy
	case errors.As(err, &dns):
		return ClassDNS
	case errors.Is(err, syscall.ECONNREFUSED):
		return ClassRefused
	case isTLS(err):
		return ClassTLS
	}
	return ClassTransport
}

// isTLS reports a failed handshake: what was presented was not accepted, by
// either side, or was not TLS.
func isTLS(err error) bool {
	var verification *tls.CertificateVerificationError
	var alert tls.AlertError
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	return errors.As(err, &verification) || errors.As(err, &alert) ||
		errors.As(err, &record) || errors.As(err, &unknown)
}
