// The feed-forward part of a block: one network for all rows, or several experts, of which each row
// visits the few that the router likes best (`layers/experts.py`).
#include <algorithm>
#include <cmath>
#include <numeric>

#include "transformer.h"

namespace clearhead {

namespace {

struct Visit {
    int row;
    float weight;
};

// The n_chosen best of one row's logits, each with its share. Several share a sum of 1; one keeps its
// probability among all.
void choose(const float* logits, int n_experts, int n_chosen, int row,
            std::vector<std::vector<Visit>>& visits) {
    std::vector<int> order(n_experts);
    std::iota(order.begin(), order.end(), 0);
    std::partial_sort(order.begin(), order.begin() + n_chosen, order.end(), [&](int a, int b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    });
    int n_summed = n_chosen > 1 ? n_chosen : n_experts;
    float sum = 0.0f, largest = logits[order[0]];
    for (int i = 0; i < n_summed; ++i) sum += std::exp(logits[order[i]] - largest);
    for (int i = 0; i < n_chosen; ++i)
        visits[order[i]].push_back({row, std::exp(logits[order[i]] - largest) / sum});
}

}  // namespace

void Session::feed_forward(const Block& block, const float* in, int n, float* out) {
    if (!block.router) return visit(block.experts[0], in, n, out);
    const int64_t d = model_.shape.d_model;
    const int n_experts = model_.shape.n_experts;
    float* logits = room(worker_.routed, static_cast<int64_t>(n) * n_experts);
    block.router->run(model_.kernels, worker_.team, worker_.bytes, in, n, logits);
    std::vector<std::vector<Visit>> visits(n_experts);
    for (int row = 0; row < n; ++row)
        choose(logits + static_cast<int64_t>(row) * n_experts, n_experts, model_.shape.n_chosen, row,
               visits);
    std::fill_n(out, n * d, 0.0f);
    for (int e = 0; e < n_experts; ++e) {
        int n_visits = static_cast<int>(visits[e].size());
        if (!n_visits) continue;
        float* visitors = room(worker_.visitors, n_visits * d);
        float* answers = room(worker_.answers, n_visits * d);
        for (int i = 0; i < n_visits; ++i)
            std::copy_n(in + visits[e][i].row * d, d, visitors + i * d);
        visit(block.experts[e], visitors, n_visits, answers);
        for (int i = 0; i < n_visits; ++i)
            for (int64_t j = 0; j < d; ++j)
                out[visits[e][i].row * d + j] += visits[e][i].weight * answers[i * d + j];
    }
}

void Session::visit(const FeedForward& expert, const float* in, int n, float* out) {
    const Shape& s = model_.shape;
    int width = expert.up->n_out();
    float* hidden = room(worker_.hidden, static_cast<int64_t>(n) * width);
    auto activation = s.is_gated ? Activation::none : static_cast<Activation>(s.activation);
    expert.up->run(model_.kernels, worker_.team, worker_.bytes, in, n, hidden, activation);
    if (s.is_gated) {
        float* gated = room(worker_.gated, static_cast<int64_t>(n) * s.d_ff);
        for (int64_t m = 0; m < n; ++m)
            model_.kernels.gate(hidden + m * width, s.d_ff, gated + m * s.d_ff);
        hidden = gated;
    }
    expert.down->run(model_.kernels, worker_.team, worker_.bytes, hidden, n, out);
}

}  // namespace clearhead
