#include "search.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>

namespace clearhead {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kFewRows = 16, kGroupRows = 32;  // for one thread

Answers search_all(Transformer& model, const SearchSettings& settings, const int32_t* tokens,
                   const int32_t* lengths, const int32_t* max_lengths, int n) {
    // A decoder by itself goes on from the last token of each source.
    std::vector<int32_t> begins, read, n_read(lengths, lengths + n);
    if (model.shape.is_causal) {
        for (int i = 0; i < n; tokens += lengths[i++]) {
            if (lengths[i] < 1) throw std::runtime_error("a source holds no token");
            read.insert(read.end(), tokens, tokens + --n_read[i]);
            begins.push_back(tokens[n_read[i]]);
        }
        tokens = read.data();
    }
    auto search = [&](Worker& worker, const int32_t* first_token, int first, int n_some) {
        Session session(model, worker, first_token, n_read.data() + first, n_some);
        const int32_t* own = begins.empty() ? nullptr : begins.data() + first;
        return Search(session, settings, max_lengths + first, n_some, own).run();
    };
    int n_threads = model.worker.team.size(), n_rows = n * settings.n_beams;
    int n_groups = std::min(n, n_threads * std::max(1, n_rows / (n_threads * kGroupRows)));
    if (n_rows < kFewRows * n_threads || n_groups < n_threads)
        return search(model.worker, tokens, 0, n);
    std::vector<int64_t> places(n + 1, 0);
    for (int i = 0; i < n; ++i) places[i + 1] = places[i] + n_read[i];
    Answers answers(n);
    std::exception_ptr error;
    std::mutex mutex;
    std::atomic<int64_t> next{0};
    model.worker.team.divide(n_threads, [&](int, int) {
        thread_local Worker alone(1);
        try {
            for (int64_t group; (group = next++) < n_groups;) {
                int first = static_cast<int>(n * group / n_groups);
                int last = static_cast<int>(n * (group + 1) / n_groups);
                Answers found = search(alone, tokens + places[first], first, last - first);
                std::move(found.begin(), found.end(), answers.begin() + first);
            }
        } catch (...) {  // one thread cannot throw for another
            std::lock_guard<std::mutex> lock(mutex);
            error = std::current_exception();
        }
    });
    if (error) std::rethrow_exception(error);
    return answers;
}

Search::Search(Session& session, const SearchSettings& settings, const int32_t* max_lengths, int n,
               const int32_t* begins)
    : session_(session),
      settings_(settings),
      max_lengths_(max_lengths, max_lengths + n),
      // At most one candidate of a row is the end; greedy search may take it.
      n_candidates_(std::min(settings.n_beams + (settings.n_beams + settings.min_length > 1),
                             session.n_tokens())),
      ends_(n),
      bars_(n, -kInfinity) {
    for (int owner = 0; owner < n; ++owner)
        rows_.push_back({owner, begins ? begins[owner] : settings.bos, 0.0});
}

Answers Search::run() {
    while (!rows_.empty()) take_step();
    Answers answers;
    for (auto& ends : ends_) {
        std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
            return a.is_finished != b.is_finished ? a.is_finished : a.score > b.score;
        });
        answers.emplace_back();
        size_t n = std::min<size_t>(ends.size(), settings_.n_best);
        for (size_t i = 0; i < n; ++i) answers.back().push_back(answer_of(ends[i]));
    }
    return answers;
}

void Search::take_step() {
    int n = static_cast<int>(rows_.size());
    std::vector<int32_t> newest;
    for (const Row& row : rows_) newest.push_back(row.token);
    best_.resize(static_cast<size_t>(n) * n_candidates_);
    log_probs_.resize(best_.size());
    session_.best(newest.data(), n_candidates_, best_.data(), log_probs_.data());
    next_.clear();
    step_ = {};
    for (int first = 0, last = 0; first < n; first = last) {
        while (last < n && rows_[last].owner == rows_[first].owner) ++last;
        advance(rows_[first].owner, first, last - first);
    }
    bool is_same = next_.size() == rows_.size();
    for (size_t i = 0; is_same && i < next_.size(); ++i)
        is_same = step_.parents[i] == static_cast<int32_t>(i);
    if (!is_same && !next_.empty())
        session_.reorder(step_.parents.data(), static_cast<int>(next_.size()));
    rows_.swap(next_);
    steps_.push_back(std::move(step_));
}

