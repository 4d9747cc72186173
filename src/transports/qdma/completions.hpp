// SPDX-License-Identifier: Apache-2.0
// Copies that have ended, and that their links have not been told of yet.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/rendezvous.hpp>

#include "runtime/completion/second_queue.hpp"
#include "runtime/descriptors/memory_file.hpp"
#include "transports/qdma/receive_queue.hpp"

namespace weft::transports::qdma {

class queue_link;

/// The end is told at once, or as in the paper on Open MPI over Elan4: each copy is followed by a
/// small message to a queue of this process, and the reader of that queue learns of the end
/// (docs/adr/0023-chained-fin.md). Owned by the transport; progress lock held only.
///
/// The messages are empty. Peers can write to the queue that takes these messages, too, so ended
/// copies are kept in this object, with the position of their message, and told when the reader has
/// passed it.
class completions final : public runtime::second_queue {
 public:
  /// The sender of these messages: an id that no other sender has.
  static constexpr vpid own = 0;

  /// \param incoming the queue of the peers' messages
  /// \param thread reads the separate queue, if there is one; null: passes do
  /// \throws weft::error (system) for want of memory for a second queue
  completions(copy_completion how, queue_memory& incoming, const queue_progress& progress,
              runtime::second_queue_reader* thread);
  ~completions() {
    if (thread_) thread_->serve(nullptr);
  }
  completions(const completions&) = delete;
  completions& operator=(const completions&) = delete;

  bool direct() const noexcept { return !writer_; }
  bool empty() const noexcept { return ended_.empty(); }
  /// Whether a pass has to report ended copies: the completion thread does not.
  bool passes_report() const noexcept { return !empty() && !(thread_ && thread_->serves()); }
  /// Copies may have ended: wakes the completion thread, if it reports them.
  void wake_thread() noexcept {
    if (thread_ && !empty() && thread_->serves()) thread_->ring();
  }

  /// Makes room for so many, so that `add` cannot fail. \return false: no memory
  bool reserve(std::size_t more) noexcept;

  /// \return whether the message is in its queue; if not, for want of room, `post_late` tries again
  bool add(queue_link& of, std::uint64_t cookie, bool well) noexcept;
  void post_late() noexcept;

  /// The reader of the peers' queue has come to `head`: tells of the copies whose messages it has
  /// passed.
  /// \return how many
  unsigned seen(std::uint64_t head) noexcept { return apart_ ? 0 : tell_before(head); }
  /// Reads the separate queue, if there is one, and tells of its copies.
  unsigned take() noexcept;
  /// The same on the completion thread, with those that found no room.
  void take_all() noexcept override;
  /// Tells of all copies of a link, as its last calls.
  void tell_all_of(const queue_link& l) noexcept;
  /// Drops the copies of a link without telling.
  void drop_all_of(const queue_link& l) noexcept;

 private:
  static constexpr std::uint64_t not_posted = ~std::uint64_t{0};
  struct one {
    queue_link* of;
    std::uint64_t cookie;
    bool well;
    std::uint64_t position;
  };
  /// A queue that no other process can write to.
  struct separate_queue {
    runtime::mapping memory;
    queue_progress progress{};
    std::optional<queue_reader> reader;
    separate_queue();
    queue_memory& queue() const noexcept { return *static_cast<queue_memory*>(memory.get()); }
  };

  unsigned tell_before(std::uint64_t head) noexcept;
  bool post(one& o) noexcept;
  void tell_first() noexcept;

  runtime::second_queue_reader* thread_ = nullptr;  // null: passes report
  std::optional<separate_queue> apart_;
  std::optional<queue_writer> writer_;
  std::vector<one> ended_;  // in the order of their ends, which is that of their positions
};

}  // namespace weft::transports::qdma
