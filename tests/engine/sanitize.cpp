// All that the engine does, once, for a build that watches memory and threads: every kernel with
// odd shapes in rooms that are exactly as large as needed, and small models with all their turns.
#include <cstdio>
#include <map>
#include <random>
#include <stdexcept>
#include <string>

#include "search.h"

using namespace clearhead;

namespace {

std::mt19937 generator(1);

std::vector<float> numbers(int64_t n, float mean = 0.0f) {
    std::normal_distribution<float> normal(mean, 0.5f);
    std::vector<float> all(n);
    for (float& one : all) one = normal(generator);
    return all;
}

int below(int n) { return static_cast<int>(generator() % n); }

void expect(bool is_so, const std::string& what) {
    if (!is_so) throw std::logic_error(what);
}

template <typename Work>
void expect_error(const std::string& message, Work work) {
    try {
        work();
    } catch (const std::runtime_error& error) {
        expect(error.what() == message, error.what());
        return;
    }
    throw std::logic_error("no error: " + message);
}

void run_products(const Kernels& kernels, int n_in, int n_out, int n_rows) {
    auto w = numbers(static_cast<int64_t>(n_out) * n_in), bias = numbers(n_out);
    auto x = numbers(static_cast<int64_t>(n_rows) * n_in);
    for (Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
        auto activation = static_cast<Activation>(below(3));
        Linear linear(w.data(), n_out, n_in, below(2) ? bias.data() : nullptr, precision);
        Team alone(1), pair(2);
        std::vector<float> y(static_cast<size_t>(n_rows) * n_out), other(y);
        ByteRows inputs;
        linear.run(kernels, alone, inputs, x.data(), n_rows, y.data(), activation);
        linear.run(kernels, pair, inputs, x.data(), n_rows, other.data(), activation);
        expect(y == other, "threads change a product");
    }
}

void run_rows(const Kernels& kernels, int n) {
    auto x = numbers(n), weight = numbers(n), bias = numbers(n);
    std::vector<int8_t> bytes((n + 3) / 4 * 4);
    kernels.quantise(x.data(), n, bytes.data(), static_cast<int>(bytes.size()));
    kernels.layer_norm(x.data(), weight.data(), bias.data(), 1e-5f, n, x.data());
    kernels.rms_norm(x.data(), weight.data(), 1e-5f, n, x.data());
    kernels.gate(numbers(2 * n).data(), n, bias.data());
    for (int k : {1, (n + 1) / 2, n}) {
        std::vector<int32_t> tokens(k);
        std::vector<float> log_probs(k);
        kernels.best(x.data(), n, k, tokens.data(), log_probs.data());
    }
    for (int d_head : {1, 7, 8, 33, 64, 100}) {
        const int n_slots = 3;
        auto q = numbers(d_head), table = numbers(static_cast<int64_t>(n_slots) * n * 2 * d_head);
        std::vector<int32_t> slots(n);
        for (int32_t& slot : slots) slot = below(n_slots);
        std::vector<float> scores(n), out(d_head);
        const int32_t *none = nullptr, *some = slots.data();
        for (const int32_t* row : {none, some})
            kernels.attend(q.data(), d_head, 0.1f, n, {table.data(), row, n, 2 * d_head},
                           {table.data() + d_head, row, n, 2 * d_head}, scores.data(), out.data());
    }
}

void run_kernels() {
    for (const char* name : {"plain", "avx2", "avx512", "amx"}) {
        const Kernels* kernels = find_kernels(name);
        if (!kernels) continue;
        for (int n_in : {1, 3, 16, 31, 64, 101})
            for (int n_out : {1, 16, 33, 70})
                for (int n_rows : {1, 2, 3, 7, 17, 67}) run_products(*kernels, n_in, n_out, n_rows);
        for (int n = 1; n < 140; n += 1 + n / 20) run_rows(*kernels, n);
    }
}

// The weights of a model, by their names in the model folder.
struct Folder {
    std::vector<std::vector<float>> held;
    std::map<std::string, Tensors::One> all;
    static const Folder* opened;  // the one that `fetch` reads

