// SPDX-License-Identifier: Apache-2.0
// group: an ordered set of processes, and their collectives.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include <weft/context.hpp>
#include <weft/detail/collective_values.hpp>
#include <weft/membership.hpp>
#include <weft/reduction.hpp>

namespace weft {

class shared_flags;

namespace detail {

/// Elements that lie behind each other and outlive the expression: a vector, an array, a span.
template <class R>
concept element_range =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    std::ranges::borrowed_range<R> && std::is_trivially_copyable_v<std::ranges::range_value_t<R>> &&
    alignof(std::ranges::range_value_t<R>) <= alignof(std::max_align_t);
/// The same, and the elements can be changed.
template <class R>
concept result_range = element_range<R> &&
                       !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

template <class R>
const_buffer bytes_of(R&& r) noexcept {
  return std::as_bytes(std::span(std::ranges::data(r), std::ranges::size(r)));
}
template <class R>
mutable_buffer writable_bytes_of(R&& r) noexcept {
  return std::as_writable_bytes(std::span(std::ranges::data(r), std::ranges::size(r)));
}

/// What is sent and what comes are elements of one type.
template <class R, class To>
constexpr void require_same_elements() noexcept {
  static_assert(std::same_as<std::ranges::range_value_t<R>, std::ranges::range_value_t<To>>,
                "both ranges of a collective have elements of one type");
}

/// The checks of shapes.
/// \throws weft::error (invalid_argument)
void check_root(peer_id root, peer_id size);
void check_equal(std::size_t has, std::size_t needs, const char* what);
void check_counts(std::span<const std::size_t> counts, peer_id ranks, std::size_t elements,
                  const char* what);

}  // namespace detail

/// An ordered set of processes, numbered from 0. Collectives have a tag space for each group: those
/// of two groups never mix, and none meets a message of the application. The endpoints of a group
/// are those of its context, so a tag is the same in every group; `own_tag` makes one that is not.
/// A handle: cheap to copy, must not outlive its context. Any thread.
///
/// **Collectives** (barrier, broadcast, reduce and so on) are calls that every member makes, in one
/// order, with parts of one size. Each is an awaitable that ends when this process has its result
/// and its buffers are its own again. It moves by messages that the thread inside `run` and the
/// progress thread send and receive: also while the application computes.
///
///     scope fly;
///     fly.start(world.all_reduce(gradient));   // moves while
///     compute();                               // this computes
///     co_await fly.join();
///
/// Several collectives of a group may be in flight, also of different kinds; members start them in
/// one order. Buffers and their elements live unchanged until the end. What a call reads and what
/// it writes do not overlap, except that this rank's own part may lie in its place: `mine` of
/// gather, all_gather and scatter in `all`, and `mine` of reduce may be `result`. Other overlaps
/// are invalid_argument. Which algorithm is used depends on the size and on the group:
/// `weft-info --why all_reduce:1m:8` explains it.
///
/// **Failures.** When a member dies, leaves, or stops a collective (`within`, a stop token), the
/// collective in flight, and all later ones of this group, end with an error at every member:
/// peer_lost, closed or stopped, with the rank that caused it. The members that are left make a
/// group by `shrink`. A member that ended a collective well before may learn of it in the next one.
/// All get the first cause.
///
/// When members make different calls (another collective, size, root or operation, or another
/// order), all end with invalid_argument, and the text says who has called what. Where no message
/// shows it, that is found out after a while of waiting. A wrong call goes unnoticed if its member
/// only sends in it, and no other waits for that member: gather at a rank that the others scatter
/// to. docs/adr/0033-groups.md
class group {
 public:
  /// \param owner the context \param state as made by a context; null: its world
  explicit group(context& owner, detail::communicator_ptr state = nullptr);

  context& owner() const noexcept { return *owner_; }  ///< the context of its endpoints
  peer_id rank() const noexcept;  ///< of this process; size() or more: it is no member
  peer_id size() const noexcept;  ///< the number of members

  /// The member of that rank; this process's own rank is allowed.
  /// \throws weft::error (invalid_argument) if rank >= size()
  endpoint operator[](peer_id rank) const;

  /// Receives from any source, as `context::recv`. Does not end when processes die;
  /// `endpoint::closed` reports that.
  recv_request recv_any(mutable_buffer into, tag_mask t) const { return owner_->recv(into, t); }

  /// The rank of a member; nothing: it is none. `world.rank_of(ctx.peer(about.source))`
  std::optional<peer_id> rank_of(const endpoint& who) const noexcept;

  /// The ranks of the members that are lost or have closed, as far as this process has learnt it:
  /// of those that it has exchanged messages with, and the one that ended a collective.
  std::vector<peer_id> lost() const;

