// The reference: every kernel in plain C++, for any processor, and to compare the others with.
#include "kernels.h"

namespace clearhead {

#include "rows.inc"

namespace {

void product(const float* x, int64_t x_step, int n_rows, const Weights& w, int begin, int end,
             Activation activation, float* y, int64_t y_step) {
    for (int block = begin; block < end; ++block) {
        const float* weights = w.floats + static_cast<int64_t>(block) * w.n_in * kBlock;
        for (int m = 0; m < n_rows; ++m) {
            float sums[kBlock] = {};
            for (int i = 0; i < w.n_in; ++i)
                for (int j = 0; j < kBlock; ++j)
                    sums[j] += x[m * x_step + i] * weights[i * kBlock + j];
            finish(sums, w, block, activation, y + m * y_step);
        }
    }
}

void product_bfloat16(const float* x, int64_t x_step, int n_rows, const Weights& w, int begin,
                      int end, Activation activation, float* y, int64_t y_step) {
    for (int block = begin; block < end; ++block) {
        const uint16_t* weights = w.halves + static_cast<int64_t>(block) * w.n_in * kBlock;
        for (int m = 0; m < n_rows; ++m) {
            float sums[kBlock] = {};
            for (int i = 0; i < w.n_in; ++i)
                for (int j = 0; j < kBlock; ++j)
                    sums[j] += x[m * x_step + i] * from_bfloat16(weights[i * kBlock + j]);
            finish(sums, w, block, activation, y + m * y_step);
        }
    }
}

void product_int8(const int8_t* q, int64_t q_step, const float* scale, int n_rows,
                  const Weights& w, int begin, int end, Activation activation, float* y,
                  int64_t y_step) {
    for (int block = begin; block < end; ++block) {
        const int8_t* weights = w.bytes + static_cast<int64_t>(block) * w.n_in_padded * kBlock;
        for (int m = 0; m < n_rows; ++m) {
            int32_t counts[kBlock] = {};
            for (int i = 0; i < w.n_in_padded; i += 4)
                for (int j = 0; j < kBlock; ++j)
                    for (int part = 0; part < 4; ++part)
                        counts[j] += q[m * q_step + i + part] * weights[i * kBlock + j * 4 + part];
            float sums[kBlock];
            for (int j = 0; j < kBlock; ++j)
                sums[j] = counts[j] * (scale[m] * w.scales[block * kBlock + j]);
            finish(sums, w, block, activation, y + m * y_step);
        }
    }
}

const Kernels kernels = {"plain",        product,        product_bfloat16, product_int8,
                         quantise_row,   layer_norm_row, attend_row,       best_of_row};

}  // namespace

const Kernels* plain_kernels() { return &kernels; }

}  // namespace clearhead
