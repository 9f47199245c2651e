// The kernels: what the engine computes with, once for each kind of processor.
//
// A kernel works on one row at a time, or on several rows that do not mix: the result of a row
// never depends on its neighbours, so a sentence has the same answer in every batch. Products of
// bytes give the same bits on every processor; sums of floats are added in another order.
#pragma once

#include <cstdint>

namespace clearhead {

// Outputs of a product that stand side by side in memory: one vector of 16 numbers, or two of 8.
constexpr int kBlock = 16;

enum class Activation : int { none = 0, relu = 1, gelu = 2, gelu_tanh = 3 };

// A matrix W of (n_out, n_in) whose rows are taken in blocks of 16, see `linear.h`.
//   float32   block, input, 16 outputs
//   bfloat16  block, two inputs, 16 outputs × 2 inputs; the upper half of a float32
//   int8      block, four inputs, 16 outputs × 4 inputs; a row's numbers times its scale are W
// Where there is no further input or output, there are zeros.
struct Weights {
    int n_in = 0;
    int n_out = 0;
    int n_in_padded = 0;  // int8: a multiple of 4
    const float* floats = nullptr;
    const uint16_t* halves = nullptr;
    const int8_t* bytes = nullptr;
    const float* scales = nullptr;  // for whole blocks
    const float* bias = nullptr;    // for whole blocks; zeros if W has none
};

// Where the keys or values of one head are: position i is at start + (row[i] · n_places + i) · step.
// Without `row` all positions belong to one sequence, and n_places does not matter.
struct Places {
    const float* start;
    const int32_t* row;
    int64_t n_places;
    int64_t step;

    const float* at(int i) const {
        int64_t first = row ? row[i] * n_places : 0;
        return start + (first + i) * step;
    }
};

struct Kernels {
    const char* name;

    // y[m, begin..end) = activation(x[m] Wᵀ + bias) for n_rows rows; begin and end count blocks.
    void (*product)(const float* x, int64_t x_step, int n_rows, const Weights& w, int begin,
                    int end, Activation activation, float* y, int64_t y_step);

    // The same with weights in bfloat16; sums are float32.
    void (*product_bfloat16)(const float* x, int64_t x_step, int n_rows, const Weights& w,
                             int begin, int end, Activation activation, float* y, int64_t y_step);

    // The same from rows of bytes; row m is q[m] · scale[m].
    void (*product_int8)(const int8_t* q, int64_t q_step, const float* scale, int n_rows,
                         const Weights& w, int begin, int end, Activation activation, float* y,
                         int64_t y_step);

    // The end of such a product, for one block: 16 sums of each row become its outputs.
    void (*finish_int8)(const int32_t* sums, const float* scale, int n_rows, const Weights& w,
                        int block, Activation activation, float* y, int64_t y_step);

    // Round a row to bytes from −127 to 127; return what one of them is worth.
    float (*quantise)(const float* x, int n, int8_t* q, int n_padded);

    // (x − mean) / √(variance + eps) · weight + bias; y may be x.
    void (*layer_norm)(const float* x, const float* weight, const float* bias, float eps, int n,
                       float* y);

    // x / √(mean of x² + eps) · weight; y may be x.
    void (*rms_norm)(const float* x, const float* weight, float eps, int n, float* y);

    // y[i] = swish(x[i]) · x[n + i], where swish(x) = x / (1 + exp(−x)); y may be x.
    void (*gate)(const float* x, int n, float* y);

    // Σ softmax(q · k_i · scale) v_i over n positions; `scores` is room for n numbers.
    void (*attend)(const float* q, int d_head, float scale, int n, const Places& keys,
                   const Places& values, float* scores, float* out);

    // The k largest of n logits, the largest first, as log-probabilities; of equal ones the first.
    void (*best)(const float* logits, int n, int k, int32_t* tokens, float* log_probs);
};

// nullptr if this build or this processor has no such thing.
const Kernels* amx_kernels();
const Kernels* avx512_kernels();
const Kernels* avx2_kernels();
const Kernels* plain_kernels();

// The best of this machine, or those of a name; nullptr if there are none.
const Kernels* find_kernels(const char* name);

}  // namespace clearhead
