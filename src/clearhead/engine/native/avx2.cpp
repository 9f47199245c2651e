// Processors with AVX2 and FMA: vectors of 8 floats or 32 bytes.
#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif

namespace clearhead {

namespace {

using Floats = __m256;
constexpr int kLanes = 8;

// 16 registers: 8 to 12 are sums, the others are for weights, inputs and products on the way.
constexpr int kFloatRows = 6, kHalfRows = 5, kByteRows = 2;
constexpr int float_blocks_for(int n_rows) { return n_rows == 1 ? 4 : n_rows == 2 ? 2 : 1; }
constexpr int byte_blocks_for(int) { return 2; }

inline Floats all(float x) { return _mm256_set1_ps(x); }
inline Floats load(const float* from) { return _mm256_loadu_ps(from); }
inline void store(float* to, Floats x) { _mm256_storeu_ps(to, x); }
inline Floats multiply_add(Floats a, Floats b, Floats c) { return _mm256_fmadd_ps(a, b, c); }
inline Floats larger(Floats a, Floats b) { return _mm256_max_ps(a, b); }  // b if one is NaN
inline Floats smaller(Floats a, Floats b) { return _mm256_min_ps(a, b); }

// Lanes before n are all ones.
inline __m256i lanes_before(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// Only the first n lanes; the others are zero.
inline Floats first_of(Floats x, int n) {
    return n == kLanes ? x : _mm256_and_ps(x, _mm256_castsi256_ps(lanes_before(n)));
}
inline Floats load_some(const float* from, int n) {
    return n == kLanes ? load(from) : _mm256_maskload_ps(from, lanes_before(n));
}
inline void store_some(float* to, Floats x, int n) {
    float lanes[kLanes];
    if (n == kLanes) return store(to, x);
    store(lanes, x);
    __builtin_memcpy(to, lanes, n * sizeof(float));
}

// Round to the nearest whole numbers, of two to the even one.
inline void store_rounded(int8_t* to, Floats x) {
    __m256i whole = _mm256_cvtps_epi32(x);
    __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(whole),
                                    _mm256_extracti128_si256(whole, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packs_epi16(words, words));
}

inline float sum_of(Floats x) {
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// A bit for each lane that is not at most this, NaN included.
inline uint32_t lanes_above(Floats x, float bound) {
    return _mm256_movemask_ps(_mm256_cmp_ps(x, _mm256_set1_ps(bound), _CMP_NLE_UQ));
}

}  // namespace

#include "rows.inc"

namespace {

// x · w = |x| · ±w. Where x is negative, all bits of w are turned over instead, which is −w − 1:
// the sum over a row misses Σ |x| of its negative x. |x| ≤ 127, so two products fit into 16 bits.
using Bytes = __m256i;

struct FourInputs {
    Bytes size, sign;
};

inline FourInputs four_inputs(const int8_t* q) {
    int32_t four;
    __builtin_memcpy(&four, q, sizeof four);
    Bytes x = _mm256_set1_epi32(four);
    return {_mm256_abs_epi8(x), _mm256_cmpgt_epi8(_mm256_setzero_si256(), x)};
}

inline Bytes weight_bytes(const int8_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

inline Ints add_products(Ints sums, FourInputs x, Bytes w) {
    Bytes pairs = _mm256_maddubs_epi16(x.size, _mm256_xor_si256(w, x.sign));
    return sums + reinterpret_cast<Ints>(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

inline int32_t beginning_of(const int8_t* q, int n) {
    const Bytes zero = _mm256_setzero_si256();
    Bytes sums = zero;
    int i = 0;
    for (; i + 32 <= n; i += 32) {
        Bytes negative = _mm256_sub_epi8(zero, _mm256_min_epi8(weight_bytes(q + i), zero));
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(negative, zero));
    }
    int64_t parts[4];
    __builtin_memcpy(parts, &sums, sizeof parts);
    int64_t sum = parts[0] + parts[1] + parts[2] + parts[3];
    for (; i < n; ++i) sum -= q[i] < 0 ? q[i] : 0;
    return static_cast<int32_t>(sum);
}

}  // namespace

#include "products.inc"

namespace {

const Kernels kernels = {
    "avx2",       product,  product_bfloat16, product_int8, finish_int8, quantise,
    layer_norm, rms_norm, gate,             attend,       best,
};

}  // namespace

const Kernels* avx2_kernels() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kernels : nullptr;
}

}  // namespace clearhead

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
namespace clearhead {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace clearhead
#endif
