// A few threads that do the parts of one job at the same time and wait for each other.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

namespace lff {

inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// How the processor treats numbers near zero: a thread has its own setting, and a worker takes that
// of the caller, who may have asked torch to flush them.
#if defined(__x86_64__)
inline uint64_t float_mode() { return __builtin_ia32_stmxcsr(); }
inline void set_float_mode(uint64_t mode) { __builtin_ia32_ldmxcsr((unsigned)mode); }
#elif defined(__aarch64__)
inline uint64_t float_mode() {
  uint64_t mode;
  asm volatile("mrs %0, fpcr" : "=r"(mode));
  return mode;
}
inline void set_float_mode(uint64_t mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
inline uint64_t float_mode() { return 0; }
inline void set_float_mode(uint64_t) {}
#endif

// Parts are numbered 0 to n-1; the caller does part 0.  Which thread does a part has no influence
// on its result.  Workers wait for a while in a loop, because the jobs of one update follow each
// other within microseconds, and then asleep.
template <int n>
class Team {
 public:
  Team() {
    for (int t = 1; t < n; ++t) workers_[t] = std::thread([this, t] { work(t); });
  }
  ~Team() {
    if (getpid() != home_) {  // a fork: the threads are the parent's
      for (int t = 1; t < n; ++t) workers_[t].detach();
      return;
    }
    if (n > 1) start(nullptr, nullptr);
    for (int t = 1; t < n; ++t) workers_[t].join();
  }

  // Does f(t) for each part t.
  template <class F>
  void run(const F& f) {
    if (n == 1 || getpid() != home_) {
      for (int t = 0; t < n; ++t) f(t);
      return;
    }
    start([](const void* job, int t) { (*static_cast<const F*>(job))(t); }, &f);
    f(0);
    for (int i = 0; left_.load(std::memory_order_acquire) > 0; ++i)
      if (i < patience) pause();
      else std::this_thread::yield();
  }

 private:
  static constexpr int patience = 2000;
  using Job = void (*)(const void*, int);

  void start(Job job, const void* data) {
    job_ = job, data_ = data, mode_ = float_mode();
    left_.store(n - 1, std::memory_order_relaxed);
    turn_.fetch_add(1, std::memory_order_release);
    turn_.notify_all();
  }
  void work(int t) {
    for (unsigned seen = 0;; ++seen) {
      for (int i = 0; turn_.load(std::memory_order_acquire) == seen; ++i)
        if (i < patience) pause();
        else turn_.wait(seen, std::memory_order_acquire);
      if (!job_) return;
      set_float_mode(mode_);
      job_(data_, t);
      left_.fetch_sub(1, std::memory_order_release);
    }
  }

  const pid_t home_ = getpid();
  std::thread workers_[n];
  Job job_ = nullptr;
  const void* data_ = nullptr;
  uint64_t mode_ = 0;
  std::atomic<unsigned> turn_{0};
  std::atomic<int> left_{0};
};

}  // namespace lff
