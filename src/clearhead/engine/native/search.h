// Beam search, from the sources to the answers, without a way back to Python between the steps. It
// is `decoding/table.py` again, for requests that ask for nothing more than beams; a test holds them
// together, answer by answer.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <vector>

#include "transformer.h"

namespace clearhead {

struct SearchSettings {
    int n_beams, n_best, min_length, bos, eos, is_papers_norm;
    double length_power;
    int n_threads;  // for many sources, of which each thread takes its own
};

struct Answer {
    double score;
    bool is_finished;
    std::vector<int32_t> tokens;    // without the end
    std::vector<float> log_probs;  // of the tokens, and of the end if it came
};

using Answers = std::vector<std::vector<Answer>>;  // of each source, the best first

// Searches for n sources, whose tokens stand behind each other. Few are searched together, and all
// threads work on each product. Of many, each thread takes some through the search by itself: nobody
// waits for anybody, and their rows fit into the processor's cache. Where sources are done, it takes
// the next ones, so that products always have many rows.
Answers search_all(Transformer& model, const SearchSettings& settings, const int32_t* tokens,
                   const int32_t* lengths, const int32_t* max_lengths, int n);

// Sources that wait to be searched; several threads may take them.
class Queue {
  public:
    Queue(const int32_t* tokens, const int32_t* lengths, const int32_t* max_lengths, int n,
          bool is_causal);
    // The next n, or as many as are left: the first of them, and how many.
    std::pair<int, int> take(int n);
    const int32_t* tokens(int source) const { return tokens_ + places_[source]; }
    const int32_t* lengths(int source) const { return lengths_.data() + source; }
    int max_length(int source) const { return max_lengths_[source]; }
    // What a source begins with: its own last token, where a decoder stands by itself.
    int begin(int source, int bos) const { return begins_.empty() ? bos : begins_[source]; }

  private:
    const int32_t *tokens_, *max_lengths_;
    std::vector<int32_t> lengths_, begins_, read_;
    std::vector<int64_t> places_;
    std::atomic<int> next_{0};
};

// One thread's search, or that of all threads together: at most `n_together` sources at a time.
class Search {
  public:
    Search(Transformer& model, Worker& worker, const SearchSettings& settings, Queue& queue,
           int n_together, Answers& answers);
    // Takes steps until no source is left, and writes the answers of each to its place.
    void run();

  private:
    struct End {
        double score;
        int n_steps, row, token;
        float log_prob;
        bool is_finished;
    };
    struct Owner {  // a source that is being searched
        int source, max_length;
        int begin;                // the step that was its first
        double bar;               // the score that a beginning must be able to beat
        std::vector<End> ends;
    };
    struct Row {
        Owner* owner;
        int token;
        double total;
    };
    struct Candidate {
        double total;
        int row, rank;
    };
    struct Step {  // what each row wrote, and which row before it went on
        std::vector<int32_t> parents, tokens;
        std::vector<float> log_probs;
    };

    void take_sources();
    void take_step();
    void advance(Owner& owner, int first, int n_rows);
    void end(Owner& owner, int row, int token, double total, float log_prob, bool is_finished);
    void finish(Owner& owner);
    int n_steps() const { return n_forgotten_ + static_cast<int>(steps_.size()); }
    double normalised(double log_prob, int length) const;
    Answer answer_of(const Owner& owner, const End& end) const;

    Session session_;
    const SearchSettings settings_;
    Queue& queue_;
    Answers& answers_;
    const int n_together_, n_candidates_;
    std::map<int, Owner> owners_;  // by source: those that came first stand first
    std::vector<Row> rows_, next_;
    Step step_;
    std::deque<Step> steps_;  // as far back as an owner needs them
    int n_forgotten_ = 0;
    std::vector<Candidate> candidates_;
    std::vector<int32_t> best_;
    std::vector<float> log_probs_;
};

}  // namespace clearhead
