// Sentences under way: the encoder reads them, and the decoder goes on, position by position.
#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "transformer.h"

namespace clearhead {

namespace {

constexpr int kMorePlaces = 32;
constexpr int kManyRows = 48;  // whose logits are computed together
constexpr int kSpare = 8;      // more tokens than asked for have their logits computed again

// A token's vector, scaled, and the vector of its place if places have one.
void embed(const Shape& shape, const std::vector<float>& embedding, int token,
           const std::vector<float>& positions, int place, float* x) {
    int64_t d = shape.d_model;
    if (token < 0 || token * d >= static_cast<int64_t>(embedding.size()))
        throw std::runtime_error("a token is outside the vocabulary");
    const float* vector = embedding.data() + token * d;
    for (int j = 0; j < d; ++j) x[j] = vector[j] * shape.embedding_scale;
    if (shape.is_rotary) return;
    const float* position = positions.data() + place * d;
    for (int j = 0; j < d; ++j) x[j] += position[j];
}

// Sixteen sums side by side, always in the same order.
float dot(const float* a, const float* b, int n) {
    float sums[16] = {};
    int i = 0;
    for (; i + 16 <= n; i += 16)
        for (int j = 0; j < 16; ++j) sums[j] += a[i + j] * b[i + j];
    for (; i < n; ++i) sums[0] += a[i] * b[i];
    for (int width = 8; width; width /= 2)
        for (int j = 0; j < width; ++j) sums[j] += sums[j + width];
    return sums[0];
}

void add_to(float* x, const float* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] += y[i];
}

void normalise(const Kernels& kernels, const Shape& shape, const Norm& norm, const float* x,
               int n_rows, float* y) {
    int64_t d = shape.d_model;
    const float *weight = norm.weight.data(), *bias = norm.bias.data();
    for (int64_t at = 0; at < n_rows * d; at += d)
        if (shape.is_rms_norm)
            kernels.rms_norm(x + at, weight, shape.norm_eps, shape.d_model, y + at);
        else
            kernels.layer_norm(x + at, weight, bias, shape.norm_eps, shape.d_model, y + at);
}

// x ← x + part(norm(x)), or norm(x + part(x)); `part` reads its input and writes to `sum`.
template <typename Part>
void residual(const Kernels& kernels, const Shape& shape, const Norm& norm, float* x,
              float* normed, float* sum, int n_rows, Part part) {
    int64_t n = static_cast<int64_t>(n_rows) * shape.d_model;
    if (shape.is_pre_norm) {
        normalise(kernels, shape, norm, x, n_rows, normed);
        part(normed, sum);
        add_to(x, sum, n);
    } else {
        part(x, sum);
        add_to(x, sum, n);
        normalise(kernels, shape, norm, x, n_rows, x);
    }
}

}  // namespace

void Session::add(const int32_t* tokens, const int32_t* lengths, int n_sources) {
    bool is_causal = model_.shape.is_causal;
    int longest = is_causal ? *std::max_element(lengths, lengths + n_sources) : 0;
    std::vector<Source> sources(n_sources);
    if (!is_causal) encode(tokens, lengths, sources);
    std::vector<Row> rows;
    for (Source& source : sources) {
        int slot = take_slot(), row = n_rows() + static_cast<int>(rows.size());
        source.slots = {slot};
        rows.push_back({place_source(std::move(source)), slot, 0, row});
    }
    make_room(n_slots_taken_, longest + kMorePlaces);
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    history_.resize(rows_.size() * n_places_);
    if (is_causal) read_beginnings(tokens, lengths, n_sources);
}

int Session::place_source(Source source) {
    if (free_sources_.empty()) {
        sources_.push_back(std::move(source));
        return static_cast<int>(sources_.size()) - 1;
    }
    int place = free_sources_.back();
    free_sources_.pop_back();
    sources_[place] = std::move(source);
    return place;
}

