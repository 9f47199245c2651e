#include "search.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>

namespace clearhead {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int kFewRows = 16, kManyRows = 48;  // for one thread
constexpr int kRefill = 4;  // new sources come when a fourth of the places is free

Answers search_all(Transformer& model, const SearchSettings& settings, const int32_t* tokens,
                   const int32_t* lengths, const int32_t* max_lengths, int n) {
    Queue queue(tokens, lengths, max_lengths, n, model.shape.is_causal);
    Answers answers(n);
    int n_threads = std::max(1, settings.n_threads);
    if (n * settings.n_beams < kFewRows * n_threads || n < n_threads) {
        Search(model, model.worker, settings, queue, n, answers).run();
        return answers;
    }
    int n_together = std::min((n + n_threads - 1) / n_threads,
                              std::max(1, kManyRows / settings.n_beams));
    std::exception_ptr error;
    std::mutex mutex;
    model.team_of(n_threads).divide(n_threads, [&](int, int) {
        thread_local Worker alone(1);
        try {
            Search(model, alone, settings, queue, n_together, answers).run();
        } catch (...) {  // one thread cannot throw for another
            std::lock_guard<std::mutex> lock(mutex);
            error = std::current_exception();
        }
    });
    if (error) std::rethrow_exception(error);
    return answers;
}

Queue::Queue(const int32_t* tokens, const int32_t* lengths, const int32_t* max_lengths, int n,
             bool is_causal)
    : tokens_(tokens), max_lengths_(max_lengths), lengths_(lengths, lengths + n), places_(n + 1, 0) {
    if (is_causal) {  // a decoder by itself reads all but the last token, and goes on from that
        for (int i = 0; i < n; tokens += lengths[i++]) {
            if (lengths[i] < 1) throw std::runtime_error("a source holds no token");
            read_.insert(read_.end(), tokens, tokens + --lengths_[i]);
            begins_.push_back(tokens[lengths_[i]]);
        }
        tokens_ = read_.data();
    }
    for (int i = 0; i < n; ++i) places_[i + 1] = places_[i] + lengths_[i];
}

std::pair<int, int> Queue::take(int n) {
    int all = static_cast<int>(lengths_.size());
    int first = std::min(all, next_.fetch_add(n));
    return {first, std::min(n, all - first)};
}

Search::Search(Transformer& model, Worker& worker, const SearchSettings& settings, Queue& queue,
               int n_together, Answers& answers)
    : session_(model, worker),
      settings_(settings),
      queue_(queue),
      answers_(answers),
      n_together_(n_together),
      // At most one candidate of a row is the end; greedy search may take it.
      n_candidates_(std::min(settings.n_beams + (settings.n_beams + settings.min_length > 1),
                             session_.n_tokens())) {}

void Search::run() {
    for (take_sources(); !rows_.empty(); take_sources()) take_step();
}

// Fill up with new sources, several at a time: the encoder likes many tokens, too.
void Search::take_sources() {
    int n_rows = static_cast<int>(rows_.size()), n_beams = settings_.n_beams;
    int n_free = n_together_ - (n_rows + n_beams - 1) / n_beams;
    if (n_free < (n_together_ + kRefill - 1) / kRefill) return;
    auto [first, n] = queue_.take(n_free);
    if (n == 0) return;
    session_.add(queue_.tokens(first), queue_.lengths(first), n);
    for (int source = first; source < first + n; ++source) {
        Owner owner{source, queue_.max_length(source), n_steps(), -kInfinity, {}};
        Owner& kept = owners_.emplace(source, std::move(owner)).first->second;
        rows_.push_back({&kept, queue_.begin(source, settings_.bos), 0.0});
    }
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
        Owner& owner = *rows_[first].owner;
        while (last < n && rows_[last].owner == &owner) ++last;
        size_t n_before = next_.size();
        advance(owner, first, last - first);
        if (next_.size() == n_before) finish(owner);
    }
    bool is_same = next_.size() == rows_.size();
    for (size_t i = 0; is_same && i < next_.size(); ++i)
        is_same = step_.parents[i] == static_cast<int32_t>(i);
    if (!is_same) session_.reorder(step_.parents.data(), static_cast<int>(next_.size()));
    rows_.swap(next_);
    steps_.push_back(std::move(step_));
    int first_needed = owners_.empty() ? n_steps() : owners_.begin()->second.begin;
    for (; n_forgotten_ < first_needed; ++n_forgotten_) steps_.pop_front();
}

// Rank the candidates of one source. Ends among the first `n_beams` are answers; the first
// `n_beams` others go on, if they may be written on and can still win.
void Search::advance(Owner& owner, int first, int n_rows) {
    int length = n_steps() - owner.begin + 1, n_beams = settings_.n_beams;
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
    bool is_full = length >= owner.max_length;
    for (const Candidate* c : live) {
        size_t at = static_cast<size_t>(c->row) * n_candidates_ + c->rank;
        if (is_full) {
            end(owner, c->row, best_[at], c->total, log_probs_[at], false);
        } else if (normalised(c->total, owner.max_length + 1) > owner.bar) {
            next_.push_back({&owner, best_[at], c->total});
            step_.parents.push_back(c->row);
            step_.tokens.push_back(best_[at]);
            step_.log_probs.push_back(log_probs_[at]);
        }
    }
}

void Search::end(Owner& owner, int row, int token, double total, float log_prob,
                 bool is_finished) {
    double score = normalised(total, n_steps() - owner.begin + 1);
    owner.ends.push_back({score, n_steps(), row, token, log_prob, is_finished});
    size_t n_wanted = std::min(settings_.n_best, settings_.n_beams);
    if (settings_.n_beams == 1) {
        owner.bar = kInfinity;  // greedy: what ends is the answer
    } else if (owner.ends.size() >= n_wanted) {
        std::vector<double> scores;
        for (const End& one : owner.ends) scores.push_back(one.score);
        std::nth_element(scores.begin(), scores.begin() + (n_wanted - 1), scores.end(),
                         std::greater<double>());
        owner.bar = scores[n_wanted - 1];
    }
}

// Nothing goes on: write down the best answers, and forget the source.
void Search::finish(Owner& owner) {
    auto& ends = owner.ends;
    std::stable_sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
        return a.is_finished != b.is_finished ? a.is_finished : a.score > b.score;
    });
    size_t n = std::min<size_t>(ends.size(), settings_.n_best);
    for (size_t i = 0; i < n; ++i) answers_[owner.source].push_back(answer_of(owner, ends[i]));
    owners_.erase(owner.source);
}

double Search::normalised(double log_prob, int length) const {
    double base = settings_.is_papers_norm ? (5.0 + length) / 6.0 : length;
    return log_prob / std::pow(base, settings_.length_power);
}

Answer Search::answer_of(const Owner& owner, const End& end) const {
    Answer answer{end.score, end.is_finished, {}, {}};
    int row = end.row;
    for (int i = end.n_steps - 1; i >= owner.begin; --i) {
        const Step& step = steps_[i - n_forgotten_];
        answer.tokens.push_back(step.tokens[row]);
        answer.log_probs.push_back(step.log_probs[row]);
        row = step.parents[row];
    }
    std::reverse(answer.tokens.begin(), answer.tokens.end());
    std::reverse(answer.log_probs.begin(), answer.log_probs.end());
    if (end.token != settings_.eos) answer.tokens.push_back(end.token);
    answer.log_probs.push_back(end.log_prob);
    return answer;
}

}  // namespace clearhead
