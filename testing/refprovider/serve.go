package refprovider

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// How long a client may take, so that none can hold the service.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 10 * time.Second
	writeTimeout      = 15 * time.Second
	idleTimeout       = 60 * time.Second
	maxHeaderBytes    = 16 << 10
	// stopTimeout is how long requests in flight may go on after the stop.
	stopTimeout = 3 * time.Second
)

// ErrNotLoopback reports an address that others than this machine could reach.
var ErrNotLoopback = errors.New("the address must be a loopback address with a port, such as 127.0.0.1:8765 or [::1]:8765")

// Listen listens on a loopback address, "host:port". The host must be an address
// such as 127.0.0.1 or [::1], or localhost, which stands for 127.0.0.1; anything
// else is [ErrNotLoopback]. Port 0 takes any free port.
func Listen(ctx context.Context, address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, ErrNotLoopback
	}
	if host == "localhost" {
		host = "127.0.0.1" // a name service must not choose the interface
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || !ip.IsLoopback() {
		return nil, ErrNotLoopback
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", net.JoinHostPort(ip.String(), port))
}

// Serve answers requests on listener with handler until ctx ends, then gives
// requests in flight three seconds to finish. It closes listener. A stop by ctx
// is no error.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// A client's broken connection is no news, and could quote its request.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close()
	}
	<-served
	return nil
}