    static int fetch(const char* name, const float** data, int* n_rows, int* n_columns) {
        auto found = opened->all.find(name);
        if (found == opened->all.end()) return 0;
        *data = found->second.data;
        *n_rows = found->second.n_rows;
        *n_columns = found->second.n_columns;
        return 1;
    }
    Tensors tensors() const {
        opened = this;
        return {fetch};
    }

    void add(const std::string& name, int n_rows, int n_columns, float mean = 0.0f) {
        held.push_back(numbers(static_cast<int64_t>(n_rows) * n_columns, mean));
        all[name] = {held.back().data(), n_rows, n_columns};
    }
    void add_norm(const std::string& name, int d) {
        add(name + ".weight", 1, d, 1.0f);
        add(name + ".bias", 1, d);
    }
    void add_block(const std::string& name, const Shape& s, bool is_decoder) {
        for (std::string part : {".self_attention", ".cross_attention"}) {
            if (s.is_causal && part == ".cross_attention") continue;
            if (part == ".cross_attention" && !is_decoder) continue;
            add(name + part + ".w_qkv", s.d_q() + 2 * s.d_kv(), s.d_model);
            add(name + part + ".b_qkv", 1, s.d_q() + 2 * s.d_kv());
            add(name + part + ".w_o.weight", s.d_model, s.d_q());
            add_norm(name + part + "_residual.norm", s.d_model);
        }
        const int n_up = s.is_gated ? 2 * s.d_ff : s.d_ff;
        if (s.n_experts) {
            add(name + ".feed_forward.w_r.weight", s.n_experts, s.d_model);
            add(name + ".feed_forward.w_1", s.n_experts * n_up, s.d_model);
            add(name + ".feed_forward.w_2", s.n_experts * s.d_model, s.d_ff);
        } else {
            add(name + ".feed_forward.w_1.weight", n_up, s.d_model);
            add(name + ".feed_forward.w_1.bias", 1, n_up);
            add(name + ".feed_forward.w_2.weight", s.d_model, s.d_ff);
        }
        add_norm(name + ".feed_forward_residual.norm", s.d_model);
    }
    Folder(const Shape& s, bool is_joint) {
        for (int i = 0; i < s.n_encoder_layers; ++i)
            add_block("encoder.blocks." + std::to_string(i), s, false);
        for (int i = 0; i < s.n_decoder_layers; ++i)
            add_block("decoder.blocks." + std::to_string(i), s, true);
        add_norm("encoder.norm", s.d_model);
        add_norm("decoder.norm", s.d_model);
        add("source_embedding", s.n_source_tokens, s.d_model);
        if (!is_joint) add("target_embedding", s.n_target_tokens, s.d_model);
        add("output", s.n_target_tokens, s.d_model);
    }
};

const Folder* Folder::opened = nullptr;

// All answers to some sources, of which one may have a single token.
void run_search(Transformer& model, int n_beams, int n) {
    std::vector<int32_t> lengths, limits, source;
    for (int i = 0; i < n; ++i) {
        lengths.push_back(i % 3 == 1 ? 1 : 5 + i % 7);
        limits.push_back(i % 3 == 1 ? 1 : i == 0 ? 70 : 12);
    }
    for (int32_t length : lengths) source.resize(source.size() + length);
    for (int32_t& token : source) token = below(model.shape.n_source_tokens);
    SearchSettings settings = {n_beams, n_beams, n_beams % 2 * 3, 1, 2, n_beams % 2, 0.7,
                               1 + n_beams % 3};
    auto search = [&](int n_some) {
        return search_all(model, settings, source.data(), lengths.data(), limits.data(), n_some);
    };
    Answers together = search(n);
    for (int i = 0; i < n; ++i) {
        expect(!together[i].empty(), "a source has no answer");
        for (const Answer& one : together[i])
            expect(static_cast<int>(one.tokens.size()) <= limits[i], "an answer is too long");
    }
    expect(search(1)[0][0].tokens == together[0][0].tokens, "an answer depends on its neighbours");
    lengths[n - 1] = 1000;
    source.resize(source.size() + 1000);
    expect_error("the source is too long", [&] { search(n); });
}

// Rows are doubled, exchanged and dropped, over more positions than the cache has at first.
void run_session(Transformer& model, int n_positions) {
    const int n_tokens = model.shape.n_target_tokens, k = 4;
    std::vector<int32_t> lengths = {5, 1, 9}, source(5 + 1 + 9);
    for (int32_t& token : source) token = below(model.shape.n_source_tokens);
    Session session(model, model.worker, source.data(), lengths.data(), 3);
    std::vector<int32_t> rows = {0, 0, 1, 2, 2, 2};
    session.reorder(rows.data(), static_cast<int>(rows.size()));
    for (int t = 0; t < 100; ++t) {
        const int n = session.n_rows();
        std::vector<int32_t> tokens(n), best(n * k);
        std::vector<float> logits(n * n_tokens), log_probs(n * k);
        for (int32_t& token : tokens) token = below(n_tokens);
        if (t % 2)
            session.step(tokens.data(), logits.data());
        else
            session.best(tokens.data(), k, best.data(), log_probs.data());
        if (t == 40) rows = {1, 3, 2};
        if (t == 60) rows = {2, 2, 2, 1, 0, 0, 2, 2};
        if (t == 80) rows = {7};
        if (t % 20 == 0 && t >= 40) session.reorder(rows.data(), static_cast<int>(rows.size()));
    }
    expect(session.length() == 100 + (model.shape.is_causal ? 1 : 0), "positions were not counted");
    int32_t token = 0;
    std::vector<float> logits(n_tokens);
    expect_error("there are not so many tokens",
                 [&] { session.best(&token, n_tokens + 1, &token, logits.data()); });
    int32_t unknown = n_tokens;
    expect_error("a token is outside the vocabulary",
                 [&] { session.step(&unknown, logits.data()); });
    while (session.length() < n_positions) session.step(&token, logits.data());
    expect_error("the target is too long", [&] { session.step(&token, logits.data()); });
}

void run_model(Precision precision, bool is_pre_norm, int n_kv_heads, bool is_joint,
               int n_experts = 0) {
    // With one head for all keys and values, it is a decoder by itself.
    const int is_causal = n_kv_heads == 1;
    Shape shape = {20, 27, 4, n_kv_heads, is_causal ? 0 : 2, 2, is_pre_norm, is_pre_norm ? 1 : 2,
                   41, 37, 20 / 4 + is_causal, is_causal, is_causal, is_causal, is_causal,
                   is_joint, n_experts, n_experts ? 2 : 0, 1e-5f, 2.0f};
    if (is_joint) shape.n_target_tokens = shape.n_source_tokens;
    auto folder = std::make_unique<Folder>(shape, is_joint);
    const int n_positions = 120;
    Transformer model(shape, folder->tensors(), precision, 2, find_kernels(""));
    folder.reset();  // the model has copies
    model.set_positions(numbers(n_positions * shape.d_position()).data(), n_positions);
    run_session(model, n_positions);
    for (int n_beams : {1, 2, 5, 50})
        for (int n : {1, 3, 40}) run_search(model, n_beams, n);
    run_session(model, n_positions);
    std::vector<int32_t> source(n_positions + 1, 3);
    int32_t length = n_positions + 1;
    expect_error("the source is too long", [&] { Session(model, model.worker, source.data(), &length, 1); });
    Shape larger = shape;
    larger.n_decoder_layers = 3;
    Folder smaller(shape, is_joint);
    expect_error("the weight decoder.blocks.2.self_attention.w_qkv is missing", [&] {
        Transformer(larger, smaller.tensors(), precision, 2, find_kernels(""));
    });
}

}  // namespace

int main() {
    run_kernels();
    for (Precision precision : {Precision::float32, Precision::bfloat16, Precision::int8}) {
        for (bool is_pre_norm : {true, false})
            for (int n_kv_heads : {4, 2, 1})
                run_model(precision, is_pre_norm, n_kv_heads, n_kv_heads != 4);
        run_model(precision, true, 1, true, 3);
    }
    expect(!find_kernels("abacus"), "there is an abacus");
    std::puts("done");
}
