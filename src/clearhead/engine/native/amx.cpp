// Processors with AMX: tiles of 16 rows × 64 bytes, for products of bytes with many rows. All else
// is as with AVX-512. Tiles of bfloat16 are not used: they round the inputs too, and a row alone
// would have another answer than a row among many.
#include "kernels.h"

// GCC and Clang keep what is needed in files of different names; older ones have neither.
#if defined(__x86_64__) && defined(__linux__) && \
    (__has_include(<amxint8intrin.h>) || __has_include(<amxintrin.h>))
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("amx-tile,amx-int8"))), apply_to = function)
#else
#pragma GCC target("amx-tile,amx-int8")
#endif

namespace clearhead {

namespace {

constexpr int kTileRows = 16, kTileInputs = 64, kTileSize = kTileRows * kTileInputs;

// What the processor is told: eight tiles, all of the full size.
struct alignas(64) Shapes {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t n_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t n_rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
const Shapes kShapes;

// The compiler does not know that the tiles read memory: what was written has to be there.
inline void settle() { asm volatile("" ::: "memory"); }

// A row of tiles: 16 rows of inputs, or a block of weights. One tile is at `start`, the next is
// `next` bytes on, and its rows are `step` bytes apart. The last one may be somewhere else.
struct Tiles {
    const int8_t *start, *last;
    int n_full;
    int64_t next, step;

