// SPDX-License-Identifier: Apache-2.0
// The memory for a context's loans.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proto/loans/loan_block.hpp"
#include "runtime/progress/engine.hpp"

namespace weft::proto {

/// Blocks of one piece of memory. Those that are free again are kept by size, and a block of a size
/// that was used before costs neither a search nor an allocation. Where no such block is free,
/// memory that was never used is cut, and when that is used up, all free blocks are joined with
/// their neighbours and cut anew. Owned by the context, by lane; progress lock held only, except
/// where it says otherwise.
class loan_pool {
 public:
  static constexpr std::size_t page = 4096;

  /// \param most bytes of memory that it will have; rounded up to pages \throws std::bad_alloc
  loan_pool(runtime::engine& e, std::size_t most);
  ~loan_pool();
  loan_pool(const loan_pool&) = delete;
  loan_pool& operator=(const loan_pool&) = delete;

  runtime::engine& engine() const noexcept { return engine_; }  ///< any thread
  std::size_t budget() const noexcept { return budget_; }       ///< any thread; bytes

  bool has_memory() const noexcept { return !memory_.empty(); }
  /// Once. \param memory budget() bytes of zeros, at a page; outlives the pool's use
  void use(std::span<std::byte> memory);

  /// Null: there is no room, or no memory for its state. The bytes are those of an earlier use, or
  /// zeros; all of its pages exist, so that a peer that reads them makes none.
  loan_block* take(std::size_t size) noexcept;
  /// One holder fewer; without any the block is free again.
  void give_back(loan_block& b) noexcept;

  /// For a send of a block, of which the caller is a holder: the message holds in its place. Null:
  /// no memory, and nothing has changed.
  loan_message* message_of(loan_block& b) noexcept;
  /// Of no use any more, and neither is what it holds.
  void give_back(loan_message& m) noexcept;

  /// Why `take` found no room, and the cure, for people.
  std::string explain(std::size_t size) const;

  std::size_t in_use() const noexcept { return in_use_; }  ///< blocks
  /// Whether nothing is in use, and all of the memory is one piece again. Joins free blocks.
  bool is_whole() noexcept;

 private:
  struct size_class {
    std::size_t index;
    std::size_t bytes;
  };
  static size_class class_of(std::size_t size) noexcept;
  loan_block* make(std::size_t bytes, std::size_t index) noexcept;
  loan_block* cut(std::size_t bytes, std::size_t index);
  void join_free();
  void add_extent(std::size_t offset, std::size_t size);

  runtime::engine& engine_;
  const std::size_t budget_;
  std::span<std::byte> memory_;
  std::vector<loan_block*> free_;  // by size class, each a list
  std::map<const loan_block*, std::unique_ptr<loan_block>> blocks_;
  std::deque<loan_message> messages_;  // besides the first ones of blocks
  loan_message* free_message_ = nullptr;
  std::map<std::size_t, std::size_t> extents_;  // free and joined: size by offset
  std::size_t touched_ = 0;                     // all pages before this offset exist
  std::size_t in_use_ = 0, bytes_in_use_ = 0;
};

}  // namespace weft::proto