int Session::take_slot() {
    if (free_slots_.empty()) return n_slots_taken_++;
    int slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

// All tokens of all beginnings in their order, as if they were rows: each reads its own text, of
// which all that comes before it is in the cache by then.
void Session::read_beginnings(const int32_t* tokens, const int32_t* lengths, int n_sources) {
    std::vector<Row> parts;
    for (int i = 0; i < n_sources; ++i) {
        Row& row = rows_[rows_.size() - n_sources + i];
        for (int t = 0; t < lengths[i]; ++t) parts.push_back({row.source, row.slot, t, row.history});
        if (lengths[i] > model_.n_positions_) throw std::runtime_error("the source is too long");
        std::fill_n(history_.begin() + static_cast<int64_t>(row.history) * n_places_, lengths[i],
                    row.slot);
        row.length = lengths[i];
    }
    int n = static_cast<int>(parts.size());
    for (int first = 0; first < n; first += kManyRows)
        decode(tokens + first, parts.data() + first, std::min(kManyRows, n - first));
}

// All sentences behind each other: linear maps see one long table, attention its own sentence.
void Session::encode(const int32_t* tokens, const int32_t* lengths, std::vector<Source>& sources) {
    const Shape& s = model_.shape;
    const Kernels& kernels = model_.kernels;
    int d = s.d_model, n_sources = static_cast<int>(sources.size()), n_tokens = 0, longest = 0;
    std::vector<int> begins, owner, place;
    for (int i = 0; i < n_sources; ++i) {
        begins.push_back(n_tokens);
        for (int t = 0; t < lengths[i]; ++t) owner.push_back(i), place.push_back(t);
        n_tokens += lengths[i];
        longest = std::max(longest, lengths[i]);
    }
    if (longest > model_.n_positions_) throw std::runtime_error("the source is too long");
    int d_q = s.d_q(), d_kv = s.d_kv(), width = d_q + 2 * d_kv;
    float* x = room(worker_.x, static_cast<int64_t>(n_tokens) * d);
    float* normed = room(worker_.normed, static_cast<int64_t>(n_tokens) * d);
    float* sum = room(worker_.sum, static_cast<int64_t>(n_tokens) * d);
    float* qkv = room(worker_.qkv, static_cast<int64_t>(n_tokens) * std::max(width, 2 * d_kv));
    float* heads = room(worker_.heads, static_cast<int64_t>(n_tokens) * d_q);
    for (int n = 0; n < n_tokens; ++n) {
        embed(s, model_.source_embedding_, tokens[n], model_.positions_, place[n],
              x + static_cast<int64_t>(n) * d);
    }
    int per_group = s.n_heads / s.n_kv_heads;
    float unit = 1.0f / std::sqrt(static_cast<float>(s.d_head));
    for (const Block& block : model_.encoder_) {
        residual(kernels, s, block.self_norm, x, normed, sum, n_tokens, [&](const float* in, float* out) {
            block.self.qkv->run(kernels, worker_.team, worker_.bytes, in, n_tokens, qkv);
            worker_.team.divide(n_tokens, [&](int begin, int end) {
                std::vector<float> scores(longest);
                for (int n = begin; n < end; ++n) {
                    const float* first = qkv + static_cast<int64_t>(begins[owner[n]]) * width;
                    for (int h = 0; h < s.n_heads; ++h) {
                        const float* k = first + d_q + h / per_group * s.d_head;
                        kernels.attend(qkv + static_cast<int64_t>(n) * width + h * s.d_head,
                                       s.d_head, unit, lengths[owner[n]], {k, nullptr, 0, width},
                                       {k + d_kv, nullptr, 0, width}, scores.data(),
                                       heads + static_cast<int64_t>(n) * d_q + h * s.d_head);
                    }
                }
            });
            block.self.out->run(kernels, worker_.team, worker_.bytes, heads, n_tokens, out);
        });
        residual(kernels, s, block.feed_forward_norm, x, normed, sum, n_tokens,
                 [&](const float* in, float* out) { feed_forward(block, in, n_tokens, out); });
    }
    if (s.is_pre_norm) normalise(kernels, s, model_.encoder_norm_, x, n_tokens, x);
    for (const Block& block : model_.decoder_) {
        block.cross.kv->run(kernels, worker_.team, worker_.bytes, x, n_tokens, qkv);
        for (int i = 0; i < n_sources; ++i) {
            const float* first = qkv + static_cast<int64_t>(begins[i]) * 2 * d_kv;
            sources[i].n_tokens = lengths[i];
            std::vector<float> own(static_cast<size_t>(lengths[i]) * s.cache_step());
            for (int64_t t = 0; t < lengths[i]; ++t)
                std::copy_n(first + t * 2 * d_kv, 2 * d_kv, own.data() + t * s.cache_step());
            sources[i].keys_values.push_back(std::move(own));
        }
    }
}

// More slots or more positions: what is there moves to where it belongs in the larger room.
void Session::make_room(int n_slots, int n_places) {
    if (n_slots <= n_slots_ && n_places <= n_places_) return;
    n_slots = std::max(n_slots, n_slots_);
    n_places = std::max(n_places, n_places_);
    int64_t step = model_.shape.cache_step();
    int64_t longest = 0;
    for (const Row& row : rows_) longest = std::max<int64_t>(longest, row.length);
    for (auto& cache : caches_) {
        // Not filled with zeros: pages that nobody writes to take no memory.
        std::unique_ptr<float[]> larger(new float[static_cast<size_t>(n_slots) * n_places * step]);
        for (int slot = 0; slot < n_slots_; ++slot)
            std::copy_n(cache.get() + static_cast<int64_t>(slot) * n_places_ * step, longest * step,
                        larger.get() + static_cast<int64_t>(slot) * n_places * step);
        cache.swap(larger);
    }
    if (n_places > n_places_) {
        std::vector<int32_t> longer(rows_.size() * n_places);
        for (size_t row = 0; row < rows_.size(); ++row)
            std::copy_n(history_.data() + row * n_places_, n_places_, longer.data() + row * n_places);
        history_.swap(longer);
    }
    n_slots_ = n_slots;
    n_places_ = n_places;
}

void Session::reorder(const int32_t* parents, int n) {
    std::vector<Row> rows;
    std::vector<int32_t> history(static_cast<size_t>(n) * n_places_);
    std::vector<int> n_used(sources_.size(), 0);
    for (int i = 0; i < n; ++i) {
        const Row& parent = rows_.at(parents[i]);
        auto& slots = sources_[parent.source].slots;
        int place = n_used[parent.source]++;
        if (place == static_cast<int>(slots.size())) slots.push_back(take_slot());
        rows.push_back({parent.source, slots[place], parent.length, i});
        std::copy_n(history_.data() + static_cast<int64_t>(parents[i]) * n_places_, parent.length,
                    history.data() + static_cast<int64_t>(i) * n_places_);
    }
    for (const Row& row : rows_) {
        if (n_used[row.source]++) continue;  // goes on, or was let go already
        auto& slots = sources_[row.source].slots;
        free_slots_.insert(free_slots_.end(), slots.begin(), slots.end());
        free_sources_.push_back(row.source);
        sources_[row.source] = {};
    }
    rows_.swap(rows);
    history_.swap(history);
    make_room(n_slots_taken_, n_places_);
}

void Session::best(const int32_t* tokens, int k, int32_t* best_tokens, float* log_probs) {
    int n_tokens = model_.shape.n_target_tokens;
    if (k < 1 || k > n_tokens) throw std::runtime_error("there are not so many tokens");
    const Kernels& kernels = model_.kernels;
    begin_step();
    for (int64_t first = 0; first < n_rows(); first += kManyRows) {
        int n = std::min<int>(kManyRows, n_rows() - first);
        const float* x = decode(tokens + first, rows_.data() + first, n);
        float* logits = room(worker_.logits, static_cast<int64_t>(n) * n_tokens);
        model_.output_->run(kernels, worker_.team, worker_.bytes, x, n, logits);
        worker_.team.divide(n, [&](int begin, int end) {
            for (int64_t m = begin; m < end; ++m) {
                int32_t* tokens_of = best_tokens + (first + m) * k;
                float* log_probs_of = log_probs + (first + m) * k;
                const float* row = logits + m * n_tokens;
                if (model_.exact_output_)
                    best_exactly(row, x + m * model_.shape.d_model, k, tokens_of, log_probs_of);
                else
                    kernels.best(row, n_tokens, k, tokens_of, log_probs_of);
            }
        });
    }
    end_step();
}

// Logits from bytes say which tokens may be the best; the logits of these few are computed again from
// floats, and their part of the sum of all probabilities with them.
void Session::best_exactly(const float* logits, const float* x, int k, int32_t* tokens,
                           float* log_probs) const {
    int n_tokens = model_.shape.n_target_tokens, d = model_.shape.d_model;
    int n_some = std::min(k + kSpare, n_tokens);
    std::vector<int32_t> some(n_some);
    std::vector<float> rough(n_some);
    model_.kernels.best(logits, n_tokens, n_some, some.data(), rough.data());
    std::vector<std::pair<float, int32_t>> exact;  // negative, so that the largest comes first
    double more = 0.0;
    for (int i = 0; i < n_some; ++i) {
        float logit = dot(model_.exact_output_ + static_cast<int64_t>(some[i]) * d, x, d);
        float log_prob = rough[i] + (logit - logits[some[i]]);
        more += std::exp(static_cast<double>(log_prob)) - std::exp(static_cast<double>(rough[i]));
        exact.push_back({-log_prob, some[i]});
    }
    std::partial_sort(exact.begin(), exact.begin() + k, exact.end());
    float log_total = static_cast<float>(std::log1p(more));
    for (int i = 0; i < k; ++i) {
        tokens[i] = exact[i].second;
        log_probs[i] = -exact[i].first - log_total;
    }
}

void Session::step(const int32_t* tokens, float* logits) {
    begin_step();
    const float* x = decode(tokens, rows_.data(), n_rows());
    model_.output_->run(model_.kernels, worker_.team, worker_.bytes, x, n_rows(), logits);
    end_step();
}

// Make sure that every row can write into its slot.
void Session::begin_step() {
    int longest = 0;
    for (const Row& row : rows_) longest = std::max(longest, row.length + 1);
    if (longest > model_.n_positions_) throw std::runtime_error("the target is too long");
    if (longest > n_places_) make_room(n_slots_, n_places_ + std::max(kMorePlaces, n_places_ / 2));
    for (size_t m = 0; m < rows_.size(); ++m)
        history_[m * n_places_ + rows_[m].length] = rows_[m].slot;
}

void Session::end_step() {
    for (Row& row : rows_) ++row.length;
}

// All of a step but the output, for n rows; returns a vector for each of them. A row reads what it
// has written itself, and what others wrote in earlier steps.
const float* Session::decode(const int32_t* tokens, const Row* rows, int n) {
    const Shape& s = model_.shape;
    const Kernels& kernels = model_.kernels;
    int d = s.d_model;
    float* x = room(worker_.x, static_cast<int64_t>(n) * d);
    float* normed = room(worker_.normed, static_cast<int64_t>(n) * d);
    float* sum = room(worker_.sum, static_cast<int64_t>(n) * d);
    float* qkv = room(worker_.qkv, static_cast<int64_t>(n) * (s.d_q() + 2 * s.d_kv()));
    float* heads = room(worker_.heads, static_cast<int64_t>(n) * s.d_q());
    const auto& embedding =
        model_.target_embedding_.empty() ? model_.source_embedding_ : model_.target_embedding_;
    for (int m = 0; m < n; ++m)
        embed(s, embedding, tokens[m], model_.positions_, rows[m].length,
              x + static_cast<int64_t>(m) * d);
    for (int layer = 0; layer < s.n_decoder_layers; ++layer) {
        const Block& block = model_.decoder_[layer];
        residual(kernels, s, block.self_norm, x, normed, sum, n, [&](const float* in, float* out) {
            block.self.qkv->run(kernels, worker_.team, worker_.bytes, in, n, qkv);
            self_attention(layer, rows, n);
            block.self.out->run(kernels, worker_.team, worker_.bytes, heads, n, out);
        });
        if (!s.is_causal)
            residual(kernels, s, block.cross_norm, x, normed, sum, n,
                     [&](const float* in, float* out) {
                         block.cross.q->run(kernels, worker_.team, worker_.bytes, in, n, qkv);
                         cross_attention(layer, rows, n);
                         block.cross.out->run(kernels, worker_.team, worker_.bytes, heads, n, out);
                     });
        residual(kernels, s, block.feed_forward_norm, x, normed, sum, n,
                 [&](const float* in, float* out) { feed_forward(block, in, n, out); });
    }
    if (s.is_pre_norm) normalise(kernels, s, model_.decoder_norm_, x, n, x);
    return x;
}

// Turn each pair of numbers (i, i + d_head / 2) by the angle of its place.
void Session::turn(float* heads, int n_heads, int place) const {
    int half = model_.shape.d_head / 2;
    const float* cos = model_.positions_.data() + static_cast<int64_t>(place) * 2 * half;
    const float* sin = cos + half;
    for (int h = 0; h < n_heads; ++h, heads += 2 * half)
        for (int i = 0; i < half; ++i) {
            float left = heads[i], right = heads[i + half];
            heads[i] = left * cos[i] - right * sin[i];
            heads[i + half] = right * cos[i] + left * sin[i];
        }
}

void Session::self_attention(int layer, const Row* rows, int n) {
    const Shape& s = model_.shape;
    int d_q = s.d_q(), d_kv = s.d_kv(), width = d_q + 2 * d_kv;
    int per_group = s.n_heads / s.n_kv_heads;
    float unit = 1.0f / std::sqrt(static_cast<float>(s.d_head));
    float* cache = caches_[layer].get();
    float* qkv = worker_.qkv.data();
    float* heads = worker_.heads.data();
    int64_t step = s.cache_step();
    for (int m = 0; m < n; ++m) {
        const Row& row = rows[m];
        if (s.is_rotary)  // queries and keys stand together
            turn(qkv + static_cast<int64_t>(m) * width, s.n_heads + s.n_kv_heads, row.length);
        int64_t at = static_cast<int64_t>(row.slot) * n_places_ + row.length;
        std::copy_n(qkv + static_cast<int64_t>(m) * width + d_q, 2 * d_kv, cache + at * step);
    }
    worker_.team.divide(n * s.n_heads, [&](int begin, int end) {
        std::vector<float> scores(n_places_);
        for (int i = begin; i < end; ++i) {
            int64_t m = i / s.n_heads, h = i % s.n_heads;
            const float* k = cache + h / per_group * s.d_head;
            const int32_t* slots = history_.data() + static_cast<int64_t>(rows[m].history) * n_places_;
            model_.kernels.attend(qkv + m * width + h * s.d_head, s.d_head, unit,
                                  rows[m].length + 1, {k, slots, n_places_, step},
                                  {k + d_kv, slots, n_places_, step}, scores.data(),
                                  heads + m * d_q + h * s.d_head);
        }
    });
}

void Session::cross_attention(int layer, const Row* rows, int n) {
    const Shape& s = model_.shape;
    int d_q = s.d_q(), d_kv = s.d_kv(), per_group = s.n_heads / s.n_kv_heads;
    int64_t step = s.cache_step();
    float unit = 1.0f / std::sqrt(static_cast<float>(s.d_head));
    const float* q = worker_.qkv.data();
    float* heads = worker_.heads.data();
    worker_.team.divide(n * s.n_heads, [&](int begin, int end) {
        std::vector<float> scores;
        for (int i = begin; i < end; ++i) {
            int64_t m = i / s.n_heads, h = i % s.n_heads;
            const Source& source = sources_[rows[m].source];
            const float* k = source.keys_values[layer].data() + h / per_group * s.d_head;
            model_.kernels.attend(q + m * d_q + h * s.d_head, s.d_head, unit, source.n_tokens,
                                  {k, nullptr, 0, step}, {k + d_kv, nullptr, 0, step},
                                  room(scores, source.n_tokens), heads + m * d_q + h * s.d_head);
        }
    });
}

}  // namespace clearhead
