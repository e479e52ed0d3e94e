// Fast mode, as a miner uses it: threads compute the dataset, then each hashes a series of nonces.
// Needs 2.4 GB of memory. Build: c++ -std=c++17 fast.cpp $(pkg-config --cflags --libs randomx) -pthread

#include <randomx.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

namespace {

template <auto release>
struct Releaser {
  template <typename T>
  void operator()(T *object) const {
    release(object);
  }
};

using Cache = std::unique_ptr<randomx_cache, Releaser<randomx_release_cache>>;
using Dataset = std::unique_ptr<randomx_dataset, Releaser<randomx_release_dataset>>;
using Vm = std::unique_ptr<randomx_vm, Releaser<randomx_destroy_vm>>;
using Hash = std::array<unsigned char, RANDOMX_HASH_SIZE>;

constexpr unsigned threads = 2;
constexpr std::uint32_t nonces = 8;

void run_on_threads(void (*work)(void *, unsigned), void *argument) {
  std::vector<std::thread> running;
  for (unsigned i = 0; i < threads; i++)
    running.emplace_back(work, argument, i);
  for (std::thread &thread : running)
    thread.join();
}

struct Work {
  randomx_flags flags;
  randomx_cache *cache;
  randomx_dataset *dataset;
  std::array<Hash, nonces> hashes;
  std::array<bool, threads> failed;
};

void compute_part(void *argument, unsigned thread) {
  auto &work = *static_cast<Work *>(argument);
  const unsigned long items = randomx_dataset_item_count();
  const unsigned long start = items / threads * thread;
  const unsigned long end = thread + 1 == threads ? items : items / threads * (thread + 1);
  randomx_init_dataset(work.dataset, work.cache, start, end - start);
}

// Hashes the nonces thread, thread + threads, and so on.
void hash_nonces(void *argument, unsigned thread) {
  auto &work = *static_cast<Work *>(argument);
  const Vm vm(randomx_create_vm(work.flags, nullptr, work.dataset));
  work.failed[thread] = vm == nullptr;
  if (vm == nullptr)
    return;
  std::uint32_t nonce = thread;
  randomx_calculate_hash_first(vm.get(), &nonce, sizeof nonce);
  while (nonce + threads < nonces) {
    const std::uint32_t next = nonce + threads;
    randomx_calculate_hash_next(vm.get(), &next, sizeof next, work.hashes[nonce].data());
    nonce = next;
  }
  randomx_calculate_hash_last(vm.get(), work.hashes[nonce].data());
}

} // namespace

int main() {
  const char key[] = "RandomX example key";
  const randomx_flags flags = randomx_get_flags() | RANDOMX_FLAG_FULL_MEM;

  Cache cache(randomx_alloc_cache(flags));
  const Dataset dataset(randomx_alloc_dataset(flags));
  if (cache == nullptr || dataset == nullptr) {
    std::fputs("cannot allocate a cache and a dataset\n", stderr);
    return 1;
  }
  randomx_init_cache(cache.get(), key, std::strlen(key));
  Work work{flags, cache.get(), dataset.get(), {}, {}};
  run_on_threads(compute_part, &work);
  cache.reset(); // The dataset replaces it.

  run_on_threads(hash_nonces, &work);
  for (const bool failed : work.failed) {
    if (failed) {
      std::fputs("cannot create a VM\n", stderr);
      return 1;
    }
  }
  for (const Hash &hash : work.hashes) {
    for (const unsigned char byte : hash)
      std::printf("%02x", byte);
    std::putchar('\n');
  }
}
