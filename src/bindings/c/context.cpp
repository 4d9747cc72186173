// SPDX-License-Identifier: Apache-2.0
// Contexts: opening and closing, texts, memory.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "bindings/c/calls.hpp"
#include "bindings/c/handles.hpp"

using namespace weft;
using namespace weft::c;

namespace {

weft::options options_of(const weft_options* given) {
  if (given && given->size < offsetof(weft_options, why))
    throw error(errc::invalid_argument,
                fmt::format("weft_options.size is {}; set it to sizeof(weft_options), {}",
                            given->size, sizeof(weft_options)));
  weft::options o = weft::options::from_environment();
  if (given && given->settings)
    for (const char* const* s = given->settings; *s; ++s) o.apply(*s);
  return o;
}

template <class Make>
int open(const weft_options* given, weft_context** made, Make make) {
  if (!made) return WEFT_INVALID_ARGUMENT;
  *made = nullptr;
  return guarded([&] { *made = new weft_context(make(options_of(given))); },
                 [&](errc code, const char* text) {
                   if (given && given->size >= sizeof(weft_options)) {
                     // A text that is shorter than the buffer needs no memory.
                     const std::size_t n = std::min(std::strlen(text), given->why_size);
                     if (given->why && given->why_size != 0) {
                       std::memcpy(given->why, text, n);
                       given->why[std::min(n, given->why_size - 1)] = '\0';
                     }
                   }
                   return code_of(code);
                 });
}

}  // namespace

std::size_t weft::c::copy_text(const std::string& from, char* text, std::size_t size) noexcept {
  if (text && size != 0) {
    const std::size_t n = std::min(from.size(), size - 1);
    std::memcpy(text, from.data(), n);
    text[n] = '\0';
  }
  return from.size();
}

int weft_context::fail(errc code, const char* text) noexcept {
  try {
    const std::lock_guard lock(mutex);
    failed = code;
    why.clear();
    why = text;
  } catch (const std::exception&) {
    // No memory: the code tells most of it.
  }
  return code_of(code);
}

const char* weft_strerror(int code) {
  return code >= 0 ? "success" : sentence_of(static_cast<errc>(-static_cast<long>(code)));
}

int weft_open(const weft_options* options, weft_context** made) {
  return open(options, made, [](weft::options o) { return context(std::move(o)); });
}

int weft_join(const char* address, const weft_options* options, weft_context** made) {
  if (!address) return WEFT_INVALID_ARGUMENT;
  return open(options, made,
              [address](weft::options o) { return weft::join(address, std::move(o)); });
}

void weft_close(weft_context* ctx) {
  if (!ctx || ctx->ctx.is_inherited()) return;
  // Does not wait for peers that copy by themselves: the end of the context ends those copies, too.
  for (const auto& [handle, r] : ctx->regions) handle->memory.release();
  ctx->closing = true;
  refuse_calls(*ctx);
  delete ctx;
}

void weft_bind_thread(weft_context* ctx) {
  if (ctx) ctx->external_loop.bind_to_this_thread();
}

uint32_t weft_rank(const weft_context* ctx) {
  return ctx ? membership(const_cast<weft_context*>(ctx)->ctx).rank() : no_peer;
}

uint32_t weft_size(const weft_context* ctx) {
  return ctx ? const_cast<weft_context*>(ctx)->ctx.world().size() : 0;
}

size_t weft_last_error(weft_context* ctx, char* text, size_t size) {
  if (!ctx) return copy_text({}, text, size);
  std::size_t length = 0;
  guarded(
      [&] {
        const std::lock_guard lock(ctx->mutex);
        const bool untold = ctx->why.empty() && ctx->failed != errc::ok;
        length = copy_text(untold ? sentence_of(ctx->failed) : ctx->why, text, size);
      },
      [](errc, const char*) { return WEFT_OK; });
  return length;
}

size_t weft_describe(weft_context* ctx, char* text, size_t size) {
  std::size_t length = 0;
  if (ctx) guarded(*ctx, [&] { length = copy_text(ctx->ctx.describe(), text, size); });
  return length;
}

void weft_invalidate_registrations(weft_context* ctx, const void* memory, size_t size) {
  if (ctx && memory)
    ctx->ctx.invalidate_registrations({static_cast<const std::byte*>(memory), size});
}

int weft_alloc(weft_context* ctx, size_t size, void** memory) {
  if (!ctx || !memory) return WEFT_INVALID_ARGUMENT;
  *memory = nullptr;
  return guarded(*ctx, [&] {
    if (size == 0)
      throw error(errc::invalid_argument, "weft_alloc of 0 bytes; ask for at least one");
    shared_memory made(ctx->ctx, size);
    void* const at = made.bytes().data();
    const std::lock_guard lock(ctx->mutex);
    ctx->memory.emplace(at, std::move(made));
    *memory = at;
  });
}

int weft_free(weft_context* ctx, void* memory) {
  if (!ctx) return WEFT_INVALID_ARGUMENT;
  if (!memory) return WEFT_OK;
  return guarded(*ctx, [&] {
    std::unique_lock lock(ctx->mutex);
    const auto mine = ctx->memory.extract(memory);
    lock.unlock();
    if (mine.empty())
      throw error(errc::invalid_argument,
                  "weft_free of memory that weft_alloc of this context did not return");
  });
}
