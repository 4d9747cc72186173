// SPDX-License-Identifier: Apache-2.0
// leaving WAY FILE: a rank that ends its process, with 3, by another way than the end of main after
// MPI_Finalize. Most do so in the middle of a message to the next rank, whose receive is into a
// static object, which is gone before its process is.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int well = 3;

/// Waits for all ranks, without MPI: by a counter in a file. MPI's last messages may be lost when
/// their sender ends.
void meet_all(const char* file, int ranks) {
  const int fd = ::open(file, O_RDWR);
  if (::ftruncate(fd, sizeof(int)) != 0) std::_Exit(2);
  void* const at = ::mmap(nullptr, sizeof(int), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) std::_Exit(2);
  const std::atomic_ref<int> there(*static_cast<int*>(at));
  for (++there; there < ranks;) std::this_thread::yield();
}

/// Some programs call MPI_Finalize in the destructor of a static object.
struct session {
  bool open = false;
  ~session() {
    if (open) MPI_Finalize();
  }
};
session all;

constexpr int count = 1 << 20;
std::vector<int> inbox(count);
std::vector<int> outbox(count, 7);

void leave() { std::exit(well); }

/// The address range of code.
struct code_range {
  std::uintptr_t begin = 0, end = 0;
};
code_range provider;

void find_provider() {
  ::dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t, void*) {
        if (!std::strstr(object->dlpi_name, "libweft-fi.so")) return 0;
        for (int i = 0; i != object->dlpi_phnum; ++i) {
          const auto& segment = object->dlpi_phdr[i];
          if (!(segment.p_flags & PF_X)) continue;
          const std::uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
          provider = {begin, begin + segment.p_memsz};
        }
        return 1;
      },
      nullptr);
  if (provider.end == 0) std::_Exit(2);
}

std::uintptr_t interrupted_at(const void* context) {
  const mcontext_t& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__aarch64__)
  return static_cast<std::uintptr_t>(registers.pc);
#else
  return static_cast<std::uintptr_t>(registers.gregs[REG_RIP]);
#endif
}

/// Leaves out of weft's code only. Elsewhere malloc's lock may be held, which `exit` takes as well,
/// so that no program may leave from there: in the C library, and in what it calls (UCX's `sbrk`).
void leave_in_signal(int, siginfo_t*, void* context) {
  const std::uintptr_t at = interrupted_at(context);
  if (at >= provider.begin && at < provider.end) leave();
  ::ualarm(100, 0);
}

void exchange(const char* file, bool to_the_end) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int next = (rank + 1) % size, before = (rank + size - 1) % size;
  int out = rank, in = -1;
  MPI_Sendrecv(&out, 1, MPI_INT, next, 1, &in, 1, MPI_INT, before, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (in != before) std::_Exit(1);
  meet_all(file, size);
  MPI_Request r[2];
  MPI_Irecv(inbox.data(), count, MPI_INT, before, 2, MPI_COMM_WORLD, &r[0]);
  MPI_Isend(outbox.data(), count, MPI_INT, next, 2, MPI_COMM_WORLD, &r[1]);
  if (to_the_end) MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string way = argc == 3 ? argv[1] : "";
  if (way == "atexit") std::atexit([] { MPI_Finalize(); });
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &threads);
  // Gives what weft leaves behind time to go wrong: this library's end comes after libfabric's.
  if (!::dlopen(WEFT_TEST_LATE, RTLD_NOW)) return 2;
  const bool finalizes = way == "atexit" || way == "static";
  all.open = way == "static";
  exchange(argv[2], finalizes);
  if (finalizes) return well;
  if (way == "exit") leave();
  if (way == "abort") MPI_Abort(MPI_COMM_WORLD, well);
  if (way == "thread") {
    std::thread(&leave).detach();
    for (;;) ::pause();
  }
  if (way == "signal") {
    find_provider();
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = &leave_in_signal;
    ::sigaction(SIGALRM, &action, nullptr);
    ::ualarm(1000, 0);
    int there = 0;  // inside the provider for most of its time
    for (;;) MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
  }
  return 2;
}
