"""Whole accounts out and in (contract 6): the demo data, test worlds, and moves between installations."""

from .dump import dump as dump
from .load import Loaded as Loaded
from .load import load as load
