// SPDX-License-Identifier: Apache-2.0
// How the rest of a large message crosses: the choices, as pure functions.
#pragma once

#include <cstdint>

namespace weft::transports::shm {

/// How large messages cross.
enum class copy_method : std::uint8_t {
  automatic,  ///< direct where the memory allows it, else pipeline or cma, whichever measures
              ///< faster; cma when the sender is away
  pipeline,   ///< both sides copy through the ring
  cma,        ///< the receiver reads the sender's memory through the kernel
  direct      ///< one copy out of memory from weft's allocator, else pipeline
};

/// How the sender describes where its data is.
enum class exposure : std::uint8_t { nothing, region, address };

/// The sender's choice. \param in_region the data lies in memory of weft's allocator
constexpr exposure choose_exposure(copy_method way, bool in_region) noexcept {
  if (way == copy_method::pipeline) return exposure::nothing;
  if (in_region && way != copy_method::cma) return exposure::region;
  return way == copy_method::direct ? exposure::nothing : exposure::address;
}

/// How the receiver gets the rest.
enum class fetch : std::uint8_t {
  ask,    ///< asks for it: it comes through the ring, and both sides copy
  copy,   ///< copies it out of the sender's region
  read,   ///< has the kernel read it out of the sender's address space; a sender that polls writes
          ///< a part of it
  either  ///< asks or reads, whichever measures faster on this machine
};

/// The facts that the receiver knows.
struct fetch_facts {
  copy_method way = copy_method::automatic;  ///< of the receiver
  exposure told = exposure::nothing;         ///< by the sender
  bool mapped = false;  ///< the region that the sender named is mapped in this process, and holds
                        ///< all the data
  bool cma_works = false;         ///< process_vm_readv reaches the sender
  bool crowded = false;           ///< more processes than cores
  bool sender_computing = false;  ///< its application computes
  bool sender_has_progress_thread = false;
};

struct fetch_choice {
  fetch how;
  const char* why;
};

/// The receiver's choice.
constexpr fetch_choice choose_fetch(const fetch_facts& f) noexcept {
  switch (f.told) {
    case exposure::nothing:
      return {fetch::ask, "the sender named no place to read from"};
    case exposure::region:
      if (f.mapped) return {fetch::copy, "the memory is shared: one copy instead of two"};
      return {fetch::ask, "the sender's region is not mapped here yet"};
    case exposure::address:
      break;
  }
  if (!f.cma_works) return {fetch::ask, "process_vm_readv does not reach the sender"};
  if (f.way == copy_method::cma) return {fetch::read, "WEFT_SHM_COPY=cma asks for it"};
  if (f.way != copy_method::automatic) return {fetch::ask, "WEFT_SHM_COPY asks for it"};
  if (f.crowded) return {fetch::read, "all cores are busy: one copy takes less of them than two"};
  // Copying through the ring needs both sides: a sender that computes and has no progress thread
  // would keep the receiver waiting.
  if (f.sender_computing && !f.sender_has_progress_thread)
    return {fetch::read, "no thread copies on the sender's side at the moment"};
  return {fetch::either, "which one is faster depends on the machine: both are measured"};
}

}  // namespace weft::transports::shm
