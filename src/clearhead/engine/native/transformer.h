// The models: an encoder over whole sentences without padding, and a decoder one position at a time
// (`models/transformer.py`); or a decoder by itself, for which a source is the beginning of a text
// (`models/llama.py`).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linear.h"

namespace clearhead {

struct Shape {
    int d_model, d_ff, n_heads, n_kv_heads, n_encoder_layers, n_decoder_layers;
    int is_pre_norm, activation, n_source_tokens, n_target_tokens;
    int d_head;
    int is_causal;    // a decoder by itself
    int is_rotary;    // positions turn queries and keys; otherwise they are added to the tokens
    int is_rms_norm;  // otherwise LayerNorm
    int is_gated;     // SwiGLU instead of the activation
    int is_tied;      // the output has the weights of the embedding
    int n_experts;    // feed-forward networks in a block, of which a token visits `n_chosen`
    int n_chosen;
    float norm_eps, embedding_scale;
    int d_q() const { return n_heads * d_head; }
    int d_kv() const { return n_kv_heads * d_head; }
    // What a position has: a vector to add, or the cosines and sines of its turns.
    int d_position() const { return is_rotary ? d_head : d_model; }
    // From one position to the next in a cache of keys and values. A large power of two would put
    // the same head of all positions into the same few lines of the processor's cache.
    int cache_step() const { return 2 * d_kv() + (2 * d_kv() % 256 ? 0 : 16); }
};

struct Norm {
    std::vector<float> weight, bias;
};

struct Attention {
    std::unique_ptr<Linear> q, kv, qkv, out;  // self-attention has qkv, cross-attention q and kv
};

struct FeedForward {
    std::unique_ptr<Linear> up, down;
};

struct Block {
    Attention self, cross;
    Norm self_norm, cross_norm, feed_forward_norm;
    std::vector<FeedForward> experts;
    std::unique_ptr<Linear> router;  // says which of several experts a token visits
};

// Tensors by their name in the model folder. They are asked for one by one; each is there until a
// few others were asked for.
struct Tensors {
    struct One {
        const float* data;
        int n_rows, n_columns;
    };
    int (*fetch)(const char* name, const float** data, int* n_rows, int* n_columns);
    // One that must have this shape, if it is there; without data if it is not.
    One maybe(const std::string& name, int n_rows, int n_columns) const;
    // One that must be there.
    One at(const std::string& name, int n_rows, int n_columns) const;
};

// Who computes: a team of threads, or one alone, with room for what is computed on the way.
struct Worker {
    explicit Worker(int n_threads) : team(n_threads) {}
    Team team;
    std::vector<float> x, normed, qkv, heads, hidden, gated, sum, logits;
    std::vector<float> routed, visitors, answers;
    ByteRows bytes;
};

// Where a vector of the right size is: as large as asked for, its old content of no interest.
inline float* room(std::vector<float>& v, int64_t n) {
    if (static_cast<int64_t>(v.size()) < n) v.resize(n);
    return v.data();
}

class Session;

class Transformer {
  public:
    Transformer(const Shape& shape, const Tensors& tensors, Precision precision, int n_threads,
                const Kernels* kernels);
    const Shape shape;
    const Kernels& kernels;
    Worker worker;  // for few rows at a time, where all threads share each product
    // For many, where each thread works by itself; the threads stay.
    Team& team_of(int n_threads) {
        if (worker.team.size() == n_threads) return worker.team;
        if (!crowd_ || crowd_->size() != n_threads) crowd_ = std::make_unique<Team>(n_threads);
        return *crowd_;
    }
    int64_t n_bytes() const;
    // What the first n positions have, see `Shape::d_position`; texts may be as long as that.
    void set_positions(const float* vectors, int n);

  private:
    friend class Session;
    std::vector<Block> encoder_, decoder_;
    Norm encoder_norm_, decoder_norm_;
    std::vector<float> source_embedding_, target_embedding_, positions_;
    std::unique_ptr<Linear> output_;
    const float* exact_output_ = nullptr;  // where bytes are used, and floats are there as well
    int n_positions_ = 0;
    std::unique_ptr<Team> crowd_;
};

// Sentences under way. A row is a beginning that is being continued; several rows may read the same
// source. Each source owns some slots of the cache, as many as it ever had rows: at each position a
// row writes into its own slot, and a table says in which slot each earlier position of its own
// history stands. So beams change places without a number being copied. A source without rows is
// done: its slots serve others.
class Session {
  public:
    Session(Transformer& model, Worker& worker)
        : model_(model), worker_(worker), caches_(model.shape.n_decoder_layers) {}
    Session(Transformer& model, Worker& worker, const int32_t* tokens, const int32_t* lengths,
            int n_sources)
        : Session(model, worker) {
        add(tokens, lengths, n_sources);
    }
    // Read some sources, whose tokens stand behind each other; each has one row, after all others.
    void add(const int32_t* tokens, const int32_t* lengths, int n_sources);
    int n_rows() const { return static_cast<int>(rows_.size()); }
    int n_tokens() const { return model_.shape.n_target_tokens; }
    int length() const { return rows_.empty() ? 0 : rows_[0].length; }
    void reorder(const int32_t* parents, int n);
    void step(const int32_t* tokens, float* logits);
    // The same step; of each row's logits only the k best, as log-probabilities.
    void best(const int32_t* tokens, int k, int32_t* best_tokens, float* log_probs);

  private:
    struct Row {
        int source, slot, length;
        int history;  // whose history it reads: its own, or that of the text whose part it is
    };
    struct Source {
        int n_tokens;
        std::vector<std::vector<float>> keys_values;  // of each decoder layer: k and v side by side
        std::vector<int> slots;
    };
    void encode(const int32_t* tokens, const int32_t* lengths, std::vector<Source>& sources);
    int place_source(Source source);
    void read_beginnings(const int32_t* tokens, const int32_t* lengths, int n_sources);
    int take_slot();
    void make_room(int n_slots, int n_places);
    void begin_step();
    void end_step();
    const float* decode(const int32_t* tokens, const Row* rows, int n);
    void self_attention(int layer, const Row* rows, int n);
    void cross_attention(int layer, const Row* rows, int n);
    void best_exactly(const float* logits, const float* x, int k, int32_t* tokens,
                      float* log_probs) const;
    void feed_forward(const Block& block, const float* in, int n, float* out);
    void visit(const FeedForward& expert, const float* in, int n, float* out);
    void turn(float* heads, int n_heads, int place) const;

    Transformer& model_;
    Worker& worker_;
    std::vector<Source> sources_;  // those that are done are empty
    std::vector<int> free_sources_, free_slots_;
    int n_slots_taken_ = 0;
    std::vector<Row> rows_;
    std::vector<int32_t> history_;                  // row, position → slot
    std::vector<std::unique_ptr<float[]>> caches_;  // of each layer: slot, position, k and v
    int n_slots_ = 0, n_places_ = 0;
};

}  // namespace clearhead
