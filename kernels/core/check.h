// Errors: check() throws sage::Error with the message it is given. Nothing here exits or prints.
#pragma once

#include <stdexcept>
#include <string>

namespace sage {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws Error(message()) unless `ok`; the message is only built when it is needed.
template <class Message>
void check(bool ok, Message&& message) {
  if (!ok) throw Error(message());
}

}  // namespace sage
