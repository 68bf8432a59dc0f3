"""Benchmark files, each read into the same immutable shape."""

from thinkback.evaluate.datasets.base import Corpus, Dataset, Document, Question
from thinkback.evaluate.datasets.beir import read_beir
from thinkback.evaluate.datasets.locomo import read_locomo
from thinkback.evaluate.datasets.longmemeval import read_longmemeval
from thinkback.evaluate.datasets.trec import TrecRun, read_qrels, read_run, read_trec, write_run

__all__ = [
    "Corpus",
    "Dataset",
    "Document",
    "Question",
    "TrecRun",
    "read_beir",
    "read_locomo",
    "read_longmemeval",
    "read_qrels",
    "read_run",
    "read_trec",
    "write_run",
]
