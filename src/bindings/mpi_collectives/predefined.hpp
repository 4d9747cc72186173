// SPDX-License-Identifier: Apache-2.0
// The types and operations of MPI that collectives by flags know.
#pragma once

#include <cstddef>
#include <optional>

#include <weft/detail/collective_ops.hpp>

#include "bindings/mpi/open_mpi.hpp"

namespace weft::mpi_collectives {

using open_mpi::handle;

/// Bytes of an element of a predefined type without holes, or order: a buffer of them can be copied
/// as it is. 0: `type` is none.
std::size_t plain_size(handle type) noexcept;

/// How elements of a predefined type become one by a predefined operation; nothing: it is not
/// known here. Any thread.
std::optional<detail::reduction> reduction_of(handle type, handle operation) noexcept;

}  // namespace weft::mpi_collectives
