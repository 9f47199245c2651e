// Which kernels this machine has, and each of them by itself, as plain C functions for tests.
#include <cstring>

#include "linear.h"

namespace clearhead {

const Kernels* find_kernels(const char* name) {
    const Kernels* all[] = {amx_kernels(), avx512_kernels(), avx2_kernels(), plain_kernels()};
    for (const Kernels* one : all)
        if (one && (!*name || !std::strcmp(one->name, name))) return one;
    return nullptr;
}

}  // namespace clearhead

using namespace clearhead;

extern "C" {

const void* ch_kernel_set(const char* name) { return find_kernels(name); }

void* ch_kernel_linear_new(const float* w, int n_out, int n_in, const float* bias, int precision) {
    return new Linear(w, n_out, n_in, bias, static_cast<Precision>(precision));
}
void ch_kernel_linear_free(void* linear) { delete static_cast<Linear*>(linear); }

void ch_kernel_product(const Kernels* set, const Linear* linear, const float* x, int64_t x_step,
                       int n_rows, int begin, int end, int activation, float* y, int64_t y_step) {
    set->product(x, x_step, n_rows, linear->weights(), begin, end,
                 static_cast<Activation>(activation), y, y_step);
}

void ch_kernel_product_bfloat16(const Kernels* set, const Linear* linear, const float* x,
                                int64_t x_step, int n_rows, int begin, int end, int activation,
                                float* y, int64_t y_step) {
    set->product_bfloat16(x, x_step, n_rows, linear->weights(), begin, end,
                          static_cast<Activation>(activation), y, y_step);
}

void ch_kernel_product_int8(const Kernels* set, const Linear* linear, const int8_t* q,
                            int64_t q_step, const float* scale, int n_rows, int begin, int end,
                            int activation, float* y, int64_t y_step) {
    set->product_int8(q, q_step, scale, n_rows, linear->weights(), begin, end,
                      static_cast<Activation>(activation), y, y_step);
}

void ch_kernel_finish_int8(const Kernels* set, const Linear* linear, const int32_t* sums,
                           const float* scale, int n_rows, int block, int activation, float* y,
                           int64_t y_step) {
    set->finish_int8(sums, scale, n_rows, linear->weights(), block,
                     static_cast<Activation>(activation), y, y_step);
}

float ch_kernel_quantise(const Kernels* set, const float* x, int n, int8_t* q, int n_padded) {
    return set->quantise(x, n, q, n_padded);
}

void ch_kernel_layer_norm(const Kernels* set, const float* x, const float* weight,
                          const float* bias, float eps, int n, float* y) {
    set->layer_norm(x, weight, bias, eps, n, y);
}

void ch_kernel_rms_norm(const Kernels* set, const float* x, const float* weight, float eps, int n,
                        float* y) {
    set->rms_norm(x, weight, eps, n, y);
}

void ch_kernel_gate(const Kernels* set, const float* x, int n, float* y) { set->gate(x, n, y); }

// Keys and values of one table of rows and positions; `row` may be absent.
void ch_kernel_attend(const Kernels* set, const float* q, int d_head, float scale, int n,
                      const float* keys, const float* values, const int32_t* row, int64_t n_places,
                      int64_t step, float* scores, float* out) {
    set->attend(q, d_head, scale, n, {keys, row, n_places, step}, {values, row, n_places, step},
                scores, out);
}

void ch_kernel_best(const Kernels* set, const float* logits, int n, int k, int32_t* tokens,
                    float* log_probs) {
    set->best(logits, n, k, tokens, log_probs);
}

}  // extern "C"
