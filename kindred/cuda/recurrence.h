// The GRU over whole sequences on a GPU. A thread block takes one sequence from its first step to
// its last with the recurrent weights in its registers; nothing is padded.
#pragma once

#include <cstdint>

namespace kindred::cuda {

/// Sequences as rows, one after the other.
struct Sequences {
  const std::int32_t* begins = nullptr;  ///< [count + 1]: where each begins, and the last ends.
  int count = 0;
};

/// Gates are three groups of columns: reset, update, candidate.
struct Recurrence {
  Sequences sequences;
  const float* weight = nullptr;  ///< [memory, 3 memory]
  const float* bias = nullptr;    ///< [3 memory]
  /// [rows, 3 memory]: what the inputs give; the gates themselves afterwards.
  float* gates = nullptr;
  float* from_past = nullptr;  ///< [rows, memory]: what the past gives to the candidate.
  float* states = nullptr;     ///< [rows, memory]
  float* previous = nullptr;   ///< [rows, memory]: the state before each row's.
};

struct RecurrenceBackward {
  Recurrence forward;
  const float* d_states = nullptr;  ///< [rows, memory]: from outside
  float* d_gates = nullptr;         ///< [rows, 3 memory]: of what the inputs gave
  float* d_from_past = nullptr;     ///< [rows, memory]
};

/// For these widths of the memory.
bool has_recurrence(int memory);
void run(int memory, const Recurrence& task);
void run_back(int memory, const RecurrenceBackward& task);

}  // namespace kindred::cuda
