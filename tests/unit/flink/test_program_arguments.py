# SPDX-License-Identifier: Apache-2.0
"""Tests of argument files of jars."""

import pytest

from lineagelab_flink.errors import ScriptError
from lineagelab_flink.program_arguments import program_arguments

VALUES = {"KAFKA_BOOTSTRAP": "kafka:9092", "CHECKPOINTS": "s3://check points"}


def test_words_of_all_lines_with_the_values_of_placeholders():
    text = """\ufeff# lab: service
# main: Orders

--bootstrap ${KAFKA_BOOTSTRAP}  # of the lab
--title "all orders" --note 'a # b'
--checkpoints ${CHECKPOINTS}/mine --empty ''
"""
    assert program_arguments("orders.args", text, VALUES) == [
        *("--bootstrap", "kafka:9092"),
        *("--title", "all orders", "--note", "a # b"),
        *("--checkpoints", "s3://check points/mine", "--empty", ""),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('# x\n--title "all', 'orders.args, line 2: no closing quotation: --title "all'),
        ("--a ${KAFKA_BOOTSTRP}", r"orders.args, line 1: unknown placeholder \$\{KAFKA_BOOTSTRP\}; did you mean"),
        ("a\n\nb ${AWS_REGION}", r"line 3: \$\{AWS_REGION\} has no value: environment variable AWS_REGION is not set"),
    ],
)
def test_an_invalid_file_is_rejected_with_the_line(text, message):
    with pytest.raises(ScriptError, match=message):
        program_arguments("orders.args", text, VALUES)