  /// A tag for messages of this group's members that meet no message of another group, nor of the
  /// rest of the program, whatever tags those have (as an MPI communicator keeps them apart):
  ///
  ///     co_await team[1].send_value(team.own_tag(tag{7}), part);
  ///     co_await team[0].recv_value(team.own_tag(tag{7}), part);
  ///
  /// For every operation of an endpoint that takes a tag. No wildcard matches it, so a receive
  /// names its source. A revocation of the group does not end such operations; the loss of the peer
  /// does.
  /// \param t any tag; the same one at both sides
  tag own_tag(tag t) const noexcept;

  // --- other groups -----------------------------------------------------------------------------

  /// Divides this group: members with one colour become one group, in the order of their keys, and
  /// of their ranks where keys are equal. A collective.
  /// \param colour any number
  /// \param key    any number
  task<group> split(int colour, int key = 0) const;

  /// The members of this group that are still members of the job, in their order: after a loss, or
  /// for a new tag space. Every member that is left calls it. Waits until rank 0 of the job, the
  /// coordinator, has reported the losses that this group has seen; after the end of rank 0 the
  /// members that are left agree among themselves.
  /// \throws weft::error  closed: this process has left the job, or the others have lost it;
  ///         stopped: this call was stopped, or another member's: every member may call it again;
  ///         unsupported: the group has members outside of the job
  task<group> shrink() const;

  /// The whole job again after a loss: each place that a rank had at the start is held by that
  /// rank, or by the process that was started again for it (membership::returned). Waits, without a
  /// limit of its own, until all places are held. All members call it, also those that have come
  /// back, which begin with `context::world().replace()`; so one loop serves both:
  ///
  ///     group team = ctx.world();
  ///     for (state s = last_checkpoint(); !s.done();) {
  ///       std::optional<error> loss;
  ///       try {
  ///         co_await step(team, s);
  ///       } catch (const error& e) {
  ///         if (!is_loss(e.kind())) throw;
  ///         loss = e;
  ///       }
  ///       if (!loss) continue;
  ///       team = co_await within(1min, team.replace());
  ///       s = co_await agree_on_checkpoint(team);
  ///     }
  ///
  /// Here a process that has come back gets `peer_lost` from its first collective, because the rank
  /// that it has in the world was another process's. Ranks and size are those of the world. All
  /// members get the group, or it fails for those that have it, too. A message of the lost process
  /// is never taken for one of the new one, which is another peer.
  /// \throws weft::error  peer_lost: rank 0 has gone, or goes meanwhile: no process comes back;
  ///         closed: a rank has left in good order, so that its place stays empty; stopped: as
  ///         shrink; unsupported: this group was not made of the world by shrink, replace or grow
  task<group> replace() const;

  /// All members of the job: those that have a place, in its order, and then those that joined
  /// later (weft::join), in the order of their ranks. All members call it; one that has just
  /// joined begins with `context::world().grow()`. Waits until all have the same view of the job.
  /// If another process joins at the last moment, some members may have the group already: their
  /// first collective ends with `refused`, and they call it again.
  /// \throws weft::error  peer_lost: rank 0 has gone, or goes meanwhile; stopped, unsupported: as
  ///         replace
  task<group> grow() const;

  /// The group of a membership view: also of processes that joined later. Without a message: every
  /// member of the view makes the group of the same view. The same view may be used again only
  /// after a barrier of the group that had it: messages of both have the same tags.
  /// \throws weft::error (invalid_argument) if this process is not in the view
  static group of(context& owner, const membership_view& view);

  /// A group of endpoints, as of a server and its clients. Without a message: every member names
  /// all members in one order, and itself by its place.
  /// \param owner   the context of the endpoints
  /// \param members the endpoint at place `rank` is not used, and may be empty
  /// \param rank    the place of this process
  /// \param name    equal at all members, and different from those of their other groups; may be
  ///                used again only after a barrier of the group that had it
  /// \throws weft::error (invalid_argument): no such place; a group with this name exists
  static group of(context& owner, const std::vector<endpoint>& members, peer_id rank,
                  std::string_view name);

  // --- collectives ------------------------------------------------------------------------------
  // Ranges are contiguous, of trivially copyable elements: vectors, arrays, spans. A call with a
  // wrong shape throws weft::error (invalid_argument) at once. In place of a range of one element,
  // a value may be given, and the result is returned.

  /// Ends when every member has called barrier. Messages that are not received yet do not block it,
  /// however many there are.
  task<void> barrier() const { return detail::barrier(state_); }

  /// Copies the root's elements to all members.
  /// \param data of the same size everywhere
  /// \param root the rank whose elements they are
  template <detail::result_range R>
  task<void> broadcast(R&& data, peer_id root = 0) const {
    detail::check_root(root, size());
    return detail::broadcast(state_, detail::writable_bytes_of(data), root);
  }
  /// The same for one value.
  template <class T>
    requires(detail::single_value<T>)
  task<void> broadcast(T& value, peer_id root = 0) const {
    return broadcast(std::span<T>(&value, 1), root);
  }

