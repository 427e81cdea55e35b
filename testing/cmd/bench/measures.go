package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"time"

	"external-context.internal/appliance/testing/fakes"
)

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "MISSED"
}

func median(durations []time.Duration) time.Duration {
	slices.Sort(durations)
	return durations[len(durations)/2]
}

func ms(d time.Duration) string { return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000) }

// size shows the size of the program.
func (p *place) size(_ context.Context, w io.Writer) error {
	info, err := os.Stat(p.extctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%-46s %8.2f MiB %12s %10s  at most 9 MiB: %s\n", "size of the program",
		float64(info.Size())/(1<<20), "", "", verdict(info.Size() <= maxSize))
	return nil
}

// start shows the time from start to the answer to initialize, the servers taking
// turns.
func (p *place) start(ctx context.Context, w io.Writer) error {
	times := map[string][]time.Duration{}
	for range starts {
		for name, start := range map[string]starter{"extctx": p.product, "node": p.comparison} {
			took, err := untilInitialized(ctx, start)
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			times[name] = append(times[name], took)
		}
	}
	ours, theirs := median(times["extctx"]), median(times["node"])
	fmt.Fprintf(w, "%-46s %12s %12s %10s  at most 1/10: %s\n", fmt.Sprintf("start to initialize answer (median of %d)", starts),
		ms(ours), ms(theirs), ratio(float64(ours), float64(theirs)), verdict(ours*10 <= theirs))
	return nil
}

// starter starts a server.
type starter func(context.Context) (*client, error)

// untilInitialized returns the time from a server's start to its answer to
// initialize, and ends it.
func untilInitialized(ctx context.Context, start starter) (time.Duration, error) {
	begin := time.Now()
	c, err := start(ctx)
	if err != nil {
		return 0, err
	}
	defer c.stop()
	err = c.initialize()
	return time.Since(begin), err
}

func ratio(ours, theirs float64) string { return fmt.Sprintf("1/%.1f", theirs/ours) }

// memory shows resident memory after many searches.
func (p *place) memory(ctx context.Context, w io.Writer) error {
	var kib [2]int
	for i, start := range []starter{p.product, p.comparison} {
		c, err := start(ctx)
		if err != nil {
			return err
		}
		kib[i], err = residentAfter(c, searches)
		c.stop()
		if err != nil {
			return err
		}
	}
	fmt.Fprintf(w, "%-46s %8.1f MiB %8.1f MiB %10s  at most 1/5: %s\n", fmt.Sprintf("resident memory after %d searches", searches),
		float64(kib[0])/1024, float64(kib[1])/1024, ratio(float64(kib[0]), float64(kib[1])), verdict(kib[0]*5 <= kib[1]))
	return nil
}

func residentAfter(c *client, n int) (int, error) {
	if err := c.initialize(); err != nil {
		return 0, err
	}
	for id := range n {
		if err := c.search(id + 1); err != nil {
			return 0, err
		}
	}
	return c.resident()
}

// added shows what the product adds to a search beyond a bare HTTP call from Go to
// the same fake, the two taking turns. The bare call keeps its connection, which
// the product does not.
func (p *place) added(ctx context.Context, w io.Writer) error {
	c, err := p.product(ctx)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := c.initialize(); err != nil {
		return err
	}
	var bare, whole []time.Duration
	for id := range searches {
		begin := time.Now()
		if err := p.bareCall(ctx); err != nil {
			return err
		}
		middle := time.Now()
		if err := c.search(id + 1); err != nil {
			return err
		}
		bare, whole = append(bare, middle.Sub(begin)), append(whole, time.Since(middle))
	}
	more := median(whole) - median(bare)
	fmt.Fprintf(w, "%-46s %12s %12s %10s  at most 0.5 ms: %s\n", fmt.Sprintf("added to a bare HTTP call (median of %d)", searches),
		ms(more), "", "", verdict(more <= 500*time.Microsecond))
	fmt.Fprintf(w, "%-46s %12s\n%-46s %12s\n", "  a search through MCP", ms(median(whole)), "  a bare HTTP call", ms(median(bare)))
	return nil
}

// bareCall makes the same request as the product with Go's default client.
func (p *place) bareCall(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.fake.URL()+"/v1/context/search",
		bytes.NewReader([]byte(`{"query":"how do we deploy","limit":5}`)))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}

// queue shows how long many searches take with a slow one in flight and without.
func (p *place) queue(ctx context.Context, w io.Writer) error {
	c, err := p.product(ctx)
	if err != nil {
		return err
	}
	defer c.stop()
	if err := c.initialize(); err != nil {
		return err
	}
	free, err := searchTogether(c, parallel)
	if err != nil {
		return err
	}
	gate := fakes.NewGate()
	p.fake.Behave(fakes.When(`"query":"slow"`, gate.Hold))
	defer p.fake.Behave(nil)
	if err := c.ask(1000, "slow"); err != nil {
		return err
	}
	behind, err := searchTogether(c, parallel)
	if err != nil {
		return err
	}
	gate.Open()
	if _, err := c.receive(); err != nil {
		return err
	}
	fmt.Fprintf(w, "%-46s %12s %12s %10s  answered before the slow one: reached\n", fmt.Sprintf("%d searches at once beside a slow one", parallel), ms(behind), "", "")
	fmt.Fprintf(w, "%-46s %12s\n", "  without the slow one", ms(free))
	return nil
}

// searchTogether sends n searches before it reads an answer, and returns the time
// until the last answer.
func searchTogether(c *client, n int) (time.Duration, error) {
	begin := time.Now()
	for id := range n {
		if err := c.ask(id+1, "how do we deploy"); err != nil {
			return 0, err
		}
	}
	for range n {
		if a, err := c.receive(); err != nil || a.ID > n {
			return 0, fmt.Errorf("answer %d out of turn: %v", a.ID, err)
		}
	}
	return time.Since(begin), nil
}
