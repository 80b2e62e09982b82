#include <torch/version.h>

#include <new>

#include "bindings.h"
#include "kindred/core/error.h"
#include "kindred/core/version.h"
#include "kindred/core/workers.h"
#include "kindred/dist/communicator.h"

namespace kindred::python {
namespace {

/// Errors with the program's sentences: what the user gave is a ValueError, what the system refused
/// an OSError, and a process that is gone the kind of it that says so.
void translate(const std::exception_ptr& error, void*) {
  try {
    std::rethrow_exception(error);
  } catch (const IoError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const PeerLost& e) {
    PyErr_SetString(PyExc_ConnectionError, e.what());
  } catch (const NumericError& e) {
    PyErr_SetString(PyExc_ArithmeticError, e.what());
  } catch (const Error& e) {
    PyErr_SetString(PyExc_ValueError, e.what());
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "there is not enough memory for this");
  }
}

}  // namespace
}  // namespace kindred::python

NB_MODULE(_core, module) {
  namespace nb = nanobind;
  nb::register_exception_translator(&kindred::python::translate);
  module.attr("version") = std::string(kindred::kVersion);
  module.attr("torch_version") = TORCH_VERSION;
  kindred::python::bind_dataset(module);
  kindred::python::bind_ranks(module);  // before what takes them
  kindred::python::bind_fitting(module);
  kindred::python::bind_run(module);
  kindred::python::bind_segments(module);
}