// Rank the candidates of one source. Ends among the first `n_beams` are answers; the first
// `n_beams` others go on, if they may be written on and can still win.
void Search::advance(int owner, int first, int n_rows) {
    int length = static_cast<int>(steps_.size()) + 1, n_beams = settings_.n_beams;
    candidates_.clear();
    for (int row = first; row < first + n_rows; ++row)
        for (int rank = 0; rank < n_candidates_; ++rank) {
            size_t at = static_cast<size_t>(row) * n_candidates_ + rank;
            if (length <= settings_.min_length && best_[at] == settings_.eos) continue;
            double total = rows_[row].total + log_probs_[at];
            if (total > -kInfinity) candidates_.push_back({total, row, rank});
        }
    size_t n_ranked = std::min(candidates_.size(), static_cast<size_t>(2) * n_beams);
    std::partial_sort(candidates_.begin(), candidates_.begin() + n_ranked, candidates_.end(),
                      [](const Candidate& a, const Candidate& b) {
                          if (a.total != b.total) return a.total > b.total;
                          return a.row != b.row ? a.row < b.row : a.rank < b.rank;
                      });
    std::vector<const Candidate*> live;
    for (size_t place = 0; place < n_ranked; ++place) {
        const Candidate& c = candidates_[place];
        size_t at = static_cast<size_t>(c.row) * n_candidates_ + c.rank;
        if (best_[at] != settings_.eos) {
            if (static_cast<int>(live.size()) < n_beams) live.push_back(&c);
        } else if (static_cast<int>(place) < n_beams) {
            end(owner, c.row, best_[at], c.total, log_probs_[at], true);
        }
    }
    bool is_full = length >= max_lengths_[owner];
    for (const Candidate* c : live) {
        size_t at = static_cast<size_t>(c->row) * n_candidates_ + c->rank;
        if (is_full) {
            end(owner, c->row, best_[at], c->total, log_probs_[at], false);
        } else if (normalised(c->total, max_lengths_[owner] + 1) > bars_[owner]) {
            next_.push_back({owner, best_[at], c->total});
            step_.parents.push_back(c->row);
            step_.tokens.push_back(best_[at]);
            step_.log_probs.push_back(log_probs_[at]);
        }
    }
}

void Search::end(int owner, int row, int token, double total, float log_prob, bool is_finished) {
    int n_steps = static_cast<int>(steps_.size());
    auto& ends = ends_[owner];
    ends.push_back({normalised(total, n_steps + 1), n_steps, row, token, log_prob, is_finished});
    size_t n_wanted = std::min(settings_.n_best, settings_.n_beams);
    if (settings_.n_beams == 1) {
        bars_[owner] = kInfinity;  // greedy: what ends is the answer
    } else if (ends.size() >= n_wanted) {
        std::vector<double> scores;
        for (const End& one : ends) scores.push_back(one.score);
        std::nth_element(scores.begin(), scores.begin() + (n_wanted - 1), scores.end(),
                         std::greater<double>());
        bars_[owner] = scores[n_wanted - 1];
    }
}

double Search::normalised(double log_prob, int length) const {
    double base = settings_.is_papers_norm ? (5.0 + length) / 6.0 : length;
    return log_prob / std::pow(base, settings_.length_power);
}

Answer Search::answer_of(const End& end) const {
    Answer answer{end.score, end.is_finished, {}, {}};
    int row = end.row;
    for (int i = end.n_steps - 1; i >= 0; --i) {
        answer.tokens.push_back(steps_[i].tokens[row]);
        answer.log_probs.push_back(steps_[i].log_probs[row]);
        row = steps_[i].parents[row];
    }
    std::reverse(answer.tokens.begin(), answer.tokens.end());
    std::reverse(answer.log_probs.begin(), answer.log_probs.end());
    if (end.token != settings_.eos) answer.tokens.push_back(end.token);
    answer.log_probs.push_back(end.log_prob);
    return answer;
}

}  // namespace clearhead
