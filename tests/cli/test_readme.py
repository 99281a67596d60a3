"""The README's example is what the program prints."""

import pathlib
import re
import shlex

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"


def test_the_example_is_real(ecotone, tmp_path):
    block = re.search(r"```console\n(\$ ecotone generate.*?)```", README.read_text(), re.S).group(1)
    block = block.replace("\\\n", " ")
    commands = re.findall(r"^\$ ecotone (.*)\n", block, re.M)
    assert [command.split()[0] for command in commands] == ["generate", "evaluate"]
    for command in commands:
        printed = ecotone(*shlex.split(command), cwd=tmp_path).stdout
    assert printed == block[block.index(commands[-1]) + len(commands[-1]) + 1 :]
    assert (tmp_path / "report.html").exists()
