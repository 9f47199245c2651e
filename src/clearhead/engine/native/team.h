// A team of threads that stays: a decoder step has dozens of short parts, and starting threads
// anew for each would take longer than the parts themselves.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace clearhead {

class Team {
  public:
    explicit Team(int n_threads) : n_threads_(n_threads < 1 ? 1 : n_threads) {
        for (int i = 1; i < n_threads_; ++i) threads_.emplace_back([this, i] { work(i); });
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

    // Let every thread do its part of n things: part(begin, end). Returns when all are done.
    void divide(int n, const std::function<void(int, int)>& part) {
        if (n_threads_ == 1 || n < 2) {
            part(0, n);
            return;
        }
        n_ = n;
        part_ = &part;
        n_left_.store(n_threads_ - 1, std::memory_order_relaxed);
        round_.fetch_add(1, std::memory_order_release);
        if (n_asleep_.load() > 0) {
            std::lock_guard<std::mutex> lock(mutex_);
            wake_.notify_all();
        }
        do_part(0);
        while (n_left_.load(std::memory_order_acquire) > 0) pause();
    }

  private:
    static void pause() {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }

    void do_part(int i) {
        int begin = static_cast<int64_t>(n_) * i / n_threads_;
        int end = static_cast<int64_t>(n_) * (i + 1) / n_threads_;
        if (begin < end) (*part_)(begin, end);
    }

    // Wait for the next round: some microseconds awake, because it usually comes at once, then asleep.
    void work(int i) {
        unsigned seen = 0;
        while (true) {
            for (int n = 0; round_.load(std::memory_order_acquire) == seen && n < kSpins; ++n) pause();
            if (round_.load(std::memory_order_acquire) == seen) {
                std::unique_lock<std::mutex> lock(mutex_);
                n_asleep_.fetch_add(1);
                wake_.wait(lock, [&] { return round_.load() != seen; });
                n_asleep_.fetch_sub(1);
            }
            ++seen;
            if (is_over_) return;
            do_part(i);
            n_left_.fetch_sub(1, std::memory_order_release);
        }
    }

    static constexpr int kSpins = 20000;
    const int n_threads_;
    std::vector<std::thread> threads_;
    const std::function<void(int, int)>* part_ = nullptr;
    int n_ = 0;
    std::atomic<unsigned> round_{0};
    std::atomic<int> n_left_{0};
    std::atomic<int> n_asleep_{0};
    std::mutex mutex_;
    std::condition_variable wake_;
    bool is_over_ = false;
};

}  // namespace clearhead
