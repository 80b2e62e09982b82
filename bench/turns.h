// How a timed program talks: lines of JSON, as the top of scripts/bench describes them.
#pragma once

#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

namespace bench {

using Line = nlohmann::ordered_json;

inline void say(const Line& line) {
  std::fputs((line.dump() + "\n").c_str(), stdout);
  std::fflush(stdout);
}

/// What some work took: `seconds` by the clock, and `cpu` of all cores.
template <class Work>
Line timed(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  const auto cpu = std::clock();
  work();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  return {{"seconds", seconds.count()},
          {"cpu", static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC}};
}

struct Turns {
  int repeat = 3;     ///< Turns, when nobody says when.
  bool wait = false;  ///< Take a turn for every line of standard input, until it ends.

  /// Warms up unless a turn takes long, says what it is, then takes turns: `turn` returns what is
  /// to be said of one.
  void take(const Line& about, const std::function<Line()>& turn, bool warm_up = true) const {
    if (warm_up) turn();
    auto ready = about;
    ready["ready"] = true;
    say(ready);
    const auto once = [&] {
      auto line = about;
      line.update(turn());
      say(line);
    };
    std::string go;
    if (wait)
      while (std::getline(std::cin, go)) once();
    else
      for (int i = 0; i < repeat; ++i) once();
  }
};

}  // namespace bench
