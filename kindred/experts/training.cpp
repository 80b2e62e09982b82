#include "kindred/experts/training.h"

namespace kindred {

nlohmann::ordered_json to_json(const CurvePoint& point) {
  nlohmann::ordered_json json = {{"steps", point.steps},
                                 {"episodes", point.episodes},
                                 {"return", point.mean_return},
                                 {"length", point.mean_length},
                                 {"entropy", point.entropy}};
  if (point.divergence) json["divergence"] = *point.divergence;
  if (point.temperature) json["temperature"] = *point.temperature;
  json["value_error"] = point.value_error;
  return json;
}

CurvePoint curve_point(const nlohmann::json& json) {
  CurvePoint point{.steps = json.at("steps"),
                   .episodes = json.at("episodes"),
                   .mean_return = json.at("return"),
                   .mean_length = json.at("length"),
                   .entropy = json.at("entropy"),
                   .value_error = json.at("value_error")};
  if (json.contains("divergence")) point.divergence = json["divergence"].get<double>();
  if (json.contains("temperature")) point.temperature = json["temperature"].get<double>();
  return point;
}

}  // namespace kindred
