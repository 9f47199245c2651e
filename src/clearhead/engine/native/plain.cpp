// The reference: every kernel in plain C++, for any processor, and to compare the others with.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels.h"

namespace clearhead {

namespace {

uint32_t bits_of(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

float from_bits(uint32_t bits) {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

constexpr float kWhole = 12582912.0f;  // 1.5 · 2²³: a sum with it has no room for a fraction

// exp(x) to about seven digits: 2ⁿ · p(r) with x = n · ln 2 + r, |r| ≤ ln 2 / 2.
float exp_of(float x) {
    x = x < -87.0f ? -87.0f : x;
    x = x > 88.0f ? 88.0f : x;
    float shifted = x * 1.44269504f + kWhole;  // n is in its last bits
    float n = shifted - kWhole;
    float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    float rr = r * r;
    float high =
        (r * (1.0f / 5040.0f) + 1.0f / 720.0f) * rr + (r * (1.0f / 120.0f) + 1.0f / 24.0f);
    float low = (r * (1.0f / 6.0f) + 0.5f) * rr + (r + 1.0f);
    float p = high * (rr * rr) + low;
    return p * from_bits((bits_of(shifted) + 127) << 23);
}

// x Φ(x). Departs: Φ by Abramowitz and Stegun 1964, 7.1.26, which is right to 1.5e-7.
float gelu_of(float x) {
    float size = std::fabs(x);
    float t = 1.0f / (size * 0.231641888f + 1.0f);
    float p = t * 1.061405429f - 1.453152027f;
    p = p * t + 1.421413741f;
    p = p * t - 0.284496736f;
    p = p * t + 0.254829592f;
    float beyond = 0.5f * p * t * exp_of(size * size * -0.5f);  // Φ(−|x|)
    return x * (x < 0.0f ? beyond : 1.0f - beyond);
}

// x σ(2u) with u = √(2/π) (x + 0.044715 x³), which is ½ x (1 + tanh u).
float gelu_tanh_of(float x) {
    float u = x * (x * x * 0.0713548162f + 1.59576912f);
    return x / (exp_of(0.0f - u) + 1.0f);
}

float activated(float x, Activation activation) {
    if (activation == Activation::relu) return x < 0.0f ? 0.0f : x;
    if (activation == Activation::gelu) return gelu_of(x);
    if (activation == Activation::gelu_tanh) return gelu_tanh_of(x);
    return x;
}

// The end of every product: bias and activation, and only the outputs that exist.
void finish(const float* sums, const Weights& w, int block, Activation activation, float* y) {
    for (int j = 0; j < kBlock; ++j) {
        int output = block * kBlock + j;
        if (output < w.n_out) y[output] = activated(sums[j] + w.bias[output], activation);
    }
}

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
        int n_pairs = (w.n_in + 1) / 2;
        const uint16_t* weights = w.halves + static_cast<int64_t>(block) * n_pairs * 2 * kBlock;
        for (int m = 0; m < n_rows; ++m) {
            float sums[kBlock] = {};
            for (int i = 0; i < w.n_in; ++i)
                for (int j = 0; j < kBlock; ++j) {
                    uint32_t half = weights[i / 2 * 2 * kBlock + j * 2 + i % 2];
                    sums[j] += x[m * x_step + i] * from_bits(half << 16);
                }
            finish(sums, w, block, activation, y + m * y_step);
        }
    }
}

void finish_int8(const int32_t* sums, const float* scale, int n_rows, const Weights& w, int block,
                 Activation activation, float* y, int64_t y_step) {
    for (int m = 0; m < n_rows; ++m) {
        float floats[kBlock];
        for (int j = 0; j < kBlock; ++j)
            floats[j] = static_cast<float>(sums[m * kBlock + j]) *
                        (scale[m] * w.scales[block * kBlock + j]);
        finish(floats, w, block, activation, y + m * y_step);
    }
}

void product_int8(const int8_t* q, int64_t q_step, const float* scale, int n_rows,
                  const Weights& w, int begin, int end, Activation activation, float* y,
                  int64_t y_step) {
    for (int block = begin; block < end; ++block) {
        const int8_t* weights = w.bytes + static_cast<int64_t>(block) * w.n_in_padded * kBlock;
        for (int m = 0; m < n_rows; ++m) {
            int32_t sums[kBlock] = {};
            for (int i = 0; i < w.n_in_padded; i += 4)
                for (int j = 0; j < kBlock; ++j)
                    for (int part = 0; part < 4; ++part)
                        sums[j] += q[m * q_step + i + part] * weights[i * kBlock + j * 4 + part];
            finish_int8(sums, scale + m, 1, w, block, activation, y + m * y_step, y_step);
        }
    }
}

// A row that is all but zero becomes zeros. With a number that is none, the row is worth none.
float quantise(const float* x, int n, int8_t* q, int n_padded) {
    uint32_t largest = 0;  // as bits, sizes have the same order, and NaN is the largest
    for (int i = 0; i < n; ++i) largest = std::max(largest, bits_of(x[i]) & 0x7fffffff);
    float unit = from_bits(largest) < 1e-30f ? 1.0f : from_bits(largest) / 127.0f;
    float inverse = 1.0f / unit;
    std::memset(q, 0, n_padded);
    if (!std::isfinite(unit)) return NAN;
    for (int i = 0; i < n; ++i) q[i] = static_cast<int8_t>(std::nearbyint(x[i] * inverse));
    return unit;
}

void layer_norm(const float* x, const float* weight, const float* bias, float eps, int n,
                float* y) {
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < n; ++i) sum += x[i];
    float mean = static_cast<float>(sum / n);
    for (int i = 0; i < n; ++i) squares += (x[i] - mean) * (x[i] - mean);
    float inverse = static_cast<float>(1.0 / std::sqrt(squares / n + eps));
    for (int i = 0; i < n; ++i) y[i] = (x[i] - mean) * inverse * weight[i] + bias[i];
}

void rms_norm(const float* x, const float* weight, float eps, int n, float* y) {
    double squares = 0.0;
    for (int i = 0; i < n; ++i) squares += static_cast<double>(x[i]) * x[i];
    float inverse = static_cast<float>(1.0 / std::sqrt(squares / n + eps));
    for (int i = 0; i < n; ++i) y[i] = x[i] * inverse * weight[i];
}

void gate(const float* x, int n, float* y) {
    for (int i = 0; i < n; ++i) y[i] = x[i] / (1.0f + exp_of(-x[i])) * x[n + i];
}

void attend(const float* q, int d_head, float scale, int n, const Places& keys,
            const Places& values, float* scores, float* out) {
    float largest = -INFINITY, total = 0.0f;
    for (int i = 0; i < n; ++i) {
        float sum = 0.0f;
        for (int j = 0; j < d_head; ++j) sum += q[j] * keys.at(i)[j];
        scores[i] = sum * scale;
        largest = scores[i] > largest ? scores[i] : largest;
    }
    for (int i = 0; i < n; ++i) {
        scores[i] = exp_of(scores[i] - largest);
        total += scores[i];
    }
    for (int j = 0; j < d_head; ++j) {
        float sum = 0.0f;
        for (int i = 0; i < n; ++i) sum += scores[i] * values.at(i)[j];
        out[j] = sum / total;
    }
}

void best(const float* logits, int n, int k, int32_t* tokens, float* log_probs) {
    int n_found = 0;
    for (int i = 0; i < n; ++i) {
        if (n_found == k && logits[i] <= log_probs[k - 1]) continue;
        int place = n_found < k ? n_found++ : k - 1;
        for (; place > 0 && log_probs[place - 1] < logits[i]; --place) {
            log_probs[place] = log_probs[place - 1];
            tokens[place] = tokens[place - 1];
        }
        log_probs[place] = logits[i];
        tokens[place] = i;
    }
    float largest = log_probs[0];
    double total = 0.0;
    for (int i = 0; i < n; ++i) total += exp_of(logits[i] - largest);
    float log_total = static_cast<float>(largest + std::log(total));
    for (int i = 0; i < k; ++i) log_probs[i] -= log_total;
}

const Kernels kernels = {
    "plain",       product,  product_bfloat16, product_int8, finish_int8, quantise,
    layer_norm, rms_norm, gate,             attend,       best,
};

}  // namespace

const Kernels* plain_kernels() { return &kernels; }

}  // namespace clearhead
