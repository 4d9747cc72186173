// SPDX-License-Identifier: Apache-2.0
#pragma once

struct weft_context;

namespace weft::c {

/// Answers all open calls by a refusal: the context ends.
void refuse_calls(weft_context& of) noexcept;

}  // namespace weft::c
