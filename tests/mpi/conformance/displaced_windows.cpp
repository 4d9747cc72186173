// SPDX-License-Identifier: Apache-2.0
// One-sided calls of types whose data do not begin at the buffer, nor at the window's address.
#include <algorithm>

#include "displaced.hpp"

namespace conformance {
namespace {

/// A window of the ranks' memory that holds an area at its middle, for displacements below 0.
class shared_area {
 public:
  shared_area(const area& content, bool allocated) : content_(content) {
    const auto bytes = static_cast<MPI_Aint>(content_.memory().size() * sizeof(std::int32_t));
    if (allocated) {
      MPI_Win_allocate(bytes, sizeof(std::int32_t), MPI_INFO_NULL, MPI_COMM_WORLD, &memory_,
                       &window_);
    } else {
      memory_ = content_.memory().data();
      MPI_Win_create(memory_, bytes, sizeof(std::int32_t), MPI_INFO_NULL, MPI_COMM_WORLD, &window_);
    }
  }
  ~shared_area() { MPI_Win_free(&window_); }
  shared_area(const shared_area&) = delete;
  shared_area& operator=(const shared_area&) = delete;

  MPI_Win window() const { return window_; }
  MPI_Aint at() { return content_.buffer() - content_.memory().data(); }  ///< of the buffer
  void fill(area& with) {
    std::copy(with.memory().begin(), with.memory().end(), memory_);
    MPI_Win_fence(0, window_);
  }
  area& fenced() {
    MPI_Win_fence(0, window_);
    std::copy(memory_, memory_ + content_.memory().size(), content_.memory().begin());
    return content_;
  }

 private:
  area content_;
  std::int32_t* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

void calls(check& c, const placed& mine, const placed& theirs, int items, bool allocated) {
  const auto all = static_cast<std::size_t>(items);
  const int to = (c.rank + 1) % c.size;
  const int from = (c.rank + c.size - 1) % c.size;
  const std::string what = ", " + mine.name + " to " + theirs.name + ", " + std::to_string(items) +
                           " of " + std::to_string(mine.at.size()) +
                           (allocated ? ", allocated" : "");
  area empty(theirs, all);
  area out(mine, all);
  write(out, 0, all, c.rank, to);
  area written(theirs, all);
  write(written, 0, all, from, c.rank);
  shared_area there(empty, allocated);
  const MPI_Win window = there.window();
  const MPI_Aint at = there.at();

  there.fill(empty);
  MPI_Put(out.buffer(), items, mine.type, to, at, items, theirs.type, window);
  same(c, "Put" + what, written, there.fenced());
  there.fill(empty);
  MPI_Accumulate(out.buffer(), items, mine.type, to, at, items, theirs.type, MPI_REPLACE, window);
  same(c, "Accumulate" + what, written, there.fenced());

  area kept(theirs, all);  // what a rank has in its own window
  write(kept, 0, all, c.rank, -1);
  area expected(mine, all);
  write(expected, 0, all, to, -1);
  area in(mine, all);
  there.fill(kept);
  MPI_Get(in.buffer(), items, mine.type, to, at, items, theirs.type, window);
  same(c, "window after Get" + what, kept, there.fenced());
  same(c, "Get" + what, expected, in);

  // Open MPI 4.1's pt2pt writes beyond its own buffers when such types are long.
  if (mine.at.size() < 5000) {
    area before(mine, all);
    there.fill(kept);
    MPI_Get_accumulate(out.buffer(), items, mine.type, before.buffer(), items, mine.type, to, at,
                       items, theirs.type, MPI_REPLACE, window);
    same(c, "window after Get_accumulate" + what, written, there.fenced());
    same(c, "Get_accumulate" + what, expected, before);

    area seen(mine, all);
    there.fill(kept);
    MPI_Get_accumulate(nullptr, 0, MPI_DATATYPE_NULL, seen.buffer(), items, mine.type, to, at,
                       items, theirs.type, MPI_NO_OP, window);
    same(c, "window after Get_accumulate with MPI_NO_OP" + what, kept, there.fenced());
    same(c, "Get_accumulate with MPI_NO_OP" + what, expected, seen);
  }

  // Between lock and unlock, with a request.
  const auto locked = [&](auto call) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
    waited(call);
    MPI_Win_unlock(to, window);
    MPI_Barrier(MPI_COMM_WORLD);
  };
  there.fill(empty);
  locked([&](MPI_Request* r) {
    MPI_Rput(out.buffer(), items, mine.type, to, at, items, theirs.type, window, r);
  });
  same(c, "Rput" + what, written, there.fenced());
  area again(mine, all);
  there.fill(kept);
  locked([&](MPI_Request* r) {
    MPI_Rget(again.buffer(), items, mine.type, to, at, items, theirs.type, window, r);
  });
  same(c, "Rget" + what, expected, again);
}

}  // namespace

void displaced_windows(check& c) {
  for (const int n : displaced_lengths(c)) {
    const displaced_types types(n);
    for (std::size_t i = 0; i < types.size(); ++i) {
      calls(c, types[i], types[i + 1], n < 5000 ? 3 : 1, false);
      if (n < 5000) calls(c, types[i], types[i + 1], 1, true);
    }
  }
}

}  // namespace conformance
