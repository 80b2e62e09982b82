#include "kindred/methods/policy_search/partitions/packed_answers.h"

namespace kindred::policy_search {

void pack(const ExactFit& fit, Packer& to) {
  to.add(fit.labels);
  to.add(fit.k);
  to.add(fit.converged);
  to.add(fit.rounds.size());
  for (const auto& round : fit.rounds) {
    to.add(round.objective);
    to.add(round.changed);
    to.add(round.sizes);
  }
}

void unpack(ExactFit& fit, Unpacker& from) {
  std::size_t rounds = 0;
  from.take(fit.labels);
  from.take(fit.k);
  from.take(fit.converged);
  from.take(rounds);
  fit.rounds.resize(rounds);
  for (auto& round : fit.rounds) {
    from.take(round.objective);
    from.take(round.changed);
    from.take(round.sizes);
  }
}

void pack(const HeldOutScore& score, Packer& to) {
  to.add(score.v);
  for (const auto* numbers : {&score.noise, &score.own_noise, &score.errors, &score.naming})
    to.add(*numbers);
}

void unpack(HeldOutScore& score, Unpacker& from) {
  from.take(score.v);
  for (auto* numbers : {&score.noise, &score.own_noise, &score.errors, &score.naming})
    from.take(*numbers);
}

void pack(const Answer& answer, Packer& to) {
  pack(answer.fit, to);
  pack(answer.held_out, to);
  to.add(answer.start);
}

void unpack(Answer& answer, Unpacker& from) {
  unpack(answer.fit, from);
  unpack(answer.held_out, from);
  from.take(answer.start);
}

void pack(const Descent& descent, Packer& to) {
  to.add(descent.fits.size());
  for (const auto& [k, fit] : descent.fits) {
    to.add(k);
    pack(fit, to);
  }
  to.add(descent.v.size());
  for (const auto& [k, v] : descent.v) {
    to.add(k);
    to.add(v);
  }
}

void unpack(Descent& descent, Unpacker& from) {
  std::size_t fits = 0, scores = 0;
  from.take(fits);
  for (std::size_t i = 0; i < fits; ++i) {
    std::int64_t k = 0;
    from.take(k);
    unpack(descent.fits[k], from);
  }
  from.take(scores);
  for (std::size_t i = 0; i < scores; ++i) {
    std::int64_t k = 0;
    from.take(k);
    from.take(descent.v[k]);
  }
}

}  // namespace kindred::policy_search
