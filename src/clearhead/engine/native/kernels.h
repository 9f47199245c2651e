// The kernels: what the engine computes with, once for each kind of processor.
//
// A kernel works on one row at a time, or on several rows that do not mix: the result of a row
// never depends on its neighbours, so a sentence has the same answer in every batch.
#pragma once

#include <cstdint>

namespace clearhead {

// Outputs of a product that stand side by side in memory: one vector of 16 numbers, or two of 8.
constexpr int kBlock = 16;

enum class Activation : int { none = 0, relu = 1, gelu = 2 };

// A matrix W of (n_out, n_in) whose rows are taken in blocks of 16, see `linear.h`.
//   float32   block, input, 16 outputs
//   bfloat16  the same; the upper half of a float32
//   int8      block, four inputs, 16 outputs × 4 inputs; a row's numbers times its scale are W
struct Weights {
    int n_in = 0;
    int n_out = 0;
    int n_in_padded = 0;  // int8: a multiple of 4
    const float* floats = nullptr;
    const uint16_t* halves = nullptr;
    const int8_t* bytes = nullptr;
    const float* scales = nullptr;
    const float* bias = nullptr;  // may be absent
};

// Where the keys or values of one head are: position i is at start + (row[i] · n_places + i) · step.
// Without `row` all positions belong to one sequence, and n_places does not matter.
struct Places {
    const float* start;
    const int32_t* row;
    int64_t n_places;
    int64_t step;
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

    // Round a row to bytes from −127 to 127; return what one of them is worth.
    float (*quantise)(const float* x, int n, int8_t* q, int n_padded);

    // (x − mean) / √(variance + eps) · weight + bias
    void (*layer_norm)(const float* x, const float* weight, const float* bias, float eps, int n,
                       float* y);

    // Σ softmax(q · k_i · scale) v_i over n positions; `scores` is room for n numbers.
    void (*attend)(const float* q, int d_head, float scale, int n, const Places& keys,
                   const Places& values, float* scores, float* out);

    // The k largest of n logits, the largest first, as log-probabilities; of equal ones the first.
    void (*best)(const float* logits, int n, int k, int32_t* tokens, float* log_probs);
};

const Kernels* plain_kernels();
const Kernels* avx2_kernels();  // nullptr if this build or this processor has no such thing

}  // namespace clearhead
