// The scores there are. One line here brings a score to the CPU, CUDA, the tests and the benches:
// CMake reads this file and instantiates the kernels for each.
#pragma once

#include <string>

#include "kernels/attention/scores/dot.h"
#include "kernels/attention/scores/gat.h"
#include "kernels/core/check.h"

namespace sage {

template <class... S>
struct ScoreList {};

using Scores = ScoreList<DotScore,  // kernels/attention/scores/dot.h
                         GatScore   // kernels/attention/scores/gat.h
                         >;

// Calls f(score) for the score called `name`; throws, listing the names there are, if none is.
template <class F, class... S>
void dispatch_score(ScoreList<S...>, const std::string& name, double param, F&& f) {
  const bool hit = ((name == S::kName ? (f(S::from_param(param)), true) : false) || ...);
  check(hit, [&] {
    std::string names;
    ((names += std::string(names.empty() ? "" : ", ") + S::kName), ...);
    return "score must be one of " + names + ", got '" + name + "'";
  });
}

}  // namespace sage
