// SPDX-License-Identifier: Apache-2.0
// Collectives by flags that only move bytes.
#include "collectives/algorithms/data.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

namespace {

bool gives_its_part(const flag_round& r) {
  copy(r.piece(r.with.in), r.place(r.rank()));
  return true;
}
bool gives_each_its_part(const flag_round& r) {
  for (peer_id to = 0; to != r.size(); ++to)
    if (to != r.rank()) copy(r.piece(r.with.in, to), r.place(r.rank(), to));
  return true;
}
/// Into a buffer that has a part of each rank.
void take_all_parts(const flag_round& r) {
  for (peer_id from = 0; from != r.size(); ++from)
    copy(from == r.rank() ? r.piece(r.with.in) : const_buffer(r.place(from)),
         r.piece(r.with.out, from));
}

}  // namespace

const flag_steps barrier_by_flags{false, [](const flag_round&) { return true; }, all_members,
                                  [](const flag_round&) {}};

const flag_steps broadcast_by_flags{false,
                                    [](const flag_round& r) {
                                      if (r.is_root()) copy(r.piece(r.with.out), r.place(r.rank()));
                                      return r.is_root();
                                    },
                                    root_if_not_root,
                                    [](const flag_round& r) {
                                      if (!r.is_root())
                                        copy(r.place(r.with.root), r.piece(r.with.out));
                                    }};

const flag_steps gather_by_flags{false, gives_its_part, all_if_root, [](const flag_round& r) {
                                   if (r.is_root()) take_all_parts(r);
                                 }};

const flag_steps scatter_by_flags{
    true, [](const flag_round& r) { return r.is_root() && gives_each_its_part(r); },
    root_if_not_root,
    [](const flag_round& r) {
      copy(
          r.is_root() ? r.piece(r.with.in, r.rank()) : const_buffer(r.place(r.with.root, r.rank())),
          r.piece(r.with.out));
    }};

const flag_steps all_gather_by_flags{false, gives_its_part, all_members, take_all_parts};

const flag_steps all_to_all_by_flags{
    true, gives_each_its_part, all_members, [](const flag_round& r) {
      for (peer_id from = 0; from != r.size(); ++from)
        copy(from == r.rank() ? r.piece(r.with.in, from) : const_buffer(r.place(from, r.rank())),
             r.piece(r.with.out, from));
    }};

}  // namespace weft::collectives