  /// Reduces the members' elements, position by position, in the order of ranks.
  /// \param mine   of the same size everywhere
  /// \param result at the root as long as `mine`; elsewhere not used, and may be empty
  /// \param op     combines two elements
  /// \param root   the rank that has the result
  template <detail::element_range R, detail::result_range To,
            class T = std::ranges::range_value_t<To>, reduction_of<T> Op = std::plus<>>
  task<void> reduce(R&& mine, To&& result, Op op = {}, peer_id root = 0) const {
    detail::require_same_elements<R, To>();
    detail::check_root(root, size());
    if (rank() == root)
      detail::check_equal(std::ranges::size(result), std::ranges::size(mine), "the root's result");
    return detail::reduce(state_, detail::bytes_of(mine), detail::writable_bytes_of(result),
                          detail::make_reduction<T>(std::move(op)), root);
  }

  /// The same for one value.
  /// \return the result at the root; nothing elsewhere
  template <detail::single_value T, reduction_of<T> Op = std::plus<>>
  task<std::optional<T>> reduce(T value, Op op = {}, peer_id root = 0) const {
    detail::check_root(root, size());
    return detail::reduce_value(state_, value, std::move(op), root);
  }

  /// The same, and all members have the result, in place of their own elements.
  template <detail::result_range R, reduction_of<std::ranges::range_value_t<R>> Op = std::plus<>>
  task<void> all_reduce(R&& data, Op op = {}) const {
    return detail::all_reduce(state_, detail::writable_bytes_of(data),
                              detail::make_reduction<std::ranges::range_value_t<R>>(std::move(op)));
  }
  /// The same for one value.
  /// \return the result
  template <detail::single_value T, reduction_of<T> Op = std::plus<>>
  task<T> all_reduce(T value, Op op = {}) const {
    return detail::all_reduce_value(state_, value, std::move(op));
  }

  /// Each member gets the reduction of the elements of the ranks up to its own (inclusive), in
  /// place of its own elements.
  template <detail::result_range R, reduction_of<std::ranges::range_value_t<R>> Op = std::plus<>>
  task<void> scan(R&& data, Op op = {}) const {
    return detail::scan(state_, detail::writable_bytes_of(data),
                        detail::make_reduction<std::ranges::range_value_t<R>>(std::move(op)));
  }
  /// The same for one value.
  /// \return the result
  template <detail::single_value T, reduction_of<T> Op = std::plus<>>
  task<T> scan(T value, Op op = {}) const {
    return detail::scan_value(state_, value, std::move(op));
  }

  /// The root gets the members' elements, one rank's behind the other's.
  /// \param mine of the same size everywhere
  /// \param all  at the root size() times as long as `mine`; elsewhere not used, and may be empty
  /// \param root the rank that gets them
  template <detail::element_range R, detail::result_range To>
  task<void> gather(R&& mine, To&& all, peer_id root = 0) const {
    detail::require_same_elements<R, To>();
    detail::check_root(root, size());
    if (rank() == root)
      detail::check_equal(detail::bytes_of(all).size(), detail::bytes_of(mine).size() * size(),
                          "the root's buffer for all parts");
    return detail::gather(state_, detail::bytes_of(mine), detail::writable_bytes_of(all), root);
  }

  /// The same for one value.
  /// \return the values of all ranks at the root; nothing elsewhere
  template <detail::single_value T>
  task<std::vector<T>> gather(T value, peer_id root = 0) const {
    detail::check_root(root, size());
    return detail::gather_value(state_, value, root);
  }

  /// Each member gets its part of the root's elements.
  /// \param all  at the root size() times as long as `mine`; elsewhere not used, and may be empty
  /// \param mine of the same size everywhere
  /// \param root the rank whose elements they are
  template <detail::element_range R, detail::result_range To>
  task<void> scatter(R&& all, To&& mine, peer_id root = 0) const {
    detail::require_same_elements<R, To>();
    detail::check_root(root, size());
    if (rank() == root)
      detail::check_equal(detail::bytes_of(all).size(), detail::bytes_of(mine).size() * size(),
                          "the root's buffer of all parts");
    return detail::scatter(state_, detail::bytes_of(all), detail::writable_bytes_of(mine), root);
  }

  /// Each member gets one of the root's elements.
  /// \param all  at the root size() elements; elsewhere not used, and may be empty
  /// \param root the rank whose elements they are
  /// \return the element of this rank
  template <detail::element_range R>
  task<std::ranges::range_value_t<R>> scatter(R&& all, peer_id root = 0) const {
    detail::check_root(root, size());
    if (rank() == root)
      detail::check_equal(std::ranges::size(all), size(), "the root's range of one element each");
    return detail::scatter_value<std::ranges::range_value_t<R>>(state_, detail::bytes_of(all),
                                                                root);
  }

