// SPDX-License-Identifier: Apache-2.0
// Types whose data do not begin at the address that MPI gets, as programs have them that pass a
// part of a matrix, or a field of a structure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "check.hpp"

namespace conformance {

/// A committed type of ints, and where its ints are.
struct placed {
  std::string name;
  MPI_Datatype type;
  std::vector<std::ptrdiff_t> at;  ///< in the type's order, in ints from the buffer's address
  std::ptrdiff_t extent;           ///< from an item to the next, in ints
};

/// Lengths of types in ints, on both sides of the sizes at which libraries change their ways.
std::vector<int> displaced_lengths(const check& c);

/// Types of `n` ints each: before and behind the address, with and without holes, and a plain one.
class displaced_types {
 public:
  explicit displaced_types(int n);
  ~displaced_types();
  displaced_types(const displaced_types&) = delete;
  displaced_types& operator=(const displaced_types&) = delete;

  std::size_t size() const { return all_.size(); }
  const placed& operator[](std::size_t i) const { return all_[i % all_.size()]; }

 private:
  void add(const char* name, MPI_Datatype type, std::vector<std::ptrdiff_t> at,
           std::ptrdiff_t extent);

  std::vector<placed> all_;
};

/// The memory that so many items of a type reach, and what is between them.
class area {
 public:
  area(const placed& layout, std::size_t items);

  std::int32_t* buffer() { return memory_.data() + before_; }  ///< the address for MPI
  std::int32_t& at(std::size_t item, std::size_t i) {
    return *(buffer() + static_cast<std::ptrdiff_t>(item) * extent_ + at_[i]);
  }
  std::size_t ints() const { return at_.size(); }  ///< of an item
  std::vector<std::int32_t>& memory() { return memory_; }

 private:
  std::vector<std::ptrdiff_t> at_;
  std::ptrdiff_t extent_;
  std::ptrdiff_t before_ = 0;
  std::vector<std::int32_t> memory_;
};

/// Int i of an item that goes from one rank to another.
inline std::int32_t mark(int from, int to, std::size_t item, std::size_t i) {
  return from * 50000017 + to * 5000011 + static_cast<std::int32_t>(item * 1000003 + i);
}

/// Writes `items` items, the first of which has number `first`.
void write(area& into, std::size_t first, std::size_t items, int from, int to);

/// Whether both have the same in each place, those between the items included.
bool same(check& c, const std::string& what, area& expected, area& got);

/// Waits for the request that `call` makes.
template <class F>
void waited(F call) {
  MPI_Request r;
  call(&r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
}

}  // namespace conformance
