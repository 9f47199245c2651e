// Processors with AVX-512 and its products of bytes (VNNI): vectors of 16 floats or 64 bytes.
#include "kernels.h"

#if defined(__x86_64__) && defined(__GNUC__) && __has_include(<avx512vnniintrin.h>)
#if !defined(__clang__)  // GCC 12 warns of its own vectors that are left undefined on purpose
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#if defined(__clang__)
#pragma clang attribute push( \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512vnni,fma")
#endif

namespace clearhead {

namespace {

using Floats = __m512;
constexpr int kLanes = 16;

// 32 registers: at most 16 are sums, so that no sum has to wait for itself.
constexpr int kFloatRows = 8, kHalfRows = 8, kByteRows = 4;
constexpr int float_blocks_for(int n_rows) { return n_rows <= 4 ? 4 : 2; }
constexpr int byte_blocks_for(int) { return 4; }

inline Floats all(float x) { return _mm512_set1_ps(x); }
inline Floats load(const float* from) { return _mm512_loadu_ps(from); }
inline void store(float* to, Floats x) { _mm512_storeu_ps(to, x); }
inline Floats multiply_add(Floats a, Floats b, Floats c) { return _mm512_fmadd_ps(a, b, c); }
inline Floats larger(Floats a, Floats b) { return _mm512_max_ps(a, b); }  // b if one is NaN
inline Floats smaller(Floats a, Floats b) { return _mm512_min_ps(a, b); }
inline float sum_of(Floats x) { return _mm512_reduce_add_ps(x); }

// A bit for each lane that is not at most this, NaN included.
inline uint32_t lanes_above(Floats x, float bound) {
    return _mm512_cmp_ps_mask(x, _mm512_set1_ps(bound), _CMP_NLE_UQ);
}

// Only the first n lanes; the others are zero.
inline __mmask16 lanes_before(int n) { return static_cast<__mmask16>((1u << n) - 1); }
inline Floats first_of(Floats x, int n) { return _mm512_maskz_mov_ps(lanes_before(n), x); }
inline Floats load_some(const float* from, int n) {
    return _mm512_maskz_loadu_ps(lanes_before(n), from);
}
inline void store_some(float* to, Floats x, int n) {
    _mm512_mask_storeu_ps(to, lanes_before(n), x);
}

// Round to the nearest whole numbers, of two to the even one.
inline void store_rounded(int8_t* to, Floats x) {
    __m128i bytes = _mm512_cvtsepi32_epi8(_mm512_cvtps_epi32(x));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes);
}

}  // namespace

#include "rows.inc"

namespace {

// x · w = x · (w + 128) − x · 128. The left side of a product has no sign, and the sum over a row
// is too large by 128 Σ x. Four products are added at full width: nothing can overflow on the way.
using Bytes = __m512i;
using FourInputs = __m512i;

inline FourInputs four_inputs(const int8_t* q) {
    int32_t four;
    __builtin_memcpy(&four, q, sizeof four);
    return _mm512_set1_epi32(four);
}

inline Bytes weight_bytes(const int8_t* from) {
    return _mm512_xor_si512(_mm512_loadu_si512(from), _mm512_set1_epi8(-128));
}

inline Ints add_products(Ints sums, FourInputs x, Bytes w) {
    return reinterpret_cast<Ints>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sums), w, x));
}

inline int32_t beginning_of(const int8_t* q, int n) {
    int32_t sum = 0;
    for (int i = 0; i < n; ++i) sum -= q[i];
    return sum * 128;
}

}  // namespace

#include "products.inc"

namespace {

const Kernels kernels = {
    "avx512",       product,  product_bfloat16, product_int8, finish_int8, quantise,
    layer_norm, rms_norm, gate,             attend,       best,
};

}  // namespace

const Kernels* avx512_kernels() {
    bool is_there = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni") &&
                    __builtin_cpu_supports("fma");
    return is_there ? &kernels : nullptr;
}

}  // namespace clearhead

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
namespace clearhead {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace clearhead
#endif
