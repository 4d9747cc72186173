// SPDX-License-Identifier: Apache-2.0
// The send queue of a VI.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "bindings/vipl/base/memory.hpp"
#include "bindings/vipl/base/ring.hpp"
#include "bindings/vipl/vi/completions.hpp"
#include "bindings/vipl/vi/known_descriptors.hpp"
#include "bindings/vipl/vi/work.hpp"

namespace weft::vipl {

class vi;

/// Messages have labels, their numbers on the connection. With the NIC locked.
class send_queue {
 public:
  send_queue(vi& of, completion_queue* queue) : finished(of, false, queue), vi_(of) {}

  completions finished;
  bool empty() const noexcept { return finished.posted() == 0; }
  /// Whether a descriptor that is not complete uses that memory.
  bool uses(const registration& r, VIP_MEM_HANDLE handle) const noexcept;

  /// \param bad bits of its Status: it is wrong, and completes in its turn. 0: it is well
  /// \throws std::bad_alloc
  void post(VIP_DESCRIPTOR& d, std::uint32_t bad);
  /// Begins, commits and completes what can be.
  void advance() noexcept;

  // --- the connection ---------------------------------------------------------------------------

  void restart() noexcept;
  /// No answer will come: works that wait for one end.
  void abandon(std::uint32_t status) noexcept;
  /// Whether weft uses buffers of this queue.
  bool in_flight() const noexcept;
  /// Whether bytes of an RDMA write are on their way.
  bool writes_now() const noexcept;

  // --- messages: in their handler ---------------------------------------------------------------

  void on_arrived(std::uint32_t messages) noexcept;
  void on_refused(std::uint32_t label) noexcept;
  /// The list that comes with it is all that there is for that message.
  void on_answer(std::uint32_t label) noexcept { answered_ = label; }
  void on_descriptors(std::span<const std::byte> list) noexcept;
  /// Not in the handler: goes on with a work whose question is answered. \throws std::bad_alloc
  void settle();

  // --- weft's operations ------------------------------------------------------------------------

  void on_moved(work& w) noexcept;                   ///< its transfers have ended
  void on_committed(work& w, errc status) noexcept;  ///< its message has left, or a piece of it

 private:
  void add_work();
  bool advance_once();
  bool may_begin_early(const work& w) const noexcept;
  bool publish() noexcept;
  void report_rdma(const work& w) noexcept;
  static void finish(work& w, std::uint32_t status) noexcept;

  // send_start.cpp
  void begin(work& w);
  void begin_rdma(work& w);
  void place(work& w, const known_descriptor& at);
  void ask(work& w);
  void start_parts(work& w) noexcept;

  // send_commit.cpp
  bool send_at_once(VIP_DESCRIPTOR& d, std::uint32_t length) noexcept;
  void commit(work& w);
  std::span<const std::byte> compose(header h, const VIP_DESCRIPTOR& d, std::size_t from,
                                     std::size_t size, const std::uint32_t* place) noexcept;
  void send_pieces(work& w);
  void has_left(work& w, errc status) noexcept;

  vi& vi_;
  ring<work*> works_;
  std::size_t started_ = 0, committed_ = 0;  // of works_, from its front
  std::vector<std::unique_ptr<work>> all_works_;
  std::vector<work*> free_works_;
  bool advancing_ = false, again_ = false;
  std::uint32_t next_label_ = 0;  // of the next message
  std::uint32_t confirmed_ = 0;   // messages below this label, by the peer
  known_descriptors known_;
  /// The label of the question that was answered, and its work does not know yet. That work may
  /// have found its descriptor in a list before: then the answer is for none that asks now.
  std::optional<std::uint32_t> answered_;
};

}  // namespace weft::vipl
