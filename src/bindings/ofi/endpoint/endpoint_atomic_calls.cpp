// SPDX-License-Identifier: Apache-2.0
// libfabric's calls for atomics. Each becomes an atomic_call for one value.
#include "bindings/ofi/endpoint/posting.hpp"

namespace weft::ofi {

namespace {

constexpr std::uint64_t atomic_flags = (operation_flags & ~FI_MULTI_RECV) | FI_MORE;

/// The place of values in this process: `count` of them, which must be one.
struct values {
  const void* at;
  std::size_t count;
};

values of(const fi_ioc* pieces, std::size_t count) noexcept {
  return count == 1 ? values{pieces->addr, pieces->count} : values{nullptr, 0};
}

/// The arguments that all the calls have.
struct asked {
  fid_ep* ep;
  fi_addr_t peer;
  std::uint64_t address;
  std::uint64_t key;
  fi_datatype type;
  fi_op op;
  void* context;
  std::uint64_t flags;
  bool silent = false;
};

asked by_message(fid_ep* ep, const fi_msg_atomic& m, std::uint64_t flags) noexcept {
  return {ep, m.addr, m.rma_iov->addr, m.rma_iov->key, m.datatype, m.op, m.context, flags};
}

ssize_t ask(const asked& a, atomic_kind kind, values operand, values compare,
            values result) noexcept {
  if (operand.count != most_values || compare.count != most_values || result.count != most_values)
    return -FI_EINVAL;
  const bool fetches = kind != atomic_kind::base;
  if ((fetches && !result.at) || (!operand.at && a.op != FI_ATOMIC_READ)) return -FI_EINVAL;
  if (!is_offered(kind, a.type, a.op)) return -FI_EOPNOTSUPP;
  value_change change{.op = a.op, .type = a.type, .result = const_cast<void*>(result.at)};
  if (a.op != FI_ATOMIC_READ) change.operand = load_value(operand.at, a.type);
  if (kind == atomic_kind::compare) change.compare = load_value(compare.at, a.type);
  return at(a.ep).update({kind, change, a.peer, a.address, a.key, a.context, a.flags, a.silent});
}

constexpr values none{nullptr, most_values};

ssize_t change(const asked& a, values operand) noexcept {
  return ask(a, atomic_kind::base, operand, none, none);
}
ssize_t fetch(const asked& a, values operand, values result) noexcept {
  return ask(a, atomic_kind::fetch, operand, none, result);
}
ssize_t exchange(const asked& a, values operand, values compare, values result) noexcept {
  return compare.at ? ask(a, atomic_kind::compare, operand, compare, result) : -FI_EINVAL;
}

/// \param call called if there is one value at the peer, too
template <class Call>
ssize_t if_good(const fi_msg_atomic& m, std::uint64_t flags, Call call) noexcept {
  if ((flags & ~atomic_flags) != 0) return -FI_EBADFLAGS;
  return m.rma_iov_count == 1 && m.rma_iov->count == most_values ? call() : -FI_EINVAL;
}

int validity(atomic_kind kind, fi_datatype type, fi_op op, std::size_t* count) noexcept {
  if (!is_offered(kind, type, op)) return -FI_EOPNOTSUPP;
  if (count) *count = most_values;
  return 0;
}

}  // namespace

int query_atomic(fid_domain* /*of*/, fi_datatype type, fi_op op, fi_atomic_attr* attr,
                 std::uint64_t flags) noexcept {
  const bool fetches = (flags & FI_FETCH_ATOMIC) != 0, compares = (flags & FI_COMPARE_ATOMIC) != 0;
  if ((flags & FI_TAGGED) != 0) return -FI_EOPNOTSUPP;
  if ((flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC)) != 0 || (fetches && compares))
    return -FI_EBADFLAGS;
  attr->size = size_of(type);
  return validity(compares  ? atomic_kind::compare
                  : fetches ? atomic_kind::fetch
                            : atomic_kind::base,
                  type, op, &attr->count);
}