  /// As gather, and all members have the result.
  template <detail::element_range R, detail::result_range To>
  task<void> all_gather(R&& mine, To&& all) const {
    detail::require_same_elements<R, To>();
    detail::check_equal(detail::bytes_of(all).size(), detail::bytes_of(mine).size() * size(),
                        "the buffer for all parts");
    return detail::all_gather(state_, detail::bytes_of(mine), detail::writable_bytes_of(all));
  }
  /// The same for one value.
  /// \return the values of all ranks
  template <detail::single_value T>
  task<std::vector<T>> all_gather(T value) const {
    return detail::all_gather_value(state_, value);
  }

  /// Part r of `out` goes to rank r, and part r of `in` comes from there.
  /// \param out, in of one length, a multiple of size()
  template <detail::element_range R, detail::result_range To>
  task<void> all_to_all(R&& out, To&& in) const {
    detail::require_same_elements<R, To>();
    const std::size_t bytes = detail::bytes_of(out).size();
    detail::check_equal(detail::bytes_of(in).size(), bytes, "the buffer for incoming parts");
    detail::check_equal(bytes / size() * size(), bytes, "a multiple of the group's size in parts");
    return detail::all_to_all(state_, detail::bytes_of(out), detail::writable_bytes_of(in));
  }

  /// The same with parts of different lengths, which lie behind each other.
  /// \param out the parts for the ranks
  /// \param out_counts the elements for each rank; their sum is the length of `out`
  /// \param in the parts from the ranks
  /// \param in_counts the elements from each rank; rank r's count for this rank
  template <detail::element_range R, detail::result_range To>
  task<void> all_to_all(R&& out, std::span<const std::size_t> out_counts, To&& in,
                        std::span<const std::size_t> in_counts) const {
    detail::require_same_elements<R, To>();
    constexpr std::size_t element = sizeof(std::ranges::range_value_t<R>);
    return all_to_all_counted(detail::bytes_of(out), out_counts, detail::writable_bytes_of(in),
                              in_counts, element);
  }

  /// As all_to_all with parts of different lengths, where the counts from the ranks are not known:
  /// they are exchanged first.
  /// \param out    the parts for the ranks, which live unchanged until the end
  /// \param counts the elements for each rank, copied; their sum is the length of `out`
  /// \return the parts from the ranks, and their counts
  template <detail::element_range R>
  task<received_parts<std::ranges::range_value_t<R>>> all_to_all_parts(
      R&& out, std::span<const std::size_t> counts) const {
    detail::check_counts(counts, size(), std::ranges::size(out), "the parts that leave");
    return detail::all_to_all_parts<std::ranges::range_value_t<R>>(state_, detail::bytes_of(out),
                                                                   {counts.begin(), counts.end()});
  }

  /// As gather, with parts of different lengths.
  /// \param mine   of the count of this rank
  /// \param all    at the root as long as all parts; elsewhere not used, and may be empty
  /// \param counts at the root the elements of each rank; elsewhere not used
  /// \param root   the rank that gets them
  template <detail::element_range R, detail::result_range To>
  task<void> gather(R&& mine, To&& all, std::span<const std::size_t> counts,
                    peer_id root = 0) const {
    detail::require_same_elements<R, To>();
    constexpr std::size_t element = sizeof(std::ranges::range_value_t<R>);
    return gather_counted(detail::bytes_of(mine), detail::writable_bytes_of(all), counts, element,
                          root);
  }

  /// As scatter, with parts of different lengths.
  /// \param all    at the root the parts, one behind the other; elsewhere not used, and may be
  /// empty \param counts at the root the elements of each rank's part; elsewhere not used \param
  /// mine   of the count of this rank \param root   the rank whose elements they are
  template <detail::element_range R, detail::result_range To>
  task<void> scatter(R&& all, std::span<const std::size_t> counts, To&& mine,
                     peer_id root = 0) const {
    detail::require_same_elements<R, To>();
    constexpr std::size_t element = sizeof(std::ranges::range_value_t<R>);
    return scatter_counted(detail::bytes_of(all), counts, detail::writable_bytes_of(mine), element,
                           root);
  }

 private:
  friend class shared_flags;
  task<void> all_to_all_counted(const_buffer out, std::span<const std::size_t> out_counts,
                                mutable_buffer in, std::span<const std::size_t> in_counts,
                                std::size_t element) const;
  task<void> gather_counted(const_buffer mine, mutable_buffer all,
                            std::span<const std::size_t> counts, std::size_t element,
                            peer_id root) const;
  task<void> scatter_counted(const_buffer all, std::span<const std::size_t> counts,
                             mutable_buffer mine, std::size_t element, peer_id root) const;

  context* owner_;
  detail::communicator_ptr state_;
};

}  // namespace weft
