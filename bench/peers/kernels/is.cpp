// SPDX-License-Identifier: Apache-2.0
// Whole numbers are sorted over the ranks: all add up how many fall into each bucket, each rank
// takes as many neighbouring buckets as hold about its share, gets their numbers from all ranks,
// and sorts these. The middle buckets are the full ones, so shares and messages differ in length.
#include <mpi.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "peers/kernels/kernel.hpp"

namespace weft::bench::mpi {
namespace {

class bucket_sort final : public kernel {
 public:
  bucket_sort(std::size_t bits, MPI_Comm ranks)
      : count_(std::size_t{1} << bits), key_bits_(bits - 4), ranks_(ranks), size_(size_of(ranks)) {
    const part mine(count_, rank_in(ranks), size_);
    for (std::size_t i = mine.begin; i != mine.end; ++i) keys_.push_back(key(i));
  }

  void solve() override {
    count_buckets();
    assign_buckets();
    exchange();
    sort();
  }

  void add_to(fingerprint& whole) const override {
    for (std::size_t i = 0; i != sorted_.size(); ++i)
      whole.add(first_ + i, static_cast<double>(sorted_[i]));
  }

  /// How many numbers are out of order, or are more or fewer than there were.
  double error() override {
    double wrong = 0;
    for (std::size_t i = 0; i != sorted_.size(); ++i)
      if (owner_[bucket_of(sorted_[i])] != rank_in(ranks_) ||
          (i > 0 && sorted_[i - 1] > sorted_[i]))
        ++wrong;
    // Sums of scrambled keys, so that another key in the place of one shows.
    std::uint64_t mark = 0;
    for (const auto one : sorted_) mark += scrambled(one);
    for (const auto one : keys_) mark -= scrambled(one);
    MPI_Allreduce(MPI_IN_PLACE, &mark, 1, MPI_UINT64_T, MPI_SUM, ranks_);
    const double have = sum_of(static_cast<double>(sorted_.size()), ranks_);
    return sum_of(wrong, ranks_) + std::fabs(have - static_cast<double>(count_)) +
           (mark != 0 ? 1 : 0);
  }
  double allowed_error() const override { return 0; }
  double tolerance() const override { return 0; }

 private:
  static constexpr std::size_t buckets = 1024;

  /// Sums of four numbers: the middle keys are frequent.
  std::uint32_t key(std::size_t i) const {
    const std::uint64_t random = scrambled(i);
    const std::uint64_t sum = (random & 0xffff) + (random >> 16 & 0xffff) +
                              (random >> 32 & 0xffff) + (random >> 48);  // below 2^18
    return static_cast<std::uint32_t>(sum << key_bits_ >> 18);
  }
  std::size_t bucket_of(std::uint32_t one) const { return one * buckets >> key_bits_; }

  void count_buckets() {
    totals_.assign(buckets, 0);
    for (const auto one : keys_) ++totals_[bucket_of(one)];
    MPI_Allreduce(MPI_IN_PLACE, totals_.data(), buckets, MPI_UINT64_T, MPI_SUM, ranks_);
  }

  /// A bucket belongs to the rank in whose share of all numbers its first one falls.
  void assign_buckets() {
    owner_.resize(buckets);
    first_ = 0;
    std::uint64_t before = 0;
    for (std::size_t b = 0; b != buckets; before += totals_[b++]) {
      owner_[b] = static_cast<int>(before * static_cast<std::uint64_t>(size_) / count_);
      if (owner_[b] == size_) --owner_[b];  // empty ones behind the last number
      if (owner_[b] < rank_in(ranks_)) first_ = before + totals_[b];
    }
  }

  void exchange() {
    const auto parts = static_cast<std::size_t>(size_);
    std::vector<int> out(parts), in(parts);
    for (const auto one : keys_) ++out[static_cast<std::size_t>(owner_[bucket_of(one)])];
    MPI_Alltoall(out.data(), 1, MPI_INT, in.data(), 1, MPI_INT, ranks_);
    const auto out_at = places(out);
    const auto in_at = places(in);
    auto next = out_at;
    by_owner_.resize(keys_.size());
    for (const auto one : keys_)
      by_owner_[static_cast<std::size_t>(
          next[static_cast<std::size_t>(owner_[bucket_of(one)])]++)] = one;
    arrived_.resize(static_cast<std::size_t>(in_at.back() + in.back()));
    MPI_Alltoallv(by_owner_.data(), out.data(), out_at.data(), MPI_UINT32_T, arrived_.data(),
                  in.data(), in_at.data(), MPI_UINT32_T, ranks_);
  }
  static std::vector<int> places(const std::vector<int>& lengths) {
    std::vector<int> result(lengths.size());
    std::exclusive_scan(lengths.begin(), lengths.end(), result.begin(), 0);
    return result;
  }

  void sort() {
    frequency_.assign(std::size_t{1} << key_bits_, 0);
    for (const auto one : arrived_) ++frequency_[one];
    sorted_.clear();
    for (std::size_t k = 0; k != frequency_.size(); ++k)
      sorted_.insert(sorted_.end(), frequency_[k], static_cast<std::uint32_t>(k));
  }

  const std::size_t count_;
  const std::size_t key_bits_;
  const MPI_Comm ranks_;
  const int size_;
  std::size_t first_ = 0;  // place of this rank's first number among all
  std::vector<std::uint32_t> keys_, by_owner_, arrived_, sorted_, frequency_;
  std::vector<std::uint64_t> totals_;  // of each bucket, of all ranks
  std::vector<int> owner_;             // of each bucket
};

}  // namespace

std::unique_ptr<kernel> make_is(const std::string& problem_class, MPI_Comm ranks) {
  return std::make_unique<bucket_sort>(class_sizes{16, 20, 23}.of(problem_class), ranks);
}

}  // namespace weft::bench::mpi
