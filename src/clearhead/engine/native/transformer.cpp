#include "transformer.h"

#include <stdexcept>

namespace clearhead {

namespace {

Norm norm_at(const Tensors& tensors, const std::string& name, int n) {
    auto weight = tensors.at(name + ".weight", 1, n), bias = tensors.maybe(name + ".bias", 1, n);
    Norm norm = {{weight.data, weight.data + n}, std::vector<float>(n, 0.0f)};
    if (bias.data) norm.bias.assign(bias.data, bias.data + n);
    return norm;
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
    int d = shape.d_model, d_q = shape.d_q(), d_kv = shape.d_kv();
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

void add_feed_forward(Block& block, const Tensors& tensors, const std::string& name,
                      const Shape& shape, Precision precision) {
    int d = shape.d_model, d_ff = shape.d_ff, n_up = shape.is_gated ? 2 * d_ff : d_ff;
    std::string up = name + ".w_1", down = name + ".w_2";
    int n = shape.n_experts;
    if (!n) {
        block.experts.push_back(
            {linear_of(tensors, up + ".weight", up + ".bias", d, n_up, 0, n_up, precision),
             linear_of(tensors, down + ".weight", down + ".bias", d_ff, d, 0, d, precision)});
        return;
    }
    // Rounded numbers could send a token elsewhere, so the router has floats.
    block.router = linear_of(tensors, name + ".w_r.weight", "", d, n, 0, n, Precision::float32);
    for (int e = 0; e < n; ++e)  // their weights stand below one another
        block.experts.push_back(
            {linear_of(tensors, up, "", d, n * n_up, e * n_up, n_up, precision),
             linear_of(tensors, down, "", d_ff, n * d, e * d, d, precision)});
}

Block block_at(const Tensors& tensors, const std::string& name, const Shape& shape,
               bool is_decoder, Precision precision) {
    Block block;
    int d = shape.d_model;
    block.self = attention_at(tensors, name + ".self_attention", shape, true, precision);
    block.self_norm = norm_at(tensors, name + ".self_attention_residual.norm", d);
    if (is_decoder && !shape.is_causal) {
        block.cross = attention_at(tensors, name + ".cross_attention", shape, false, precision);
        block.cross_norm = norm_at(tensors, name + ".cross_attention_residual.norm", d);
    }
    add_feed_forward(block, tensors, name + ".feed_forward", shape, precision);
    block.feed_forward_norm = norm_at(tensors, name + ".feed_forward_residual.norm", d);
    return block;
}

std::vector<float> copy_of(const Tensors::One& tensor) {
    return {tensor.data, tensor.data + static_cast<int64_t>(tensor.n_rows) * tensor.n_columns};
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
        if (!shape.is_causal) encoder_norm_ = norm_at(tensors, "encoder.norm", shape.d_model);
        decoder_norm_ = norm_at(tensors, "decoder.norm", shape.d_model);
    }
    int d = shape.d_model, n_target = shape.n_target_tokens;
    source_embedding_ = copy_of(tensors.at("source_embedding", shape.n_source_tokens, d));
    auto target = tensors.maybe("target_embedding", n_target, d);  // none: that of the source
    if (target.data) target_embedding_ = copy_of(target);
    output_ = linear_of(tensors, "output", "", d, n_target, 0, n_target, precision);
    if (precision == Precision::int8 && shape.is_tied)
        exact_output_ = target_embedding_.empty() ? source_embedding_.data() : target_embedding_.data();
}

void Transformer::set_positions(const float* vectors, int n) {
    positions_.assign(vectors, vectors + static_cast<int64_t>(n) * shape.d_position());
    n_positions_ = n;
}

int64_t Transformer::n_bytes() const {
    int64_t n = output_->n_bytes() + 4 * (source_embedding_.size() + target_embedding_.size());
    for (const auto* stack : {&encoder_, &decoder_})
        for (const auto& block : *stack) {
            for (const auto* linear :
                 {block.self.q.get(), block.self.kv.get(), block.self.qkv.get(), block.self.out.get(),
                  block.cross.q.get(), block.cross.kv.get(), block.cross.out.get(),
                  block.router.get()})
                if (linear) n += linear->n_bytes();
            for (const auto& expert : block.experts)
                n += expert.up->n_bytes() + expert.down->n_bytes();
        }
    return n;
}

}  // namespace clearhead
