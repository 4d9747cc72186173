// SPDX-License-Identifier: Apache-2.0
// What an endpoint is bound to (fi_ep_bind): where the ends of its operations are reported.
#pragma once

#include <array>

#include "bindings/ofi/objects/completion_queue.hpp"
#include "bindings/ofi/objects/counter.hpp"

namespace weft::ofi {

/// Operations of one kind, and where their ends go.
struct direction {
  completion_queue* queue = nullptr;
  bool selective = false;
  counter* counted = nullptr;
  completions* ended = nullptr;  ///< once the endpoint is enabled

  /// Whether an operation with those flags has an entry in the queue if it ends well.
  bool wants_entry(std::uint64_t flags) const noexcept {
    return queue && (!selective || (flags & FI_COMPLETION) != 0);
  }
};

/// The directions of one endpoint. Accesses to memory of peers are reported where sends are, with
/// counters of their own. From `enable` on with the external loop held, but for the functions that
/// take the loop.
class bound_directions {
 public:
  direction sends, receives, reads, writes;

  explicit bound_directions(endpoint& of) noexcept;
  /// Forgets records that no queue has reported.
  ~bound_directions();

  /// Before `enable`. \return 0 or a negative error of libfabric, as each of these
  int bind(completion_queue& q, std::uint64_t flags) noexcept;
  /// \param loop null: the endpoint is not enabled; else not held
  int bind(counter& c, std::uint64_t flags, external_loop* loop);
  /// Whether an end of sends or receives is reported anywhere.
  bool any() const noexcept {
    return sends.queue || receives.queue || sends.counted || receives.counted;
  }
  /// Begins to report. \throws std::bad_alloc
  void enable(external_loop& loop);
  /// No end is reported any more; what it was bound to may be closed. \param loop as in `bind`
  void detach(external_loop* loop) noexcept;
  /// For ends that come after `detach`.
  void forget() noexcept { sends = receives = reads = writes = {}; }

  const direction& of(const record& r) const noexcept {
    switch (r.what) {
      case record::kind::send:
        return sends;
      case record::kind::read:
        return reads;
      case record::kind::write:
        return writes;
      default:
        return receives;
    }
  }

 private:
  std::array<completions, 2> ended_;
};

}  // namespace weft::ofi
