// SPDX-License-Identifier: Apache-2.0
// Reductions by flags, in the order of ranks: the result is the same in every run.
#include "collectives/algorithms/data.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

namespace {

/// Reduces the operands of the ranks below `end`, at least one.
/// \param operand the bytes of a rank
template <class Operand>
void reduce_up_to(peer_id end, const reduction& how, Operand operand, mutable_buffer into) {
  if (end == 1) return copy(operand(0), into);
  how(operand(0), operand(1), into.data());
  for (peer_id rank = 2; rank != end; ++rank) how(into, operand(rank), into.data());
}
void reduce_whole(peer_id end, const flag_round& r) {
  reduce_up_to(
      end, r.with.how, [&](peer_id rank) { return const_buffer(r.place(rank)); },
      r.piece(r.with.out));
}

/// Whether the root of a reduction can take its own operand where it is: it is not overwritten
/// before its turn.
bool keeps_operand(const flag_round& r) {
  return r.is_root() && (r.rank() < 2 || r.with.in.data() != r.with.out.data());
}

bool gives_operand(const flag_round& r) {
  copy(r.piece(r.with.in), r.place(r.rank()));
  return true;
}
void reduce_all(const flag_round& r) { reduce_whole(r.size(), r); }

/// The part of this round that a rank reduces for all.
template <class Buffer>
Buffer part(const flag_round& r, peer_id rank, Buffer of) {
  const division parts(r.bytes(), r.with.how.element, r.size());
  return of.subspan(parts.begin(rank), parts.size(rank));
}
/// All but what this member reduces itself.
bool gives_others_parts(const flag_round& r) {
  const const_buffer mine = r.piece(r.with.in);
  const mutable_buffer place = r.place(r.rank());
  const std::byte* const own = part(r, r.rank(), mine).data();
  const auto before = static_cast<std::size_t>(own - mine.data());
  const std::size_t after = before + part(r, r.rank(), mine).size();
  copy(mine.first(before), place.first(before));
  copy(mine.subspan(after), place.subspan(after));
  return true;
}
void reduce_own_part(const flag_round& r) {
  const mutable_buffer into = part(r, r.rank(), r.common());
  if (into.empty()) return;
  const auto operand = [&](peer_id rank) {
    const bool own = rank == r.rank();
    return part(r, r.rank(), own ? r.piece(r.with.in) : const_buffer(r.place(rank)));
  };
  reduce_up_to(r.size(), r.with.how, operand, into);
}
void take_common(const flag_round& r) { copy(r.common(), r.piece(r.with.out)); }

}  // namespace

const flag_steps reduce_by_flags{
    false, [](const flag_round& r) { return keeps_operand(r) || gives_operand(r); }, all_if_root,
    [](const flag_round& r) {
      if (!r.is_root()) return;
      const auto operand = [&](peer_id rank) {
        return rank == r.rank() && keeps_operand(r) ? r.piece(r.with.in)
                                                    : const_buffer(r.place(rank));
      };
      reduce_up_to(r.size(), r.with.how, operand, r.piece(r.with.out));
    }};

const flag_steps all_reduce_by_flags{false, gives_operand, all_members, reduce_all};

const flag_steps scan_by_flags{false, gives_operand,
                               [](const flag_round& r) {
                                 return rank_range{0, r.rank()};
                               },
                               [](const flag_round& r) {
                                 if (r.rank() != 0) reduce_whole(r.rank() + 1, r);
                               }};

const flag_steps reduce_in_parts{false,       gives_others_parts,
                                 all_members, reduce_own_part,
                                 take_common, [](const flag_round& r) { return r.is_root(); }};

const flag_steps all_reduce_in_parts{false,       gives_others_parts,
                                     all_members, reduce_own_part,
                                     take_common, [](const flag_round&) { return true; }};

}  // namespace weft::collectives
