// SPDX-License-Identifier: Apache-2.0
#include "bindings/mpi_collectives/communicators.hpp"

#include <exception>

namespace weft::mpi_collectives {

using open_mpi::call;
using open_mpi::success;

int communicators::make_key() noexcept {
  using copy = int(handle, int, void*, void*, void*, int*);
  using remove = int(handle, int, void*, void*);
  static constinit call create("PMPI_Comm_create_keyval");
  copy* const not_to_duplicates = [](handle, int, void*, void*, void*, int* copied) {
    *copied = 0;
    return success;
  };
  remove* const give_back = [](handle, int, void* value, void*) {
    auto& e = *static_cast<entry*>(value);
    e.all->give_back(e);
    return success;
  };
  int key = no_key;
  const int wrong = create(not_to_duplicates, give_back, &key, static_cast<void*>(nullptr));
  key_ = key;
  return wrong;
}

communicators::entry* communicators::take_entry(handle comm) {
  const std::lock_guard held(mutex_);
  if (key_ == no_key && make_key() != success) return nullptr;
  entry* free = nullptr;
  for (entry& e : entries_)
    if (!e.comm.load(std::memory_order_relaxed)) free = &e;
  if (!free) free = &entries_.emplace_back();
  free->all = this;
  free->comm.store(comm, std::memory_order_relaxed);
  return free;
}

void communicators::give_back(entry& e) noexcept {
  const std::lock_guard held(mutex_);
  e.calls = 0;
  e.decided = false;
  e.flags.reset();
  e.comm.store(nullptr, std::memory_order_relaxed);
}

/// What is no communicator is left to MPI, which says so.
communicators::entry* communicators::look_up(handle comm) noexcept {
  static constinit open_mpi::named none("ompi_mpi_comm_null", open_mpi::named::what::object);
  static constinit call get_attribute("PMPI_Comm_get_attr");
  static constinit call set_attribute("PMPI_Comm_set_attr");
  if (!comm || comm == none.address()) return nullptr;
  void* value = nullptr;
  int found = 0;
  const int key = key_;
  if (key != no_key && get_attribute(comm, key, &value, &found) != success) return nullptr;
  auto* e = static_cast<entry*>(value);
  if (!found) {
    try {
      e = take_entry(comm);
    } catch (const std::exception&) {
      return nullptr;
    }
    if (!e || set_attribute(comm, key_.load(), static_cast<void*>(e)) != success) return nullptr;
  }
  last_.store(e, std::memory_order_release);
  return e;
}

flag_communicator* communicators::count(entry& e) noexcept {
  if (++e.calls <= calls_by_mpi) return nullptr;
  e.flags = agree_on_flags(e.comm.load(std::memory_order_relaxed));
  e.decided = true;
  return e.flags.get();
}

}  // namespace weft::mpi_collectives
