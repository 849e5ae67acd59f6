"""Builds the extension, and the runtime that comes with it, from the sources in ../runtime.

In a source distribution these lie in `runtime/` beside this file.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = Path(__file__).resolve().parent
PACKAGE = Path("src") / "instr"
# As instr-cc builds the runtime (instr-cc/src/runtime.rs).
FLAGS = ["-std=c11", "-O2", "-w", "-fPIC", "-fno-lto", "-fvisibility=hidden", "-fexceptions", "-DINSTR_SHARED=1"]
PTH = 'import os; ("INSTR_PYTHON" in os.environ or "INSTR_TREE" in os.environ) and __import__("_instr_auto")\n'

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit("instr: error: this Python has no global lock (free-threaded build), for which instr is not written: use another one")
if not sys.platform.startswith("linux"):
    sys.exit("instr: error: functions of Python are recorded on Linux alone")


def runtime():
    """The folder of its sources: copied into a source distribution, else one level up."""
    own = HERE / "runtime"
    return own if own.exists() else HERE.parent / "runtime"


def sources():
    """The sources of libinstr.so, as paths below the runtime's folder: those of every runtime on Linux, as runtime/src/lib.rs has them, and
    what stands for an OpenMP library."""
    root = runtime()
    apart = set((root / "apart.txt").read_text().splitlines()) | {"sinks/small_file.c"}
    found = (path.relative_to(root).as_posix() for path in root.rglob("*.c"))
    elsewhere = ("include/", "tests/", "platform/")
    here = [name for name in found if name not in apart and (not name.startswith(elsewhere) or name.startswith("platform/linux/"))]
    return sorted([*here, "library/getters.c"])


def table_version():
    text = (runtime() / "library" / "table.h").read_text()
    return re.search(r"#define INSTR_TABLE_VERSION (\d+)", text)[1]


class BuildPy(build_py):
    """Also what is not a module of the package: the file that starts it."""

    def run(self):
        super().run()
        target = Path(self.build_lib)
        (target / "instr-auto.pth").write_text(PTH)


class BuildExt(build_ext):
    """The extension, and libinstr.so beside it."""

    def run(self):
        super().run()
        folder = Path(self.build_lib) / "instr"
        folder.mkdir(parents=True, exist_ok=True)
        self.build_runtime(folder / f"libinstr.so.{table_version()}")

    def build_runtime(self, output):
        ready = os.environ.get("INSTR_PYTHON_RUNTIME")  # one that instr-cc built (instr-cc --instr-preload=DIR)
        if ready:
            shutil.copyfile(ready, output)
            return
        compiler = os.environ.get("CC", "cc").split()
        root = runtime()
        objects = Path(self.build_temp) / "runtime"
        objects.mkdir(parents=True, exist_ok=True)
        newest = max(path.stat().st_mtime for path in root.rglob("*") if path.suffix in (".c", ".h"))
        jobs = [(name, objects / (name.replace("/", "-")[:-2] + ".o")) for name in sources()]

        def compile_one(job):
            name, result = job
            subprocess.run([*compiler, *FLAGS, f"-I{root / 'include'}", f"-I{root}", "-c", "-o", result, root / name], check=True)

        if output.exists() and output.stat().st_mtime > newest:
            return
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, jobs))
        link = ["-shared", "-pthread", f"-Wl,-soname,{output.name}", "-Wl,-z,nodelete", "-o", output]
        subprocess.run([*compiler, *link, *(result for _, result in jobs)], check=True)


class Sdist(sdist):
    """With the files that the build takes from the repository."""

    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        base = Path(base_dir)
        root = runtime()
        for path in root.rglob("*"):
            if path.suffix in (".c", ".h") or path.name == "apart.txt":
                to = base / "runtime" / path.relative_to(root)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, to)


setup(
    ext_modules=[
        Extension(
            "instr._native",
            [str(PACKAGE / path.name) for path in sorted((HERE / PACKAGE).glob("*.c"))],
            include_dirs=[str(runtime()), str(runtime() / "include")],
            extra_compile_args=["-std=c11", "-O2", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wno-unused-parameter"],
            depends=[str(PACKAGE / path.name) for path in (HERE / PACKAGE).glob("*.h")],
        )
    ],
    cmdclass={"build_py": BuildPy, "build_ext": BuildExt, "sdist": Sdist},
)
