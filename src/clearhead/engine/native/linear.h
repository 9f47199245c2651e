// A linear map with its weights packed for the kernels, in float32, bfloat16 or bytes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels.h"
#include "team.h"

namespace clearhead {

enum class Precision : int { float32 = 0, bfloat16 = 1, int8 = 2 };

// The input of a product in bytes, row by row, and what one of them is worth.
struct ByteRows {
    std::vector<int8_t> bytes;
    std::vector<float> units;
};

class Linear {
  public:
    // Rows of w are outputs. The bias is copied; it may be absent.
    Linear(const float* w, int n_out, int n_in, const float* bias, Precision precision) {
        weights_.n_in = n_in;
        weights_.n_out = n_out;
        weights_.n_in_padded = (n_in + 3) / 4 * 4;
        bias_.assign(static_cast<size_t>(n_blocks()) * kBlock, 0.0f);
        if (bias) std::copy_n(bias, n_out, bias_.begin());
        if (precision == Precision::int8) pack_bytes(w);
        if (precision == Precision::bfloat16) pack(w, 2, halves_, to_bfloat16);
        if (precision == Precision::float32) pack(w, 1, floats_, [](float x) { return x; });
        weights_.floats = floats_.data();
        weights_.halves = halves_.data();
        weights_.bias = bias_.data();
    }
    Linear(const Linear&) = delete;

    int n_in() const { return weights_.n_in; }
    int n_out() const { return weights_.n_out; }
    const Weights& weights() const { return weights_; }
    int n_blocks() const { return (weights_.n_out + kBlock - 1) / kBlock; }
    int64_t n_bytes() const {
        return floats_.size() * sizeof(float) + halves_.size() * sizeof(uint16_t) + bytes_.size() +
               scales_.size() * sizeof(float);
    }

    // y = activation(x Wᵀ + bias); rows of x and y follow each other without a gap.
    void run(const Kernels& kernels, Team& team, ByteRows& inputs, const float* x, int n_rows,
             float* y, Activation activation = Activation::none) const {
        if (bytes_.empty()) {
            auto product = halves_.empty() ? kernels.product : kernels.product_bfloat16;
            team.divide(n_blocks(), [&](int begin, int end) {
                product(x, n_in(), n_rows, weights_, begin, end, activation, y, n_out());
            });
            return;
        }
        int width = weights_.n_in_padded;
        inputs.bytes.resize(static_cast<size_t>(n_rows) * width);
        inputs.units.resize(n_rows);
        int8_t* bytes = inputs.bytes.data();
        float* units = inputs.units.data();
        auto quantise = [&](int begin, int end) {
            for (int64_t m = begin; m < end; ++m)
                units[m] = kernels.quantise(x + m * n_in(), n_in(), bytes + m * width, width);
        };
        n_rows < 8 ? quantise(0, n_rows) : team.divide(n_rows, quantise);
        team.divide(n_blocks(), [&](int begin, int end) {
            kernels.product_int8(bytes, width, units, n_rows, weights_, begin, end, activation, y,
                                 n_out());
        });
    }

  private:
    // Block, some inputs, 16 outputs × these inputs; see `Weights`.
    template <typename Number, typename Convert>
    void pack(const float* w, int n_parts, std::vector<Number>& packed, Convert convert) {
        int n_in = weights_.n_in, padded = (n_in + n_parts - 1) / n_parts * n_parts;
        packed.assign(static_cast<size_t>(n_blocks()) * padded * kBlock, Number{});
        for (int o = 0; o < weights_.n_out; ++o) {
            Number* block = packed.data() + static_cast<size_t>(o / kBlock) * padded * kBlock;
            for (int i = 0; i < n_in; ++i)
                block[(i / n_parts * kBlock + o % kBlock) * n_parts + i % n_parts] =
                    convert(w[static_cast<size_t>(o) * n_in + i]);
        }
    }

    // Round to the nearest number with eight binary digits; of two, to the even one.
    static uint16_t to_bfloat16(float x) {
        uint32_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }

    // Each output has its own unit: its largest weight is 127.
    void pack_bytes(const float* w) {
        const Kernels& kernels = *find_kernels("");
        int n_in = weights_.n_in, padded = weights_.n_in_padded;
        bytes_.assign(static_cast<size_t>(n_blocks()) * padded * kBlock, 0);
        scales_.assign(static_cast<size_t>(n_blocks()) * kBlock, 0.0f);
        std::vector<int8_t> row(padded);
        for (int o = 0; o < weights_.n_out; ++o) {
            scales_[o] =
                kernels.quantise(w + static_cast<size_t>(o) * n_in, n_in, row.data(), padded);
            int8_t* block = bytes_.data() + static_cast<size_t>(o / kBlock) * padded * kBlock;
            for (int i = 0; i < padded; i += 4)
                std::copy_n(row.data() + i, 4, block + i * kBlock + o % kBlock * 4);
        }
        weights_.bytes = bytes_.data();
        weights_.scales = scales_.data();
    }

    Weights weights_;
    std::vector<float> floats_, scales_, bias_;
    std::vector<uint16_t> halves_;
    std::vector<int8_t> bytes_;
};

}  // namespace clearhead
