// How a timed program talks: lines of JSON, as the top of scripts/bench describes them.
#pragma once

#include <chrono>
#include <cstdio>
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

template <class Work>
double seconds_of(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Turns {
  int repeat = 3;     ///< Turns, when nobody says when.
  bool wait = false;  ///< Take a turn for every line of standard input, until it ends.

  /// Warms up, says what it is, then takes turns: `turn` returns what is to be said of one, its
  /// seconds among it.
  void take(const Line& about, const std::function<Line()>& turn) const {
    turn();
    auto ready = about;
    ready["ready"] = true;
    say(ready);
    const auto once = [&] {
      auto line = about;
      line.update(turn());
      line.erase("versions");
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
