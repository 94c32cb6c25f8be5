# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: with a program in graphcloak/bin it is a wheel of one platform, and has a command."""

from pathlib import Path

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel

CARRIES = any(Path("graphcloak/bin").glob("graphcloak*"))


class PlatformWheel(bdist_wheel):
    """Takes --plat-name as it is, for a name may hold several tags with dots between them."""

    def get_tag(self) -> tuple[str, str, str]:
        return ("py3", "none", self.plat_name) if CARRIES else super().get_tag()


setup(
    cmdclass={"bdist_wheel": PlatformWheel},
    entry_points={"console_scripts": ["graphcloak = graphcloak.program:main"]} if CARRIES else {},
)
