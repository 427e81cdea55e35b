package refprovider

import (
	"context"
	"testing"
)

// newSampleIndex indexes the sample corpus.
func newSampleIndex(t *testing.T) *Index {
	t.Helper()
	passages, err := LoadFolder("../sample")
	if err != nil {
		t.Fatal(err)
	}
	return newTestIndex(t, passages)
}

func newTestIndex(t *testing.T, passages []Passage) *Index {
	t.Helper()
	index, err := NewIndex(passages)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = index.Close() })
	return index
}

func TestQuestionsFindTheSectionThatAnswersThem(t *testing.T) {
	index := newSampleIndex(t)
	for _, test := range []struct{ question, first string }{
		{"How do I roll back a bad deploy?", "deploy.md#rolling-back"},
		{"The projector is lagging, what should I do first?", "runbook.md#projectorlaghigh"},
		{"How long do we keep names and addresses?", "retention.md#how-long-we-keep-what"},
		{"rotate a leaked signing key", "security.md#rotating-a-carriers-signing-key"},
		{"Which lock timeout does a migration have, and may it create an index?", "migrations.md#locks"},
		{"Why were statuses late on 28 November?", "incident-2025-11-28.md#summary"},
		{"carrier notes that look like instructions", "carriers.md#carrier-notes-are-untrusted-text"},
		// Identifiers, as a whole, by their parts, and in another case.
		{"ERR_RATE_LIMITED", "api-errors.md#err_rate_limited"},
		{"err_rate_limited", "api-errors.md#err_rate_limited"},
		{"carrier timeout", "api-errors.md#err_carrier_timeout"},
		{"createSubscription", "api-errors.md#err_rate_limited"},
		{"projector lag high", "runbook.md#projectorlaghigh"},
		// Japanese and Chinese: a word, one character, a word inside a longer one.
		{"追跡番号", "glossary.md#tracking-number"},
		{"再配達はどうしますか", "glossary.md#redelivery"},
		{"关", "glossary.md#customs-clearance"},
		{"コンビニ", "glossary.md#convenience-store-pickup"},
		{"ｺﾝﾋﾞﾆ", "glossary.md#convenience-store-pickup"},
		{"号码", "glossary.md#tracking-number"},
	} {
		hits, err := index.Search(context.Background(), test.question, 5)
		if err != nil {
			t.Fatal(err)
		}
		if len(hits) == 0 || hits[0].ID != test.first {
			t.Errorf("%q finds %v first, want %s", test.question, hitIDs(hits), test.first)
		}
	}
}

func hitIDs(hits []Hit) []string {
	var all []string
	for _, hit := range hits {
		all = append(all, hit.ID)
	}
	return all
}

func TestAQuestionWithoutASharedWordFindsNothing(t *testing.T) {
	index := newSampleIndex(t)
	for _, question := range []string{"xylophone", "the and how", "?!"} {
		hits, err := index.Search(context.Background(), question, 5)
		if err != nil || hits == nil || len(hits) != 0 {
			t.Errorf("%q finds %v, %v; want an empty list", question, hitIDs(hits), err)
		}
	}
}

func TestNoMoreThanTheLimitIsFoundBestFirst(t *testing.T) {
	index := newSampleIndex(t)
	for _, limit := range []int{1, 2, 5} {
		hits, err := index.Search(context.Background(), "harbourctl parcel events", limit)
		if err != nil || len(hits) != limit {
			t.Fatalf("limit %d: %d hits, %v", limit, len(hits), err)
		}
		for i := 1; i < len(hits); i++ {
			if hits[i].Score > hits[i-1].Score {
				t.Errorf("hit %d scores more than the one before", i)
			}
		}
	}
}

func TestASearchEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if hits, err := newSampleIndex(t).Search(ctx, "deploy", 5); err == nil {
		t.Errorf("a cancelled search found %v", hitIDs(hits))
	}
}

func TestIDsMustBeUnique(t *testing.T) {
	if _, err := NewIndex([]Passage{{ID: "a", Content: "x"}, {ID: "a", Content: "y"}}); err == nil {
		t.Error("NewIndex accepted one ID twice")
	}
}

func TestAnEmptyFolderFindsNothing(t *testing.T) {
	hits, err := newTestIndex(t, nil).Search(context.Background(), "deploy", 5)
	if err != nil || len(hits) != 0 {
		t.Errorf("found %v, %v", hitIDs(hits), err)
	}
}
