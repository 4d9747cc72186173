// SPDX-License-Identifier: Apache-2.0
// The algorithms that a user asks for, as text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "collectives/select.hpp"

namespace weft::collectives {

/// \param text such as "all_reduce:ring,broadcast:chain"; empty: none
/// \return nothing: it names what there is not, or a collective twice
std::optional<forced_choices> forced_by(std::string_view text) noexcept;

/// "barrier:dissemination, broadcast:binomial|chain|scatter_all_gather, ..."
std::string all_choices();

}  // namespace weft::collectives