    const int8_t* at(int i) const { return i < n_full ? start + i * next : last; }
};

// Inputs are where they should be, except at the ends: what is missing there, of 16 rows or of 64
// inputs, is filled up with zeros in a copy of the tiles.
Tiles tiles_of_rows(const int8_t* q, int64_t q_step, int n_rows, int n_in, int8_t* copy) {
    const int n_full = n_in / kTileInputs, n_rest = n_in % kTileInputs;
    if (n_rows >= kTileRows && n_rest == 0) return {q, q, n_full, kTileInputs, q_step};
    const int n_tiles = n_full + (n_rest > 0);
    std::memset(copy, 0, static_cast<size_t>(n_tiles) * kTileSize);
    for (int m = 0; m < n_rows && m < kTileRows; ++m)
        for (int i = 0; i < n_tiles; ++i)
            std::memcpy(copy + i * kTileSize + m * kTileInputs, q + m * q_step + i * kTileInputs,
                        i < n_full ? kTileInputs : n_rest);
    return {copy, copy, n_tiles, kTileSize, kTileInputs};
}

// A block of weights is in the order of tiles already.
Tiles tiles_of_weights(const Weights& w, int64_t block, int8_t* copy) {
    const int n_full = w.n_in_padded / kTileInputs, n_rest = w.n_in_padded % kTileInputs;
    const int8_t* start = w.bytes + block * w.n_in_padded * kBlock;
    if (n_rest) {
        std::memset(copy, 0, kTileSize);
        std::memcpy(copy, start + n_full * kTileSize, n_rest * kBlock);
    }
    return {start, copy, n_full, kTileSize, kTileInputs};
}

// Two row tiles by two blocks: 4 · 16 · 16 sums.
void four_tiles(const Tiles (&rows)[2], const Tiles (&weights)[2], int n_tiles, int32_t* sums) {
    settle();
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int i = 0; i < n_tiles; ++i) {
        _tile_loadd(4, rows[0].at(i), rows[0].step);
        _tile_loadd(5, rows[1].at(i), rows[1].step);
        _tile_loadd(6, weights[0].at(i), weights[0].step);
        _tile_loadd(7, weights[1].at(i), weights[1].step);
        _tile_dpbssd(0, 4, 6);
        _tile_dpbssd(1, 4, 7);
        _tile_dpbssd(2, 5, 6);
        _tile_dpbssd(3, 5, 7);
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + 256, 64);
    _tile_stored(2, sums + 512, 64);
    _tile_stored(3, sums + 768, 64);
    settle();
}

// 32 rows, or as many as there are. Where there is no second row tile or no second block, the first
// is computed twice. `copies` is room for two rows of tiles.
void product_of_pair(const int8_t* q, int64_t q_step, const float* scale, int n_rows,
                     const Weights& w, int begin, int end, Activation activation, float* y,
                     int64_t y_step, int8_t* copies) {
    const int n_tiles = (w.n_in_padded + kTileInputs - 1) / kTileInputs;
    alignas(64) int8_t rests[2][kTileSize];
    alignas(64) int32_t sums[4 * 256];
    Tiles rows[2], weights[2];
    rows[0] = rows[1] = tiles_of_rows(q, q_step, n_rows, w.n_in_padded, copies);
    if (n_rows > kTileRows)
        rows[1] = tiles_of_rows(q + kTileRows * q_step, q_step, n_rows - kTileRows, w.n_in_padded,
                                copies + static_cast<int64_t>(n_tiles) * kTileSize);
    for (int block = begin; block < end; block += 2) {
        const int n_blocks = end - block < 2 ? 1 : 2;
        for (int b = 0; b < 2; ++b)
            weights[b] = tiles_of_weights(w, b < n_blocks ? block + b : block, rests[b]);
        four_tiles(rows, weights, n_tiles, sums);
        for (int part = 0; part < 4; ++part) {
            int first = part / 2 * kTileRows, n = n_rows - first;
            if (n <= 0 || part % 2 >= n_blocks) continue;
            avx512_kernels()->finish_int8(sums + part * 256, scale + first,
                                          n < kTileRows ? n : kTileRows, w, block + part % 2,
                                          activation, y + first * y_step, y_step);
        }
    }
}

void product_int8(const int8_t* q, int64_t q_step, const float* scale, int n_rows,
                  const Weights& w, int begin, int end, Activation activation, float* y,
                  int64_t y_step) {
    constexpr int kPair = 2 * kTileRows, kTogether = 8;  // blocks that are read again from near
    const size_t n_tiles = (w.n_in_padded + kTileInputs - 1) / kTileInputs;
    int8_t* copies = nullptr;
    if (n_rows >= kTileRows)
        copies = static_cast<int8_t*>(std::aligned_alloc(64, 2 * n_tiles * kTileSize));
    if (!copies)
        return avx512_kernels()->product_int8(q, q_step, scale, n_rows, w, begin, end, activation,
                                              y, y_step);
    _tile_loadconfig(&kShapes);
    for (int block = begin; block < end; block += kTogether)
        for (int m = 0; m < n_rows; m += kPair)
            product_of_pair(q + m * q_step, q_step, scale + m,
                            n_rows - m < kPair ? n_rows - m : kPair, w, block,
                            block + kTogether < end ? block + kTogether : end, activation,
                            y + m * y_step, y_step, copies);
    _tile_release();
    std::free(copies);
}

// Tiles are large, so Linux gives them only to a program that asks.
bool may_use_tiles() {
    constexpr long kAskFor = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    unsigned a, b, c, d = 0;
    bool has_tiles = __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d >> 24 & 1) && (d >> 25 & 1);
    return has_tiles && syscall(SYS_arch_prctl, kAskFor, kTileData) == 0;
}

Kernels with_tiles() {
    Kernels kernels = *avx512_kernels();
    kernels.name = "amx";
    kernels.product_int8 = product_int8;
    return kernels;
}

}  // namespace

const Kernels* amx_kernels() {
    static const bool is_there = avx512_kernels() && may_use_tiles();
    if (!is_there) return nullptr;
    static const Kernels kernels = with_tiles();
    return &kernels;
}

}  // namespace clearhead

#if defined(__clang__)
#pragma clang attribute pop
#endif

#else
namespace clearhead {
const Kernels* amx_kernels() { return nullptr; }
}  // namespace clearhead
#endif
