// Every error Kindred throws. A message says what was being read, what was expected, what was
// found and what to do; the program prints it as one sentence.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace kindred {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;

  template <class... Args>
  requires(sizeof...(Args) > 0) explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

/// An option, flag or argument has a value it cannot have.
class InvalidArgument : public Error {
 public:
  using Error::Error;
};

/// A file was readable but does not hold what its format requires.
class DataFormatError : public Error {
 public:
  using Error::Error;
};

/// The operating system refused to open, read or write something.
class IoError : public Error {
 public:
  using Error::Error;
};

/// A computation produced a value that is not a number.
class NumericError : public Error {
 public:
  using Error::Error;
};

}  // namespace kindred
