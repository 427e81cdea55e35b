package refprovider

import (
	"context"
	"fmt"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	"github.com/blevesearch/bleve/v2/analysis/lang/en"
	"github.com/blevesearch/bleve/v2/analysis/token/camelcase"
	"github.com/blevesearch/bleve/v2/analysis/token/length"
	"github.com/blevesearch/bleve/v2/analysis/token/lowercase"
	"github.com/blevesearch/bleve/v2/analysis/token/porter"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
)

// The names under which this package's analysis is known to the index.
const (
	wordsAnalyzer = "words"
	partsAnalyzer = "parts"
	bigramFilter  = "cjk_unigrams_and_bigrams"
	letterFilter  = "at_least_two_characters"
)

// bm25 is the index's name for its scoring by term frequency and field length.
const bm25 = "bm25"

// field is one searched field: how its text becomes terms, and its weight.
type field struct {
	name     string
	analyzer string
	boost    float64
}

// fields are what a query is held against. A passage's own heading says best what
// it is about. Each text is read twice, because an identifier may be asked for as
// a whole or by its parts.
func fields() []field {
	return []field{
		{"heading", wordsAnalyzer, 1.5},
		{"headingParts", partsAnalyzer, 1.5},
		{"title", wordsAnalyzer, 0.7},
		{"content", wordsAnalyzer, 1},
		{"contentParts", partsAnalyzer, 0.7},
	}
}

// indexed is a passage as the index sees it.
type indexed struct {
	Heading      string `json:"heading"`
	HeadingParts string `json:"headingParts"`
	Title        string `json:"title"`
	Content      string `json:"content"`
	ContentParts string `json:"contentParts"`
}

// Hit is a passage that a search found.
type Hit struct {
	Passage
	// Score is the passage's BM25 score for the query; higher is better, and only
	// scores of one search compare.
	Score float64
}

// Index finds passages by their words. It is kept in memory.
type Index struct {
	bleve    bleve.Index
	passages map[string]Passage
}

// NewIndex indexes the passages, whose IDs must be unique. Close it after use.
func NewIndex(passages []Passage) (*Index, error) {
	mapping, err := newMapping()
	if err != nil {
		return nil, err
	}
	// Without a path the index has no files. Of bleve's two kinds of index it is
	// this one that knows the field lengths BM25 needs.
	memory, err := bleve.NewUsing("", mapping, scorch.Name, scorch.Name, nil)
	if err != nil {
		return nil, err
	}
	i := &Index{bleve: memory, passages: make(map[string]Passage, len(passages))}
	if err := i.fill(passages); err != nil {
		_ = memory.Close()
		return nil, err
	}
	return i, nil
}

func (i *Index) fill(passages []Passage) error {
	batch := i.bleve.NewBatch()
	for _, p := range passages {
		if _, taken := i.passages[p.ID]; taken {
			return fmt.Errorf("two passages have the ID %q", p.ID)
		}
		i.passages[p.ID] = p
		text := indexed{
			Heading: p.heading, HeadingParts: p.heading, Title: p.Title, Content: p.Content, ContentParts: p.Content,
		}
		if err := batch.Index(p.ID, text); err != nil {
			return err
		}
	}
	return i.bleve.Batch(batch)
}

// newMapping describes two ways of reading a text.
//
// "words" cuts at Unicode word boundaries, drops English stop words and stems. An
// identifier such as ERR_PARCEL_GONE or harbour.retry is one word. Chinese and
// Japanese, which put no blanks between words, become single characters and pairs
// of neighbours, so that a word is found wherever it stands.
//
// "parts" also cuts identifiers at underscores, dots, digits and changes of case,
// so that "parcel gone" finds ERR_PARCEL_GONE and "retry delay" finds retryDelay.
func newMapping() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = bm25
	err := addAnalysis(m)
	if err != nil {
		return nil, err
	}
	passage := bleve.NewDocumentStaticMapping()
	for _, f := range fields() {
		text := bleve.NewTextFieldMapping()
		text.Analyzer = f.analyzer
		text.Store = false
		text.IncludeInAll = false
		text.IncludeTermVectors = false
		passage.AddFieldMappingsAt(f.name, text)
	}
	m.DefaultMapping = passage
	return m, nil
}

func addAnalysis(m *mapping.IndexMappingImpl) error {
	err := m.AddCustomTokenFilter(bigramFilter, map[string]any{"type": cjk.BigramName, "output_unigram": true})
	if err != nil {
		return err
	}
	err = m.AddCustomTokenFilter(letterFilter, map[string]any{"type": length.Name, "min": 2.0, "max": 100.0})
	if err != nil {
		return err
	}
	err = m.AddCustomAnalyzer(wordsAnalyzer, map[string]any{
		"type": custom.Name, "tokenizer": unicode.Name,
		"token_filters": []string{
			en.PossessiveName, cjk.WidthName, lowercase.Name, en.StopName, porter.Name, bigramFilter,
		},
	})
	if err != nil {
		return err
	}
	return m.AddCustomAnalyzer(partsAnalyzer, map[string]any{
		"type": custom.Name, "tokenizer": unicode.Name,
		"token_filters": []string{
			camelcase.Name, lowercase.Name, letterFilter, en.StopName, porter.Name,
		},
	})
}

// Search returns at most limit passages that share a word with the text, the best
// first. It ends early with an error when ctx ends.
func (i *Index) Search(ctx context.Context, text string, limit int) ([]Hit, error) {
	var alternatives []query.Query
	for _, f := range fields() {
		match := bleve.NewMatchQuery(text)
		match.SetField(f.name)
		match.SetBoost(f.boost)
		alternatives = append(alternatives, match)
	}
	request := bleve.NewSearchRequestOptions(bleve.NewDisjunctionQuery(alternatives...), limit, 0, false)
	request.SortBy([]string{"-_score", "_id"}) // equal scores in a fixed order
	result, err := i.bleve.SearchInContext(ctx, request)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, 0, len(result.Hits))
	for _, match := range result.Hits {
		hits = append(hits, Hit{Passage: i.passages[match.ID], Score: match.Score})
	}
	return hits, nil
}

// Close frees the index.
func (i *Index) Close() error { return i.bleve.Close() }
