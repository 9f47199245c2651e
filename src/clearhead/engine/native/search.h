// Beam search, from the sources to the answers, without a way back to Python between the steps. It
// is `decoding/table.py` again, for requests that ask for nothing more than beams; a test holds them
// together, answer by answer.
#pragma once

#include <vector>

#include "transformer.h"

namespace clearhead {

struct SearchSettings {
    int n_beams, n_best, min_length, bos, eos, is_papers_norm;
    double length_power;
};

struct Answer {
    double score;
    bool is_finished;
    std::vector<int32_t> tokens;    // without the end
    std::vector<float> log_probs;  // of the tokens, and of the end if it came
};

using Answers = std::vector<std::vector<Answer>>;  // of each source, the best first

// Searches for n sources, whose tokens stand behind each other. Few are searched together, and all
// threads work on each product. Many are cut into groups, and each thread takes one group after the
// other through the whole search: nobody waits for anybody, and a group fits into the processor's
// cache.
Answers search_all(Transformer& model, const SearchSettings& settings, const int32_t* tokens,
                   const int32_t* lengths, const int32_t* max_lengths, int n);

// The search over the sources of a session.
class Search {
  public:
    // Each source begins with its own token, or all with `settings.bos`.
    Search(Session& session, const SearchSettings& settings, const int32_t* max_lengths, int n,
           const int32_t* begins = nullptr);
    // Takes steps until every source has its answers, and returns them.
    Answers run();

  private:
    struct Row {
        int owner, token;
        double total;
    };
    struct Candidate {
        double total;
        int row, rank;
    };
    struct Step {  // what each row wrote at one position, and which row before it went on
        std::vector<int32_t> parents, tokens;
        std::vector<float> log_probs;
    };
    struct End {
        double score;
        int n_steps, row, token;
        float log_prob;
        bool is_finished;
    };

    void take_step();
    void advance(int owner, int first, int n_rows);
    void end(int owner, int row, int token, double total, float log_prob, bool is_finished);
    double normalised(double log_prob, int length) const;
    Answer answer_of(const End& end) const;

    Session& session_;
    const SearchSettings settings_;
    const std::vector<int32_t> max_lengths_;
    const int n_candidates_;
    std::vector<Row> rows_, next_;
    Step step_;
    std::vector<Step> steps_;
    std::vector<std::vector<End>> ends_;
    std::vector<double> bars_;  // the score that a beginning must be able to beat
    std::vector<Candidate> candidates_;
    std::vector<int32_t> best_;
    std::vector<float> log_probs_;
};

}  // namespace clearhead
