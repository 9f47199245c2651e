// The engine as Python sees it: plain C functions for ctypes. An error is a text, never an abort.
#include <algorithm>
#include <cstring>
#include <exception>
#include <string>

#include "search.h"

using namespace clearhead;

namespace {

thread_local std::string error;

template <typename Work>
auto guarded(Work work, decltype(work()) otherwise) -> decltype(work()) {
    try {
        error.clear();
        return work();
    } catch (const std::exception& caught) {
        error = caught.what();
        return otherwise;
    }
}

const Kernels* kernels_named(const char* name) {
    if (const Kernels* found = find_kernels(name)) return found;
    throw std::runtime_error(std::string("this machine has no kernels named ") + name);
}

}  // namespace

extern "C" {

const char* ch_error() { return error.c_str(); }

// How large the records are that a caller hands over; one with others was made for another engine.
int ch_record_bytes() { return sizeof(Shape) + sizeof(SearchSettings); }

// The best kernels of this machine, or those of a name.
const char* ch_kernels(const char* name) {
    return guarded([&] { return kernels_named(name)->name; }, static_cast<const char*>(nullptr));
}

void* ch_model_new(const Shape* shape, decltype(Tensors::fetch) fetch, int precision, int n_threads,
                   const char* kernels) {
    return guarded(
        [&]() -> void* {
            return new Transformer(*shape, Tensors{fetch}, static_cast<Precision>(precision),
                                   n_threads, kernels_named(kernels));
        },
        nullptr);
}
void ch_model_free(void* model) { delete static_cast<Transformer*>(model); }
void ch_model_positions(void* model, const float* vectors, int n) {
    static_cast<Transformer*>(model)->set_positions(vectors, n);
}
int64_t ch_model_bytes(void* model) { return static_cast<Transformer*>(model)->n_bytes(); }

void* ch_session_new(void* model, const int32_t* tokens, const int32_t* lengths, int n_sources) {
    return guarded(
        [&]() -> void* {
            auto& own = *static_cast<Transformer*>(model);
            return new Session(own, own.worker, tokens, lengths, n_sources);
        },
        nullptr);
}
void ch_session_free(void* session) { delete static_cast<Session*>(session); }

int ch_session_reorder(void* session, const int32_t* parents, int n) {
    return guarded([&] { static_cast<Session*>(session)->reorder(parents, n); return 0; }, 1);
}

int ch_session_step(void* session, const int32_t* tokens, float* logits) {
    return guarded([&] { static_cast<Session*>(session)->step(tokens, logits); return 0; }, 1);
}

int ch_session_best(void* session, const int32_t* tokens, int k, int32_t* best_tokens,
                    float* log_probs) {
    return guarded(
        [&] { static_cast<Session*>(session)->best(tokens, k, best_tokens, log_probs); return 0; },
        1);
}

// All answers to some sources. What comes back is read with `ch_answers_*`.
void* ch_model_search(void* model, const SearchSettings* settings, const int32_t* tokens,
                      const int32_t* lengths, const int32_t* max_lengths, int n_sources) {
    return guarded(
        [&]() -> void* {
            return new Answers(search_all(*static_cast<Transformer*>(model), *settings, tokens,
                                          lengths, max_lengths, n_sources));
        },
        nullptr);
}
void ch_answers_free(void* answers) { delete static_cast<Answers*>(answers); }

// How many answers there are to one source; and one of them, with how many tokens it has.
int ch_answers_count(void* answers, int source) {
    return static_cast<int>((*static_cast<Answers*>(answers))[source].size());
}
int ch_answers_read(void* answers, int source, int rank, int32_t* tokens, float* log_probs,
                    double* score, int* is_finished) {
    const Answer& one = (*static_cast<Answers*>(answers))[source][rank];
    std::copy(one.tokens.begin(), one.tokens.end(), tokens);
    std::copy(one.log_probs.begin(), one.log_probs.end(), log_probs);
    *score = one.score;
    *is_finished = one.is_finished;
    return static_cast<int>(one.tokens.size());
}

}  // extern "C"
