"""Builds ``believer._native`` where that can be done; everything else is in pyproject.toml."""

from __future__ import annotations

import os
import tempfile
from importlib import import_module
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

# No -ffast-math: NaN, infinity and the order of sums stay. errno and floating-point traps, which nobody reads here, are
# what stands between the loops and the vector unit. -g0: Python's own -g only makes a larger module and a longer build.
# Microsoft's math.h has no M_PI unless asked before Python.h reads it.
FLAGS = {
    "msvc": ["/O2", "/D_USE_MATH_DEFINES"],
    "unix": ["-O3", "-g0", "-fno-math-errno", "-fno-trapping-math", "-fopenmp-simd"],
}


class BuildNative(build_ext):
    """Compiles the module, or says in one line why it could not, and lets the installation go on without it.

    BELIEVER_NATIVE_ARCH=native (or any other value of ``-march``) compiles for that processor instead of the baseline
    one. Who names a processor wants the module, and so does BELIEVER_NATIVE=required, as builds of wheels for others
    say: then a failed build fails the installation.
    """

    def run(self) -> None:
        """Build, or go on without."""
        self._remove_the_last_one()
        try:
            for needed in ("Cython", "scipy.linalg.cython_blas"):  # the errors that come without them name neither
                import_module(needed)
            super().run()
        except Exception as reason:
            if os.environ.get("BELIEVER_NATIVE_ARCH") or os.environ.get("BELIEVER_NATIVE") == "required":
                raise
            why = " ".join(str(reason).split())[:200]
            self.warn(f"believer._native was not built, believer runs in Python alone. {type(reason).__name__}: {why}")
            self.extensions = []  # what was not built is not among the outputs

    def _remove_the_last_one(self) -> None:
        """A module of older sources must not be taken for the one that now fails to compile."""
        asked = self.inplace
        for extension in self.extensions:
            for inplace in {False, asked}:
                self.inplace = inplace
                Path(self.get_ext_fullpath(extension.name)).unlink(missing_ok=True)
        self.inplace = asked

    def build_extension(self, ext: Extension) -> None:
        """Compile with the flags of the compiler at hand."""
        self.cython_c_in_temp = True  # the generated C stays out of native/
        kind = "msvc" if self.compiler.compiler_type == "msvc" else "unix"
        arch = os.environ.get("BELIEVER_NATIVE_ARCH")
        ext.extra_compile_args = self._accepted(FLAGS[kind]) + ([f"-march={arch}"] if arch and kind == "unix" else [])
        super().build_extension(ext)

    def _accepted(self, flags: list[str]) -> list[str]:
        """Those of the flags that the compiler at hand takes: not every Clang has all of them."""
        if self._compiles(flags):
            return flags
        return [flag for flag in flags if self._compiles([flag])]

    def _compiles(self, flags: list[str]) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            nothing = Path(folder, "nothing.c")
            nothing.write_text("int nothing(void) { return 0; }\n", encoding="utf-8")
            try:
                self.compiler.compile([str(nothing)], output_dir=folder, extra_postargs=flags)
            except Exception:  # without a compiler at all, what compiles the module next says why
                return False
        return True


setup(
    ext_modules=[Extension("believer._native", ["native/_native.pyx"], include_dirs=["native"])],
    cmdclass={"build_ext": BuildNative},
)