fi_ops_atomic endpoint::atomic_ops{
    .size = sizeof(fi_ops_atomic),
    .write =
        [](fid_ep* ep, const void* operand, std::size_t count, void*, fi_addr_t to,
           std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
          return change({ep, to, address, key, type, op, context, at(ep).send_flags()},
                        {operand, count});
        },
    .writev =
        [](fid_ep* ep, const fi_ioc* operand, void**, std::size_t count, fi_addr_t to,
           std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op, void* context) {
          return change({ep, to, address, key, type, op, context, at(ep).send_flags()},
                        of(operand, count));
        },
    .writemsg =
        [](fid_ep* ep, const fi_msg_atomic* m, std::uint64_t flags) {
          return if_good(*m, flags, [&] {
            return change(by_message(ep, *m, flags), of(m->msg_iov, m->iov_count));
          });
        },
    .inject =
        [](fid_ep* ep, const void* operand, std::size_t count, fi_addr_t to, std::uint64_t address,
           std::uint64_t key, fi_datatype type, fi_op op) {
          return change({ep, to, address, key, type, op, nullptr, FI_INJECT, true},
                        {operand, count});
        },
    .readwrite =
        [](fid_ep* ep, const void* operand, std::size_t count, void*, void* result, void*,
           fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op,
           void* context) {
          return fetch({ep, to, address, key, type, op, context, at(ep).send_flags()},
                       {operand, count}, {result, count});
        },
    .readwritev =
        [](fid_ep* ep, const fi_ioc* operand, void**, std::size_t count, fi_ioc* result, void**,
           std::size_t result_count, fi_addr_t to, std::uint64_t address, std::uint64_t key,
           fi_datatype type, fi_op op, void* context) {
          return fetch({ep, to, address, key, type, op, context, at(ep).send_flags()},
                       op == FI_ATOMIC_READ ? none : of(operand, count), of(result, result_count));
        },
    .readwritemsg =
        [](fid_ep* ep, const fi_msg_atomic* m, fi_ioc* result, void**, std::size_t result_count,
           std::uint64_t flags) {
          return if_good(*m, flags, [&] {
            return fetch(by_message(ep, *m, flags),
                         m->op == FI_ATOMIC_READ ? none : of(m->msg_iov, m->iov_count),
                         of(result, result_count));
          });
        },
    .compwrite =
        [](fid_ep* ep, const void* operand, std::size_t count, void*, const void* compare, void*,
           void* result, void*, fi_addr_t to, std::uint64_t address, std::uint64_t key,
           fi_datatype type, fi_op op, void* context) {
          return exchange({ep, to, address, key, type, op, context, at(ep).send_flags()},
                          {operand, count}, {compare, count}, {result, count});
        },
    .compwritev =
        [](fid_ep* ep, const fi_ioc* operand, void**, std::size_t count, const fi_ioc* compare,
           void**, std::size_t compare_count, fi_ioc* result, void**, std::size_t result_count,
           fi_addr_t to, std::uint64_t address, std::uint64_t key, fi_datatype type, fi_op op,
           void* context) {
          return exchange({ep, to, address, key, type, op, context, at(ep).send_flags()},
                          of(operand, count), of(compare, compare_count), of(result, result_count));
        },
    .compwritemsg =
        [](fid_ep* ep, const fi_msg_atomic* m, const fi_ioc* compare, void**,
           std::size_t compare_count, fi_ioc* result, void**, std::size_t result_count,
           std::uint64_t flags) {
          return if_good(*m, flags, [&] {
            return exchange(by_message(ep, *m, flags), of(m->msg_iov, m->iov_count),
                            of(compare, compare_count), of(result, result_count));
          });
        },
    .writevalid = [](fid_ep*, fi_datatype type, fi_op op,
                     std::size_t* count) { return validity(atomic_kind::base, type, op, count); },
    .readwritevalid =
        [](fid_ep*, fi_datatype type, fi_op op, std::size_t* count) {
          return validity(atomic_kind::fetch, type, op, count);
        },
    .compwritevalid =
        [](fid_ep*, fi_datatype type, fi_op op, std::size_t* count) {
          return validity(atomic_kind::compare, type, op, count);
        },
};

}  // namespace weft::ofi
