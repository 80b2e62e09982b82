// An immutable, cheaply copied array: either owned by the column or a view into memory that
// something else keeps alive (a memory-mapped file).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kindred/data/storage.h"

namespace kindred {

template <class T>
class Column {
 public:
  Column() = default;

  /// Takes the values over without copying them.
  Column(std::vector<T> values) { own(std::move(values)); }  // NOLINT: a vector is a column
  Column(StepValues<T> values) { own(std::move(values)); }   // NOLINT

  /// Refers to `view`, which stays valid as long as `owner` lives.
  Column(std::span<const T> view, std::shared_ptr<const void> owner)
      : view_(view), owner_(std::move(owner)) {}

  std::span<const T> span() const { return view_; }
  const T* data() const { return view_.data(); }
  std::int64_t size() const { return static_cast<std::int64_t>(view_.size()); }
  bool empty() const { return view_.empty(); }
  const T& operator[](std::int64_t i) const { return view_[static_cast<std::size_t>(i)]; }
  /// `count` values from `first` on, without copying them.
  Column slice(std::int64_t first, std::int64_t count) const {
    return {view_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
            owner_};
  }
  auto begin() const { return view_.begin(); }
  auto end() const { return view_.end(); }

 private:
  template <class Vector>
  void own(Vector values) {
    auto owned = std::make_shared<const Vector>(std::move(values));
    view_ = *owned;
    owner_ = std::move(owned);
  }

  std::span<const T> view_;
  std::shared_ptr<const void> owner_;
};

}  // namespace kindred
