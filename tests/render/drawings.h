// What the tests of this room share: small datasets, and a picture read back by an XML parser.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tinyxml2.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/data/trajectories.h"
#include "kindred/envs/diagonal.h"
#include "kindred/envs/environment.h"
#include "kindred/render/render.h"

namespace kindred::testing {

/// An element of a picture with what the tests ask about it.
struct Element {
  std::string name, role, text, title;
  std::map<std::string, std::string> attributes;

  double number(const char* attribute) const { return std::stod(attributes.at(attribute)); }
};

/// A picture, parsed. Adds a failure when it is not well-formed.
class Drawn {
 public:
  explicit Drawn(const std::string& svg) {
    EXPECT_EQ(document_.Parse(svg.c_str(), svg.size()), tinyxml2::XML_SUCCESS)
        << document_.ErrorStr();
    if (document_.RootElement()) collect(document_.RootElement(), false);
  }

  const tinyxml2::XMLElement& root() const { return *document_.RootElement(); }
  const std::vector<Element>& elements() const { return elements_; }

  /// Those of a class, outside the legend.
  std::vector<Element> of(const std::string& role) const {
    std::vector<Element> found;
    for (const auto& element : elements_)
      if (element.role == role) found.push_back(element);
    return found;
  }
  /// All texts, of a class or of any.
  std::vector<std::string> texts(const std::string& role = "") const {
    std::vector<std::string> found;
    for (const auto& element : elements_)
      if (element.name == "text" && (role.empty() || element.role == role))
        found.push_back(element.text);
    return found;
  }
  const std::vector<std::string>& legend() const { return legend_; }

 private:
  static std::string said(const char* text) { return text ? text : ""; }

  void collect(const tinyxml2::XMLElement* at, bool in_legend) {
    const auto* title = at->FirstChildElement("title");
    Element element{at->Name(),
                    said(at->Attribute("class")),
                    said(at->GetText()),
                    title ? said(title->GetText()) : "",
                    {}};
    for (const auto* attribute = at->FirstAttribute(); attribute; attribute = attribute->Next())
      element.attributes[attribute->Name()] = attribute->Value();
    in_legend |= element.role == "legend";
    if (!in_legend) elements_.push_back(element);
    if (in_legend && element.name == "text") legend_.push_back(element.text);
    for (const auto* child = at->FirstChildElement(); child; child = child->NextSiblingElement())
      collect(child, in_legend);
  }

  tinyxml2::XMLDocument document_;
  std::vector<Element> elements_;
  std::vector<std::string> legend_;
};

/// One episode of one number per step; each test changes what it is about.
inline Trajectories one_episode(std::vector<float> observations, std::int64_t dim) {
  Trajectories data;
  data.observations = Observations::dense(std::move(observations), dim);
  const auto steps = data.steps();
  data.offsets = std::vector<std::int64_t>{0, steps};
  data.actions = Actions::discrete(std::vector<std::int32_t>(static_cast<std::size_t>(steps)), 5);
  data.terminals = std::vector<std::uint8_t>(static_cast<std::size_t>(steps));
  data.ids = {"0"};
  return data;
}

/// Ends the only episode by the environment.
inline void terminate(Trajectories& data) {
  std::vector<std::uint8_t> ends(static_cast<std::size_t>(data.steps()));
  ends.back() = 1;
  data.terminals = std::move(ends);
}

/// A walk through Diagonal with the moves chosen on it.
inline Trajectories walk(const std::vector<Cell>& cells, const std::vector<Move>& chosen) {
  const Diagonal diagonal;
  const auto dim = static_cast<std::size_t>(diagonal.spec().observation_dim());
  std::vector<float> rows(cells.size() * dim);
  for (std::size_t i = 0; i < cells.size(); ++i)
    diagonal.observe_state(diagonal.state_of(cells[i]), std::span(rows).subspan(i * dim, dim));
  std::vector<std::int32_t> actions;
  for (const Move move : chosen) actions.push_back(static_cast<std::int32_t>(move));
  Trajectories data = one_episode(std::move(rows), static_cast<std::int64_t>(dim));
  data.actions = Actions::discrete(std::move(actions), kMoves);
  return data;
}

/// The sentence an InvalidArgument ends in; "" when nothing is thrown.
template <class Call>
std::string complaint(Call call) {
  try {
    call();
    return "";
  } catch (const InvalidArgument& error) {
    return error.what();
  }
}

}  // namespace kindred::testing
