// SPDX-License-Identifier: Apache-2.0
// The steps of messages as a tree of text, for finding out where a message is, or why it is late.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/descriptors/fd.hpp"

namespace weft::runtime {

/// Writes a line when a step begins, one for each event within it, and one when it ends, with its
/// time. Steps of one thread are nested, as its calls are. A line is written at once, with one
/// system call, so that the tree of a hung or killed process is whole. Owned by the trace. Any
/// thread. docs/debugging.md
class call_tree {
 public:
  /// The message of a step; the parts that are left out are not printed.
  struct subject {
    static constexpr std::uint32_t no_peer = ~std::uint32_t{0};
    static constexpr std::uint64_t nothing = ~std::uint64_t{0};
    std::uint32_t peer = no_peer;
    std::uint64_t tag = nothing;
    std::uint64_t bytes = nothing;
    const char* kind = nullptr;  ///< a literal: of a frame
  };

  /// \param file replaced if it exists; "stderr": lines go there
  /// \param rank printed in each line
  /// \param messages after so many sent or received ones no step is written any more; 0: all are
  /// \throws weft::error (system) if the file cannot be written
  call_tree(const std::string& file, std::uint32_t rank, std::uint64_t messages);
  call_tree(const call_tree&) = delete;
  call_tree& operator=(const call_tree&) = delete;

  /// Begins a step of this thread. \param what a literal; the peer's number follows it
  /// \param only_with_more written only when something happens within the step
  void enter(const char* what, const subject& of, bool only_with_more) noexcept;
  /// Ends the last step that this thread began.
  void leave() noexcept;
  /// An event within the present step of this thread, if there is one.
  void note(const char* what, const subject& of) noexcept;
  /// The same for a sleep that has ended.
  void note_sleep(std::chrono::nanoseconds took, std::uint64_t events) noexcept;
  /// A message was sent or received: notes that, and counts it.
  void end_message(const char* what, const subject& of) noexcept;

 private:
  bool is_over() const noexcept {
    return messages_ != 0 && ended_.load(std::memory_order_relaxed) >= messages_;
  }
  void write_open_steps() noexcept;
  void write(std::chrono::steady_clock::time_point at, std::size_t depth, char mark,
             const char* text) noexcept;

  unique_fd out_;
  const std::uint32_t rank_;
  const std::uint64_t messages_;
  std::atomic<std::uint64_t> ended_{0};
};

/// A step of the calling thread, for a scope. Without a call tree it costs two branches.
class step {
 public:
  /// \param tree null: there is none
  step(call_tree* tree, const char* what, const call_tree::subject& of = {},
       bool only_with_more = false) noexcept
      : tree_(tree) {
    if (tree_) [[unlikely]]
      tree_->enter(what, of, only_with_more);
  }
  ~step() {
    if (tree_) [[unlikely]]
      tree_->leave();
  }
  step(const step&) = delete;
  step& operator=(const step&) = delete;

 private:
  call_tree* const tree_;
};

}  // namespace weft::runtime
