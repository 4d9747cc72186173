// SPDX-License-Identifier: Apache-2.0
// The interface for transports: what a library implements that adds one (docs/transports.md).
#pragma once

#include <weft/options.hpp>
#include <weft/transport/counterpart.hpp>
#include <weft/transport/factory.hpp>
#include <weft/transport/frame.hpp>
#include <weft/transport/frame_sink.hpp>
#include <weft/transport/link.hpp>
#include <weft/transport/pollable.hpp>
#include <weft/transport/services.hpp>
#include <weft/transport/traits.hpp>
#include <weft/transport/transport.hpp>
#include <weft/transport/unique_fd.hpp>
#include <weft/transport/wireup_message.hpp>
