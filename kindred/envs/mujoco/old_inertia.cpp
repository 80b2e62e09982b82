#include <fmt/format.h>
#include <tinyxml2.h>

#include <sstream>

#include "kindred/core/error.h"
#include "kindred/envs/mujoco/model_internal.h"

namespace kindred {
namespace {

using tinyxml2::XMLElement;

bool is_capsule(const XMLElement& element) {
  return std::string_view(element.Name()) == "geom" && element.Attribute("type", "capsule");
}

/// The size of the cylinder that weighs what an old capsule did: its caps add r/2 at either end.
std::string cylinder_size(const XMLElement& capsule) {
  const auto* size = capsule.Attribute("size");
  std::istringstream numbers(size ? size : "");
  double radius = 0, half_length = 0;
  if (!(numbers >> radius >> half_length))
    throw DataFormatError("line {} of the model: a capsule needs size=\"radius half-length\"",
                          capsule.GetLineNum());
  return fmt::format("{} {}", radius, half_length + radius / 2);
}

void move_mass_to_cylinder(XMLElement& capsule) {
  auto& cylinder = *capsule.ShallowClone(capsule.GetDocument())->ToElement();
  cylinder.SetAttribute("type", "cylinder");
  cylinder.SetAttribute("size", cylinder_size(capsule).c_str());
  cylinder.SetAttribute("contype", 0);
  cylinder.SetAttribute("conaffinity", 0);
  capsule.SetAttribute("mass", 0);
  capsule.Parent()->InsertAfterChild(&capsule, &cylinder);
}

void replace_capsules_in(XMLElement& parent) {
  for (auto* child = parent.FirstChildElement(); child; child = child->NextSiblingElement()) {
    if (is_capsule(*child)) move_mass_to_cylinder(*child);
    replace_capsules_in(*child);
  }
}

}  // namespace

std::string with_old_inertia(std::string_view model) {
  tinyxml2::XMLDocument document;
  if (document.Parse(model.data(), model.size()) != tinyxml2::XML_SUCCESS)
    throw DataFormatError("the model is not valid XML: {}", document.ErrorStr());
  replace_capsules_in(*document.RootElement());
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  return printer.CStr();
}

}  // namespace kindred
