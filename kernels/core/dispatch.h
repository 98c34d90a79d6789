// Turns run-time values into compile-time ones. The only place where this happens.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "kernels/core/check.h"

namespace sage {

// A finite set of compile-time values that one run-time value must match.
template <auto... kValues>
struct OneOf {};

template <auto kValue>
using Const = std::integral_constant<decltype(kValue), kValue>;

template <class T>
struct Type {
  using type = T;
};

// Calls f(Const<v>{}) for the v in the set that equals `value`; throws, naming `what`, if none
// does.
template <auto... kValues, class V, class F>
void dispatch(OneOf<kValues...>, V value, const char* what, F&& f) {
  const bool hit = ((value == kValues ? (f(Const<kValues>{}), true) : false) || ...);
  check(hit, [&] {
    return std::string("unsupported ") + what + " = " + std::to_string(static_cast<int64_t>(value));
  });
}

}  // namespace sage
