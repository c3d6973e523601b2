// Tells Python which sets of instructions the processor has, before anything that uses them is loaded.
#include <Python.h>

#include "geometry/base/processor.hpp"

namespace {

PyObject* instructions(PyObject*, PyObject*) {
    return polyfold::has_x86_64_v3() ? Py_BuildValue("(ss)", "x86-64-v3", "plain") : Py_BuildValue("(s)", "plain");
}

PyMethodDef functions[] = {
    {"instructions", instructions, METH_NOARGS, "The sets that this processor has, the best first."},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef module{};

}  // namespace

PyMODINIT_FUNC PyInit__processor() {
    module.m_base = PyModuleDef_HEAD_INIT;
    module.m_name = "_processor";
    module.m_doc = "What the processor can do; use it through polyfold._core.";
    module.m_size = -1;
    module.m_methods = functions;
    return PyModule_Create(&module);
}
