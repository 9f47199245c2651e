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
constexpr int kTogether = 256;  // rows that are brought into the order of tiles at a time

// What the processor is told: eight tiles, all of the full size.
struct alignas(64) Shapes {
    uint8_t palette = 1, start_row = 0, reserved[14] = {};
    uint16_t n_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t n_rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
const Shapes kShapes;

// The compiler does not know that the tiles read memory: what was written has to be there.
inline void settle() { asm volatile("" ::: "memory"); }

// Rows of bytes → row tile, input tile, 16 rows × 64 inputs, with zeros where there is nothing.
void pack_rows(const int8_t* q, int64_t q_step, int n_rows, int n_in, int8_t* packed) {
    for (int first = 0; first < n_rows; first += kTileRows)
        for (int i = 0; i < n_in; i += kTileInputs)
            for (int m = first; m < first + kTileRows; ++m, packed += kTileInputs) {
                int n = n_in - i < kTileInputs ? n_in - i : kTileInputs;
                if (m >= n_rows) n = 0;
                if (n) std::memcpy(packed, q + m * q_step + i, n);
                std::memset(packed + n, 0, kTileInputs - n);
            }
}

// A block of weights is a row of tiles as it is; of the last one a part may be missing.
struct Tiles {
    const int8_t *full, *last;
    int n_full;
    const int8_t* at(int i) const { return i < n_full ? full + i * kTileSize : last; }
};

// Two row tiles by two blocks: 4 · 16 · 16 sums.
void four_tiles(const int8_t* rows_0, const int8_t* rows_1, const Tiles& weights_0,
                const Tiles& weights_1, int n_tiles, int32_t* sums) {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
    for (int i = 0; i < n_tiles; ++i) {
        _tile_loadd(4, rows_0 + i * kTileSize, 64);
        _tile_loadd(5, rows_1 + i * kTileSize, 64);
        _tile_loadd(6, weights_0.at(i), 64);
        _tile_loadd(7, weights_1.at(i), 64);
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

// Where there is no second row tile or no second block, the first is computed twice.
void product_of_packed(const int8_t* packed, const float* scale, int n_rows, const Weights& w,
                       int begin, int end, Activation activation, float* y, int64_t y_step) {
    const int n_in = w.n_in_padded, n_full = n_in / kTileInputs, n_rest = n_in % kTileInputs;
    const int n_tiles = n_full + (n_rest > 0);
    const int64_t row_size = static_cast<int64_t>(n_tiles) * kTileSize;
    alignas(64) int8_t rests[2][kTileSize] = {};
    alignas(64) int32_t sums[4 * 256];
    for (int block = begin; block < end; block += 2) {
        const int n_blocks = end - block < 2 ? 1 : 2;
        Tiles weights[2];
        for (int b = 0; b < 2; ++b) {
            int64_t which = b < n_blocks ? block + b : block;
            const int8_t* from = w.bytes + which * n_in * kBlock;
            std::memcpy(rests[b], from + n_full * kTileSize, n_rest * kBlock);
            weights[b] = {from, rests[b], n_full};
        }
        settle();
        for (int m = 0; m < n_rows; m += 2 * kTileRows) {
            const int8_t* rows = packed + m / kTileRows * row_size;
            const bool is_pair = m + kTileRows < n_rows;
            four_tiles(rows, is_pair ? rows + row_size : rows, weights[0], weights[1], n_tiles, sums);
            for (int part = 0; part < 4; ++part) {
                int first = m + part / 2 * kTileRows, n = n_rows - first;
                if (n <= 0 || part % 2 >= n_blocks) continue;
                avx512_kernels()->finish_int8(sums + part * 256, scale + first,
                                              n < kTileRows ? n : kTileRows, w, block + part % 2,
                                              activation, y + first * y_step, y_step);
            }
        }
    }
}

void product_int8(const int8_t* q, int64_t q_step, const float* scale, int n_rows,
                  const Weights& w, int begin, int end, Activation activation, float* y,
                  int64_t y_step) {
    const int n_most = n_rows < kTogether ? n_rows : kTogether;
    const int64_t n_tiles = (w.n_in_padded + kTileInputs - 1) / kTileInputs;
    const int64_t size = (n_most + kTileRows - 1) / kTileRows * n_tiles * kTileSize;
    int8_t* packed = nullptr;
    if (n_rows >= kTileRows) packed = static_cast<int8_t*>(std::aligned_alloc(64, size));
    if (!packed)
        return avx512_kernels()->product_int8(q, q_step, scale, n_rows, w, begin, end, activation,
                                              y, y_step);
    _tile_loadconfig(&kShapes);
    for (int m = 0; m < n_rows; m += kTogether) {
        int n = n_rows - m < kTogether ? n_rows - m : kTogether;
        pack_rows(q + m * q_step, q_step, n, w.n_in_padded, packed);
        product_of_packed(packed, scale + m, n, w, begin, end, activation, y + m * y_step, y_step);
    }
    _tile_release();
    std::free(packed);
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
