// SPDX-License-Identifier: Apache-2.0
// Data with holes: sent as one type, received as another of the same signature.
#include <cstdint>

#include "check.hpp"

namespace conformance {
namespace {

using ints = std::vector<std::int32_t>;

std::int32_t number(int rank, std::size_t i) {
  return rank * 1000003 + static_cast<std::int32_t>(i) * 7 + 1;
}

/// A type over an array of `extent` ints, and the indices of its ints, in its order.
struct layout {
  std::string name;
  MPI_Datatype type;
  std::vector<std::size_t> places;
  std::size_t extent;
};

layout strided(int blocks, int length, int stride) {
  layout l{"vector", MPI_DATATYPE_NULL, {}, static_cast<std::size_t>(blocks * stride)};
  MPI_Type_vector(blocks, length, stride, MPI_INT32_T, &l.type);
  for (int b = 0; b < blocks; ++b)
    for (int k = 0; k < length; ++k) l.places.push_back(static_cast<std::size_t>(b * stride + k));
  return l;
}

layout indexed(int n) {
  layout l{"indexed", MPI_DATATYPE_NULL, {}, static_cast<std::size_t>(3 * n)};
  std::vector<int> lengths;
  std::vector<int> starts;
  for (int i = n - 1; i >= 0; --i) {  // backwards: the order of a type is not that of memory
    lengths.push_back(1 + i % 2);
    starts.push_back(3 * i);
    for (int k = 0; k < 1 + i % 2; ++k) l.places.push_back(static_cast<std::size_t>(3 * i + k));
  }
  MPI_Type_indexed(n, lengths.data(), starts.data(), MPI_INT32_T, &l.type);
  return l;
}

layout square(int whole, int part, int at) {
  layout l{"subarray", MPI_DATATYPE_NULL, {}, static_cast<std::size_t>(whole * whole)};
  const int sizes[2] = {whole, whole};
  const int parts[2] = {part, part};
  const int starts[2] = {at, at};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT32_T, &l.type);
  for (int y = at; y < at + part; ++y)
    for (int x = at; x < at + part; ++x)
      l.places.push_back(static_cast<std::size_t>(y * whole + x));
  return l;
}

layout plain(std::size_t n) {
  layout l{"contiguous", MPI_DATATYPE_NULL, {}, n};
  MPI_Type_contiguous(as_int(n), MPI_INT32_T, &l.type);
  for (std::size_t i = 0; i < n; ++i) l.places.push_back(i);
  return l;
}

void between(check& c, int other, layout& from, layout& to) {
  MPI_Type_commit(&from.type);
  MPI_Type_commit(&to.type);
  const std::string what =
      from.name + " to " + to.name + " of " + std::to_string(from.places.size());
  ints out(from.extent, -1);
  for (std::size_t i = 0; i < from.places.size(); ++i) out[from.places[i]] = number(c.rank, i);
  ints in(to.extent, -7);
  ints right = in;
  for (std::size_t i = 0; i < to.places.size(); ++i) right[to.places[i]] = number(other, i);
  MPI_Status s;
  MPI_Sendrecv(out.data(), 1, from.type, other, 40, in.data(), 1, to.type, other, 40,
               MPI_COMM_WORLD, &s);
  for (std::size_t i = 0; i < in.size(); ++i)
    if (!c.equal(what + ", element " + std::to_string(i), right[i], in[i])) break;
  int count = 0;
  MPI_Get_count(&s, to.type, &count);
  c.equal(what + ": count", 1, count);
  MPI_Get_elements(&s, to.type, &count);
  c.equal(what + ": elements", to.places.size(), count);
  MPI_Type_free(&from.type);
  MPI_Type_free(&to.type);
}

struct particle {
  double place[3];
  char kind;
  std::int32_t number;
};

void records(check& c, int other, std::size_t n) {
  MPI_Datatype fields;
  const int lengths[3] = {3, 1, 1};
  const MPI_Aint starts[3] = {offsetof(particle, place), offsetof(particle, kind),
                              offsetof(particle, number)};
  const MPI_Datatype types[3] = {MPI_DOUBLE, MPI_CHAR, MPI_INT32_T};
  MPI_Type_create_struct(3, lengths, starts, types, &fields);
  MPI_Datatype record;
  MPI_Type_create_resized(fields, 0, sizeof(particle), &record);
  MPI_Type_commit(&record);
  std::vector<particle> out(n);
  std::vector<particle> in(n);
  for (std::size_t i = 0; i < n; ++i)
    out[i] = {{1.5 * static_cast<double>(i), c.rank + 0.25, -2.0},
              static_cast<char>('a' + i % 26),
              number(c.rank, i)};
  MPI_Sendrecv(out.data(), as_int(n), record, other, 41, in.data(), as_int(n), record, other, 41,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (std::size_t i = 0; i < n; ++i) {
    const bool right = in[i].place[0] == 1.5 * static_cast<double>(i) &&
                       in[i].place[1] == other + 0.25 && in[i].place[2] == -2.0 &&
                       in[i].kind == static_cast<char>('a' + i % 26);
    if (!c.that("record " + std::to_string(i), right) ||
        !c.equal("the number of a record", number(other, i), in[i].number))
      break;
  }
  MPI_Type_free(&record);
  MPI_Type_free(&fields);
}

void packed(check& c, int other) {
  char room[200];
  int at = 0;
  const double a = 2.5 + c.rank;
  const std::int32_t b[3] = {c.rank, 2, 3};
  MPI_Pack(&a, 1, MPI_DOUBLE, room, sizeof room, &at, MPI_COMM_WORLD);
  MPI_Pack(b, 3, MPI_INT32_T, room, sizeof room, &at, MPI_COMM_WORLD);
  char in[200];
  MPI_Sendrecv(room, at, MPI_PACKED, other, 42, in, sizeof in, MPI_PACKED, other, 42,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  double x = 0;
  std::int32_t y[3] = {};
  at = 0;
  MPI_Unpack(in, sizeof in, &at, &x, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Unpack(in, sizeof in, &at, y, 3, MPI_INT32_T, MPI_COMM_WORLD);
  c.equal("unpacked double", 2.5 + other, x);
  c.equal("unpacked int", other, y[0]);
  c.equal("unpacked last int", 3, y[2]);
}

}  // namespace

void datatypes(check& c) {
  const int other = partner(c) >= 0 ? partner(c) : c.rank;
  for (const int n : {1, 10, 600, 9000, 50000}) {
    layout v1 = strided(n, 1, 3);
    layout p1 = plain(static_cast<std::size_t>(n));
    between(c, other, v1, p1);
    layout v2 = strided(n, 2, 5);
    layout i2 = indexed(2 * n);  // 1 and 2 elements in turn: 3 n of them
    layout v3 = strided(n, 3, 4);
    layout p2 = plain(static_cast<std::size_t>(2 * n));
    between(c, other, p2, v2);
    between(c, other, i2, v3);
  }
  for (const int part : {1, 7, 64, 200}) {
    layout s1 = square(part + 9, part, 4);
    layout s2 = square(part + 3, part, 1);
    between(c, other, s1, s2);
  }
  for (const std::size_t n : {1u, 100u, 10000u}) records(c, other, n);
  packed(c, other);
}

}  // namespace conformance
