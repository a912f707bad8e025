"""Finds the packages: four folders install under one import name, which no key of setuptools says.

Folders of data count as packages, too: setuptools warns of each that does not.
"""

from setuptools import find_namespace_packages, setup

FOLDERS = {
    "harness": "harness",
    "harness.plugins": "plugins",
    "harness.leaderboard": "leaderboard",
    "harness.tasks": "tasks",
}
LEFT_OUT = ["*__pycache__*", "site.scripts*"]  # the page has the bundle of these scripts

setup(
    packages=[
        package
        for name, folder in FOLDERS.items()
        for package in (name, *(f"{name}.{p}" for p in find_namespace_packages(folder, LEFT_OUT)))
    ],
    package_dir=FOLDERS,
)
