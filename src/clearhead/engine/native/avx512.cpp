// Processors with AVX-512 get their own kernels here; until then they use those of AVX2.
#include "kernels.h"

namespace clearhead {
const Kernels* avx512_kernels() { return nullptr; }
}  // namespace clearhead
