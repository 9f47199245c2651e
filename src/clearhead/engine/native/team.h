// A team of threads that stays: a decoder step has dozens of short parts, and starting threads
// anew for each would take longer than the parts themselves.
//
// Work is cut into more pieces than there are threads, and each takes the next one when it is
// ready: a thread that the system has put aside for a while keeps nobody waiting for long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace clearhead {

class Team {
  public:
    explicit Team(int n_threads) : n_threads_(n_threads < 1 ? 1 : n_threads) {
        for (int i = 1; i < n_threads_; ++i) threads_.emplace_back([this] { work(); });
    }

    ~Team() {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            is_over_ = true;
            round_.fetch_add(1, std::memory_order_release);
        }
        wake_.notify_all();
        for (auto& thread : threads_) thread.join();
    }

    int size() const { return n_threads_; }

    // Let the threads do all of n things, some at a time: part(begin, end). Returns when all are
    // done. One thing at a time is divided; whoever calls does a share of it.
    void divide(int n, const std::function<void(int, int)>& part) {
        if (n_threads_ == 1 || n < 2) {
            part(0, n);
            return;
        }
        // The number of the round is in the upper half of `next_`. A thread that comes late, from an
        // earlier round, finds nothing to take, also while this round is being prepared.
        uint32_t round = round_.load(std::memory_order_relaxed) + 1;  // begins again at 0
        next_.store(static_cast<uint64_t>(round) << 32 | kNone);
        n_ = n;
        part_ = &part;
        n_pieces_ = n < kPieces * n_threads_ ? n : kPieces * n_threads_;
        n_left_.store(n_pieces_);
        next_.store(static_cast<uint64_t>(round) << 32);
        round_.store(round);
        if (n_asleep_.load() > 0) {
            std::lock_guard<std::mutex> lock(mutex_);
            wake_.notify_all();
        }
        take(round);
        for (int n_tries = 0; n_left_.load(std::memory_order_acquire) > 0; ++n_tries)
            n_tries < kSpins ? pause() : std::this_thread::yield();
    }

  private:
    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    // Do one piece of this round after the other until none is left.
    void take(uint32_t round) {
        while (true) {
            uint64_t next = next_.load(std::memory_order_acquire);
            int64_t piece = next & kNone;
            if (next >> 32 != round || piece >= n_pieces_) return;
            if (!next_.compare_exchange_weak(next, next + 1)) continue;
            (*part_)(static_cast<int>(n_ * piece / n_pieces_),
                     static_cast<int>(n_ * (piece + 1) / n_pieces_));
            n_left_.fetch_sub(1, std::memory_order_release);
        }
    }

    // Wait for the next round: some microseconds awake, because it usually comes at once, then
    // asleep.
    void work() {
        uint32_t seen = 0;
        while (true) {
            for (int n = 0; round_.load(std::memory_order_acquire) == seen && n < kSpins; ++n)
                pause();
            if (round_.load(std::memory_order_acquire) == seen) {
                std::unique_lock<std::mutex> lock(mutex_);
                n_asleep_.fetch_add(1);
                wake_.wait(lock, [&] { return round_.load() != seen; });
                n_asleep_.fetch_sub(1);
            }
            seen = round_.load(std::memory_order_acquire);
            if (is_over_) return;
            take(seen);
        }
    }

    static constexpr int kSpins = 4000;
    static constexpr int kPieces = 4;  // for each thread
    static constexpr uint64_t kNone = 0x7fffffff;
    const int n_threads_;
    std::vector<std::thread> threads_;
    std::atomic<const std::function<void(int, int)>*> part_{nullptr};
    std::atomic<int64_t> n_{0};
    std::atomic<int> n_pieces_{0};
    std::atomic<uint64_t> next_{0};
    std::atomic<uint32_t> round_{0};
    std::atomic<int> n_left_{0};
    std::atomic<int> n_asleep_{0};
    std::mutex mutex_;
    std::condition_variable wake_;
    std::atomic<bool> is_over_{false};
};

}  // namespace clearhead
