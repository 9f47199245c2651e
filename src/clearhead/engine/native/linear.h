// A linear map with its weights packed for the kernels, in float32 or in bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels.h"
#include "team.h"

namespace clearhead {

enum class Precision : int { float32 = 0, bfloat16 = 1, int8 = 2 };

class Linear {
  public:
    // Rows of w are outputs. The bias is copied; it may be absent.
    Linear(const float* w, int n_out, int n_in, const float* bias, Precision precision) {
        weights_.n_in = n_in;
        weights_.n_out = n_out;
        weights_.n_in_padded = (n_in + 3) / 4 * 4;
        if (bias) bias_.assign(bias, bias + n_out);
        if (precision == Precision::int8) pack_bytes(w);
        if (precision == Precision::bfloat16) pack_in_blocks(w, halves_, to_bfloat16);
        if (precision == Precision::float32) pack_in_blocks(w, floats_, [](float x) { return x; });
        weights_.floats = floats_.data();
        weights_.halves = halves_.data();
        weights_.bias = bias ? bias_.data() : nullptr;
    }
    Linear(const Linear&) = delete;

    int n_in() const { return weights_.n_in; }
    int n_out() const { return weights_.n_out; }
    int n_blocks() const { return (weights_.n_out + kBlock - 1) / kBlock; }
    int64_t n_bytes() const {
        return floats_.size() * sizeof(float) + halves_.size() * sizeof(uint16_t) + bytes_.size() +
               scales_.size() * sizeof(float);
    }

    // y = activation(x Wᵀ + bias); rows of x and y follow each other without a gap.
    void run(const Kernels& kernels, Team& team, const float* x, int n_rows, float* y,
             Activation activation = Activation::none) const {
        if (bytes_.empty()) {
            auto product = halves_.empty() ? kernels.product : kernels.product_bfloat16;
            team.divide(n_blocks(), [&](int begin, int end) {
                product(x, n_in(), n_rows, weights_, begin, end, activation, y, n_out());
            });
            return;
        }
        int width = weights_.n_in_padded;
        quantised_.resize(static_cast<size_t>(n_rows) * width);
        units_.resize(n_rows);
        auto quantise = [&](int begin, int end) {
            for (int m = begin; m < end; ++m)
                units_[m] = kernels.quantise(x + static_cast<int64_t>(m) * n_in(), n_in(),
                                             quantised_.data() + static_cast<int64_t>(m) * width,
                                             width);
        };
        n_rows < 8 ? quantise(0, n_rows) : team.divide(n_rows, quantise);
        team.divide(n_blocks(), [&](int begin, int end) {
            kernels.product_int8(quantised_.data(), width, units_.data(), n_rows, weights_, begin,
                                 end, activation, y, n_out());
        });
    }

  private:
    template <typename Number, typename Convert>
    void pack_in_blocks(const float* w, std::vector<Number>& packed, Convert convert) {
        int n_in = weights_.n_in;
        packed.assign(static_cast<size_t>(n_blocks()) * n_in * kBlock, Number{});
        for (int o = 0; o < weights_.n_out; ++o)
            for (int i = 0; i < n_in; ++i)
                packed[(static_cast<size_t>(o / kBlock) * n_in + i) * kBlock + o % kBlock] =
                    convert(w[static_cast<size_t>(o) * n_in + i]);
    }

    // Round to the nearest number with eight binary digits; of two, to the even one.
    static uint16_t to_bfloat16(float x) {
        uint32_t bits;
        std::memcpy(&bits, &x, sizeof bits);
        return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }

    // Each output has its own unit: its largest weight is 127.
    void pack_bytes(const float* w) {
        int n_in = weights_.n_in, padded = weights_.n_in_padded;
        bytes_.assign(static_cast<size_t>(n_blocks()) * padded * kBlock, 0);
        scales_.assign(static_cast<size_t>(n_blocks()) * kBlock, 0.0f);
        for (int o = 0; o < weights_.n_out; ++o) {
            const float* row = w + static_cast<size_t>(o) * n_in;
            float largest = 0.0f;
            for (int i = 0; i < n_in; ++i) largest = std::fmax(largest, std::fabs(row[i]));
            float unit = largest > 0.0f ? largest / 127.0f : 1.0f;
            scales_[o] = unit;
            int8_t* block = bytes_.data() + static_cast<size_t>(o / kBlock) * padded * kBlock;
            for (int i = 0; i < n_in; ++i)
                block[i / 4 * 4 * kBlock + o % kBlock * 4 + i % 4] =
                    static_cast<int8_t>(std::lround(row[i] / unit));
        }
        weights_.bytes = bytes_.data();
        weights_.scales = scales_.data();
    }

    Weights weights_;
    std::vector<float> floats_, scales_, bias_;
    std::vector<uint16_t> halves_;
    std::vector<int8_t> bytes_;
    // Room for the input in bytes. One model computes one thing at a time.
    mutable std::vector<int8_t> quantised_;
    mutable std::vector<float> units_;
};

}  // namespace clearhead
