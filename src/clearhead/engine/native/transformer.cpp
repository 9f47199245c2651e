#include "transformer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

namespace clearhead {

namespace {

constexpr float kEps = 1e-5f;
constexpr int kMorePlaces = 32;
constexpr int kManyRows = 48;  // whose logits are computed together

Norm norm_at(const Tensors& tensors, const std::string& name, int n) {
    auto weight = tensors.at(name + ".weight", 1, n), bias = tensors.at(name + ".bias", 1, n);
    return {{weight.data, weight.data + n}, {bias.data, bias.data + n}};
}

// A linear map from n_in to n_out numbers. Its weights are n_out rows of a tensor that has n_all,
// from `first` on.
std::unique_ptr<Linear> linear_of(const Tensors& tensors, const std::string& weight,
                                  const std::string& bias, int n_in, int n_all, int first, int n_out,
                                  Precision precision) {
    auto w = tensors.at(weight, n_all, n_in);
    auto b = bias.empty() ? Tensors::One{} : tensors.maybe(bias, 1, n_all);
    return std::make_unique<Linear>(w.data + static_cast<int64_t>(first) * n_in, n_out, n_in,
                                    b.data ? b.data + first : nullptr, precision);
}

Attention attention_at(const Tensors& tensors, const std::string& name, const Shape& shape,
                       bool is_self, Precision precision) {
    Attention a;
    int d = shape.d_model, d_q = shape.n_heads * shape.d_head(), d_kv = shape.d_kv();
    std::string w = name + ".w_qkv", b = name + ".b_qkv";
    auto part = [&](int first, int n) {
        return linear_of(tensors, w, b, d, d_q + 2 * d_kv, first, n, precision);
    };
    if (is_self) {
        a.qkv = part(0, d_q + 2 * d_kv);
    } else {
        a.q = part(0, d_q);
        a.kv = part(d_q, 2 * d_kv);
    }
    a.out = linear_of(tensors, name + ".w_o.weight", name + ".w_o.bias", d_q, d, 0, d, precision);
    return a;
}

Block block_at(const Tensors& tensors, const std::string& name, const Shape& shape,
               bool is_decoder, Precision precision) {
    Block block;
    int d = shape.d_model;
    block.self = attention_at(tensors, name + ".self_attention", shape, true, precision);
    block.self_norm = norm_at(tensors, name + ".self_attention_residual.norm", d);
    if (is_decoder) {
        block.cross = attention_at(tensors, name + ".cross_attention", shape, false, precision);
        block.cross_norm = norm_at(tensors, name + ".cross_attention_residual.norm", d);
    }
    std::string up = name + ".feed_forward.w_1", down = name + ".feed_forward.w_2";
    int d_ff = shape.d_ff;
    block.up = linear_of(tensors, up + ".weight", up + ".bias", d, d_ff, 0, d_ff, precision);
    block.down = linear_of(tensors, down + ".weight", down + ".bias", d_ff, d, 0, d, precision);
    block.feed_forward_norm = norm_at(tensors, name + ".feed_forward_residual.norm", d);
    return block;
}

std::vector<float> copy_of(const Tensors::One& tensor) {
    return {tensor.data, tensor.data + static_cast<int64_t>(tensor.n_rows) * tensor.n_columns};
}

// Where a vector of the right size is: as large as asked for, its old content of no interest.
float* room(std::vector<float>& v, int64_t n) {
    if (static_cast<int64_t>(v.size()) < n) v.resize(n);
    return v.data();
}

// A token's vector, scaled by √d, and the vector of its place.
void embed(const std::vector<float>& embedding, int token, const std::vector<float>& positions,
           int place, int d, float* x) {
    const float* vector = embedding.data() + static_cast<int64_t>(token) * d;
    const float* position = positions.data() + static_cast<int64_t>(place) * d;
    float scale = std::sqrt(static_cast<float>(d));
    for (int j = 0; j < d; ++j) x[j] = vector[j] * scale + position[j];
}

void add_to(float* x, const float* y, int64_t n) {
    for (int64_t i = 0; i < n; ++i) x[i] += y[i];
}

// x ← x + part(norm(x)), or norm(x + part(x)); `part` reads its input and writes to `sum`.
template <typename Part>
void residual(const Kernels& kernels, const Shape& shape, const Norm& norm, float* x,
              float* normed, float* sum, int n_rows, Part part) {
    int d = shape.d_model;
    auto normalise = [&](const float* from, float* to) {
        for (int m = 0; m < n_rows; ++m)
            kernels.layer_norm(from + static_cast<int64_t>(m) * d, norm.weight.data(),
                               norm.bias.data(), kEps, d, to + static_cast<int64_t>(m) * d);
    };
    if (shape.is_pre_norm) {
        normalise(x, normed);
        part(normed, sum);
        add_to(x, sum, static_cast<int64_t>(n_rows) * d);
    } else {
        part(x, sum);
        add_to(x, sum, static_cast<int64_t>(n_rows) * d);
        normalise(x, x);
    }
}

}  // namespace

Tensors::One Tensors::maybe(const std::string& name, int n_rows, int n_columns) const {
    One found = {};
    if (!fetch(name.c_str(), &found.data, &found.n_rows, &found.n_columns)) return {};
    if (found.n_rows != n_rows || found.n_columns != n_columns)
        throw std::runtime_error("the weight " + name + " has " + std::to_string(found.n_rows) +
                                 " × " + std::to_string(found.n_columns) + " numbers, not " +
                                 std::to_string(n_rows) + " × " + std::to_string(n_columns));
    return found;
}

Tensors::One Tensors::at(const std::string& name, int n_rows, int n_columns) const {
    One found = maybe(name, n_rows, n_columns);
    if (!found.data) throw std::runtime_error("the weight " + name + " is missing");
    return found;
}

Transformer::Transformer(const Shape& s, const Tensors& tensors, Precision precision, int n_threads,
                         const Kernels* k)
    : shape(s), kernels(*k), worker(n_threads) {
    for (int i = 0; i < shape.n_encoder_layers; ++i)
        encoder_.push_back(
            block_at(tensors, "encoder.blocks." + std::to_string(i), shape, false, precision));
    for (int i = 0; i < shape.n_decoder_layers; ++i)
        decoder_.push_back(
            block_at(tensors, "decoder.blocks." + std::to_string(i), shape, true, precision));
    if (shape.is_pre_norm) {
        encoder_norm_ = norm_at(tensors, "encoder.norm", shape.d_model);
        decoder_norm_ = norm_at(tensors, "decoder.norm", shape.d_model);
    }
    int d = shape.d_model, n_target = shape.n_target_tokens;
    source_embedding_ = copy_of(tensors.at("source_embedding", shape.n_source_tokens, d));
    auto target = tensors.maybe("target_embedding", n_target, d);  // none: that of the source
    if (target.data) target_embedding_ = copy_of(target);
    output_ = linear_of(tensors, "output", "", d, n_target, 0, n_target, precision);
}

void Transformer::set_positions(const float* vectors, int n) {
    positions_.assign(vectors, vectors + static_cast<int64_t>(n) * shape.d_model);
    n_positions_ = n;
}

int64_t Transformer::n_bytes() const {
    int64_t n = output_->n_bytes() + 4 * (source_embedding_.size() + target_embedding_.size());
    for (const auto* stack : {&encoder_, &decoder_})
        for (const auto& block : *stack)
            for (const auto* linear :
                 {block.self.q.get(), block.self.kv.get(), block.self.qkv.get(), block.self.out.get(),
                  block.cross.q.get(), block.cross.kv.get(), block.cross.out.get(), block.up.get(),
                  block.down.get()})
                if (linear) n += linear->n_bytes();
    return n;
}

Session::Session(Transformer& model, Worker& worker, const int32_t* tokens, const int32_t* lengths,
                 int n_sources)
    : model_(model), worker_(worker), caches_(model.shape.n_decoder_layers) {
    encode(tokens, lengths, n_sources);
    make_room(n_sources, kMorePlaces);
    for (int i = 0; i < n_sources; ++i) {
        sources_[i].slots = {i};
        rows_.push_back({i, i, 0});
    }
    history_.resize(static_cast<size_t>(n_sources) * n_places_);
}

// All sentences behind each other: linear maps see one long table, attention its own sentence.
void Session::encode(const int32_t* tokens, const int32_t* lengths, int n_sources) {
    const Shape& s = model_.shape;
    const Kernels& kernels = model_.kernels;
    int d = s.d_model, n_tokens = 0, longest = 0;
    std::vector<int> begins, owner, place;
    for (int i = 0; i < n_sources; ++i) {
        begins.push_back(n_tokens);
        for (int t = 0; t < lengths[i]; ++t) owner.push_back(i), place.push_back(t);
        n_tokens += lengths[i];
        longest = std::max(longest, lengths[i]);
    }
    if (longest > model_.n_positions_) throw std::runtime_error("the source is too long");
    int d_q = s.n_heads * s.d_head(), d_kv = s.d_kv(), width = d_q + 2 * d_kv;
    float* x = room(worker_.x, static_cast<int64_t>(n_tokens) * d);
    float* normed = room(worker_.normed, static_cast<int64_t>(n_tokens) * d);
    float* sum = room(worker_.sum, static_cast<int64_t>(n_tokens) * d);
    float* qkv = room(worker_.qkv, static_cast<int64_t>(n_tokens) * std::max(width, 2 * d_kv));
    float* heads = room(worker_.heads, static_cast<int64_t>(n_tokens) * d_q);
    float* hidden = room(worker_.hidden, static_cast<int64_t>(n_tokens) * s.d_ff);
    for (int n = 0; n < n_tokens; ++n) {
        embed(model_.source_embedding_, tokens[n], model_.positions_, place[n], d,
              x + static_cast<int64_t>(n) * d);
    }
    int per_group = s.n_heads / s.n_kv_heads;
    float unit = 1.0f / std::sqrt(static_cast<float>(s.d_head()));
    for (const Block& block : model_.encoder_) {
        residual(kernels, s, block.self_norm, x, normed, sum, n_tokens, [&](const float* in, float* out) {
            block.self.qkv->run(kernels, worker_.team, worker_.bytes, in, n_tokens, qkv);
            worker_.team.divide(n_tokens, [&](int begin, int end) {
                std::vector<float> scores(longest);
                for (int n = begin; n < end; ++n) {
                    const float* first = qkv + static_cast<int64_t>(begins[owner[n]]) * width;
                    for (int h = 0; h < s.n_heads; ++h) {
                        const float* k = first + d_q + h / per_group * s.d_head();
                        kernels.attend(qkv + static_cast<int64_t>(n) * width + h * s.d_head(),
                                       s.d_head(), unit, lengths[owner[n]], {k, nullptr, 0, width},
                                       {k + d_kv, nullptr, 0, width}, scores.data(),
                                       heads + static_cast<int64_t>(n) * d_q + h * s.d_head());
                    }
                }
            });
            block.self.out->run(kernels, worker_.team, worker_.bytes, heads, n_tokens, out);
        });
        residual(kernels, s, block.feed_forward_norm, x, normed, sum, n_tokens,
                 [&](const float* in, float* out) {
                     block.up->run(kernels, worker_.team, worker_.bytes, in, n_tokens, hidden,
                                   static_cast<Activation>(s.activation));
                     block.down->run(kernels, worker_.team, worker_.bytes, hidden, n_tokens, out);
                 });
    }
    if (s.is_pre_norm)
        for (int n = 0; n < n_tokens; ++n)
            kernels.layer_norm(x + static_cast<int64_t>(n) * d, model_.encoder_norm_.weight.data(),
                               model_.encoder_norm_.bias.data(), kEps, d, x + static_cast<int64_t>(n) * d);
    sources_.resize(n_sources);
    for (const Block& block : model_.decoder_) {
        block.cross.kv->run(kernels, worker_.team, worker_.bytes, x, n_tokens, qkv);
        for (int i = 0; i < n_sources; ++i) {
            const float* first = qkv + static_cast<int64_t>(begins[i]) * 2 * d_kv;
            sources_[i].n_tokens = lengths[i];
            std::vector<float> own(static_cast<size_t>(lengths[i]) * s.cache_step());
            for (int64_t t = 0; t < lengths[i]; ++t)
                std::copy_n(first + t * 2 * d_kv, 2 * d_kv, own.data() + t * s.cache_step());
            sources_[i].keys_values.push_back(std::move(own));
        }
    }
}

// More slots or more positions: what is there moves to where it belongs in the larger room.
void Session::make_room(int n_slots, int n_places) {
    if (n_slots <= n_slots_ && n_places <= n_places_) return;
    n_slots = std::max(n_slots, n_slots_);
    n_places = std::max(n_places, n_places_);
    int64_t step = model_.shape.cache_step();
    for (auto& cache : caches_) {
        // Not filled with zeros: pages that nobody writes to take no memory.
        std::unique_ptr<float[]> larger(new float[static_cast<size_t>(n_slots) * n_places * step]);
        for (int slot = 0; slot < n_slots_; ++slot)
            std::copy_n(cache.get() + static_cast<int64_t>(slot) * n_places_ * step, length() * step,
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
    int n_slots = n_slots_;
    for (int i = 0; i < n; ++i) {
        const Row& parent = rows_.at(parents[i]);
        auto& slots = sources_[parent.source].slots;
        int place = n_used[parent.source]++;
        if (place == static_cast<int>(slots.size())) slots.push_back(n_slots++);
        rows.push_back({parent.source, slots[place], parent.length});
        std::copy_n(history_.data() + static_cast<int64_t>(parents[i]) * n_places_, parent.length,
                    history.data() + static_cast<int64_t>(i) * n_places_);
    }
    rows_.swap(rows);
    history_.swap(history);
    make_room(n_slots, n_places_);
}

void Session::best(const int32_t* tokens, int k, int32_t* best_tokens, float* log_probs) {
    int n_tokens = model_.shape.n_target_tokens;
    if (k < 1 || k > n_tokens) throw std::runtime_error("there are not so many tokens");
    const Kernels& kernels = model_.kernels;
    begin_step();
    for (int64_t first = 0; first < n_rows(); first += kManyRows) {
        int n = std::min<int>(kManyRows, n_rows() - first);
        const float* x = decode(tokens, first, n);
        float* logits = room(worker_.logits, static_cast<int64_t>(n) * n_tokens);
        model_.output_->run(kernels, worker_.team, worker_.bytes, x, n, logits);
        worker_.team.divide(n, [&](int begin, int end) {
            for (int64_t m = begin; m < end; ++m)
                kernels.best(logits + m * n_tokens, n_tokens, k, best_tokens + (first + m) * k,
                             log_probs + (first + m) * k);
        });
    }
    end_step();
}

void Session::step(const int32_t* tokens, float* logits) {
    begin_step();
    const float* x = decode(tokens, 0, n_rows());
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

// All of a step but the output, for n rows from `first` on; returns a vector for each of them. A row
// reads what it has written itself, and what others wrote in earlier steps.
const float* Session::decode(const int32_t* tokens, int first, int n) {
    const Shape& s = model_.shape;
    const Kernels& kernels = model_.kernels;
    int d = s.d_model, d_q = s.n_heads * s.d_head();
    float* x = room(worker_.x, static_cast<int64_t>(n) * d);
    float* normed = room(worker_.normed, static_cast<int64_t>(n) * d);
    float* sum = room(worker_.sum, static_cast<int64_t>(n) * d);
    float* qkv = room(worker_.qkv, static_cast<int64_t>(n) * (d_q + 2 * s.d_kv()));
    float* heads = room(worker_.heads, static_cast<int64_t>(n) * d_q);
    float* hidden = room(worker_.hidden, static_cast<int64_t>(n) * s.d_ff);
    const auto& embedding =
        model_.target_embedding_.empty() ? model_.source_embedding_ : model_.target_embedding_;
    for (int m = 0; m < n; ++m)
        embed(embedding, tokens[first + m], model_.positions_, rows_[first + m].length, d,
              x + static_cast<int64_t>(m) * d);
    for (int layer = 0; layer < s.n_decoder_layers; ++layer) {
        const Block& block = model_.decoder_[layer];
        residual(kernels, s, block.self_norm, x, normed, sum, n, [&](const float* in, float* out) {
            block.self.qkv->run(kernels, worker_.team, worker_.bytes, in, n, qkv);
            self_attention(layer, first, n);
            block.self.out->run(kernels, worker_.team, worker_.bytes, heads, n, out);
        });
        residual(kernels, s, block.cross_norm, x, normed, sum, n, [&](const float* in, float* out) {
            block.cross.q->run(kernels, worker_.team, worker_.bytes, in, n, qkv);
            cross_attention(layer, first, n);
            block.cross.out->run(kernels, worker_.team, worker_.bytes, heads, n, out);
        });
        residual(kernels, s, block.feed_forward_norm, x, normed, sum, n,
                 [&](const float* in, float* out) {
                     block.up->run(kernels, worker_.team, worker_.bytes, in, n, hidden,
                                   static_cast<Activation>(s.activation));
                     block.down->run(kernels, worker_.team, worker_.bytes, hidden, n, out);
                 });
    }
    if (s.is_pre_norm)
        for (int m = 0; m < n; ++m)
            kernels.layer_norm(x + static_cast<int64_t>(m) * d, model_.decoder_norm_.weight.data(),
                               model_.decoder_norm_.bias.data(), kEps, d, x + static_cast<int64_t>(m) * d);
    return x;
}

void Session::self_attention(int layer, int first, int n) {
    const Shape& s = model_.shape;
    int d_q = s.n_heads * s.d_head(), d_kv = s.d_kv(), width = d_q + 2 * d_kv;
    int per_group = s.n_heads / s.n_kv_heads;
    float unit = 1.0f / std::sqrt(static_cast<float>(s.d_head()));
    float* cache = caches_[layer].get();
    const float* qkv = worker_.qkv.data();
    float* heads = worker_.heads.data();
    int64_t step = s.cache_step();
    for (int m = 0; m < n; ++m) {
        const Row& row = rows_[first + m];
        int64_t at = static_cast<int64_t>(row.slot) * n_places_ + row.length;
        std::copy_n(qkv + static_cast<int64_t>(m) * width + d_q, 2 * d_kv, cache + at * step);
    }
    worker_.team.divide(n * s.n_heads, [&](int begin, int end) {
        std::vector<float> scores(n_places_);
        for (int i = begin; i < end; ++i) {
            int64_t m = i / s.n_heads, h = i % s.n_heads;
            const float* k = cache + h / per_group * s.d_head();
            const int32_t* slots = history_.data() + (first + m) * n_places_;
            model_.kernels.attend(qkv + m * width + h * s.d_head(), s.d_head(), unit,
                                  rows_[first + m].length + 1, {k, slots, n_places_, step},
                                  {k + d_kv, slots, n_places_, step}, scores.data(),
                                  heads + m * d_q + h * s.d_head());
        }
    });
}

void Session::cross_attention(int layer, int first, int n) {
    const Shape& s = model_.shape;
    int d_q = s.n_heads * s.d_head(), d_kv = s.d_kv(), per_group = s.n_heads / s.n_kv_heads;
    int64_t step = s.cache_step();
    float unit = 1.0f / std::sqrt(static_cast<float>(s.d_head()));
    const float* q = worker_.qkv.data();
    float* heads = worker_.heads.data();
    worker_.team.divide(n * s.n_heads, [&](int begin, int end) {
        std::vector<float> scores;
        for (int i = begin; i < end; ++i) {
            int64_t m = i / s.n_heads, h = i % s.n_heads;
            const Source& source = sources_[rows_[first + m].source];
            const float* k = source.keys_values[layer].data() + h / per_group * s.d_head();
            model_.kernels.attend(q + m * d_q + h * s.d_head(), s.d_head(), unit, source.n_tokens,
                                  {k, nullptr, 0, step}, {k + d_kv, nullptr, 0, step},
                                  room(scores, source.n_tokens), heads + m * d_q + h * s.d_head());
        }
    });
}

}  // namespace clearhead
