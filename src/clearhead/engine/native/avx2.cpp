// Processors with AVX2 and FMA: vectors of 8 floats or 32 bytes.
#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#pragma GCC target("avx2,fma")
#include <immintrin.h>

namespace clearhead {

#include "rows.inc"

namespace {

constexpr int kRows = 4;  // rows that share what is read of the weights

inline __m256 load_eight(const float* weights) { return _mm256_loadu_ps(weights); }

inline __m256 load_eight(const uint16_t* weights) {
    __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(weights));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

// Some rows by 16 outputs, two sums to a row; the weights of an input are read once.
template <int n_rows, typename Number>
void block_of_rows(const Number* all, const float* x, int64_t x_step, const Weights& w, int block,
                   Activation activation, float* y, int64_t y_step) {
    const Number* weights = all + static_cast<int64_t>(block) * w.n_in * kBlock;
    __m256 low[n_rows], high[n_rows];
    for (int m = 0; m < n_rows; ++m) low[m] = high[m] = _mm256_setzero_ps();
    for (int i = 0; i < w.n_in; ++i) {
        __m256 w0 = load_eight(weights + i * kBlock);
        __m256 w1 = load_eight(weights + i * kBlock + 8);
        for (int m = 0; m < n_rows; ++m) {
            __m256 xi = _mm256_broadcast_ss(x + m * x_step + i);
            low[m] = _mm256_fmadd_ps(xi, w0, low[m]);
            high[m] = _mm256_fmadd_ps(xi, w1, high[m]);
        }
    }
    for (int m = 0; m < n_rows; ++m) {
        float sums[kBlock];
        _mm256_storeu_ps(sums, low[m]);
        _mm256_storeu_ps(sums + 8, high[m]);
        finish(sums, w, block, activation, y + m * y_step);
    }
}

template <typename Number>
void product_of(const Number* weights, const float* x, int64_t x_step, int n_rows, const Weights& w,
                int begin, int end, Activation activation, float* y, int64_t y_step) {
    for (int block = begin; block < end; ++block) {
        int m = 0;
        for (; m + kRows <= n_rows; m += kRows)
            block_of_rows<kRows>(weights, x + m * x_step, x_step, w, block, activation,
                                 y + m * y_step, y_step);
        for (; m < n_rows; ++m)
            block_of_rows<1>(weights, x + m * x_step, x_step, w, block, activation, y + m * y_step,
                             y_step);
    }
}

void product(const float* x, int64_t x_step, int n_rows, const Weights& w, int begin, int end,
             Activation activation, float* y, int64_t y_step) {
    product_of(w.floats, x, x_step, n_rows, w, begin, end, activation, y, y_step);
}

void product_bfloat16(const float* x, int64_t x_step, int n_rows, const Weights& w, int begin,
                      int end, Activation activation, float* y, int64_t y_step) {
    product_of(w.halves, x, x_step, n_rows, w, begin, end, activation, y, y_step);
}

// Four products of bytes are added to each of 8 sums. AVX2 multiplies bytes only when one side has
// no sign; so the sign of x goes to w. |x|, |w| ≤ 127: two products fit into 16 bits.
inline __m256i add_products(__m256i sums, __m256i x_size, __m256i x, __m256i w) {
    __m256i pairs = _mm256_maddubs_epi16(x_size, _mm256_sign_epi8(w, x));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

template <int n_rows>
void block_of_bytes(const int8_t* q, int64_t q_step, const float* scale, const Weights& w,
                    int block, Activation activation, float* y, int64_t y_step) {
    const int8_t* weights = w.bytes + static_cast<int64_t>(block) * w.n_in_padded * kBlock;
    __m256i low[n_rows], high[n_rows];
    for (int m = 0; m < n_rows; ++m) low[m] = high[m] = _mm256_setzero_si256();
    for (int i = 0; i < w.n_in_padded; i += 4) {
        auto from = reinterpret_cast<const __m256i*>(weights + i * kBlock);
        __m256i w0 = _mm256_loadu_si256(from), w1 = _mm256_loadu_si256(from + 1);
        for (int m = 0; m < n_rows; ++m) {
            int32_t four;
            __builtin_memcpy(&four, q + m * q_step + i, 4);
            __m256i x = _mm256_set1_epi32(four), size = _mm256_abs_epi8(x);
            low[m] = add_products(low[m], size, x, w0);
            high[m] = add_products(high[m], size, x, w1);
        }
    }
    for (int m = 0; m < n_rows; ++m) {
        __m256 unit = _mm256_set1_ps(scale[m]);
        const float* scales = w.scales + block * kBlock;
        float sums[kBlock];
        _mm256_storeu_ps(sums, _mm256_mul_ps(_mm256_cvtepi32_ps(low[m]),
                                             _mm256_mul_ps(unit, _mm256_loadu_ps(scales))));
        _mm256_storeu_ps(sums + 8, _mm256_mul_ps(_mm256_cvtepi32_ps(high[m]),
                                                 _mm256_mul_ps(unit, _mm256_loadu_ps(scales + 8))));
        finish(sums, w, block, activation, y + m * y_step);
    }
}

void product_int8(const int8_t* q, int64_t q_step, const float* scale, int n_rows,
                  const Weights& w, int begin, int end, Activation activation, float* y,
                  int64_t y_step) {
    for (int block = begin; block < end; ++block) {
        int m = 0;
        for (; m + kRows <= n_rows; m += kRows)
            block_of_bytes<kRows>(q + m * q_step, q_step, scale + m, w, block, activation,
                                  y + m * y_step, y_step);
        for (; m < n_rows; ++m)
            block_of_bytes<1>(q + m * q_step, q_step, scale + m, w, block, activation,
                              y + m * y_step, y_step);
    }
}

const Kernels kernels = {"avx2",       product,        product_bfloat16, product_int8,
                         quantise_row, layer_norm_row, attend_row,       best_of_row};

}  // namespace

const Kernels* avx2_kernels() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kernels : nullptr;
}

}  // namespace clearhead

#else
namespace clearhead {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace clearhead
#endif
