"""The man page says what the help pages say, whatever characters they hold, and groff has nothing to warn of."""
import pathlib
import subprocess

import pytest

MAN = pathlib.Path(__file__).resolve().parents[2] / "tools" / "man"

PROGRAM = r"""#!/bin/sh
case "$1" in
--version) echo "ecotone 9.8.7 (commit abc)" ;;
--help) cat <<'HELP'
ecotone: learn odd things, for-ever.

Usage: ecotone VERB ...

Options:
  -h,--help         Print this page

Fit and use:
  fit               Fit it

About it:
  show              Show it

Try it:
  ecotone fit 'a\b' "c | d"

Exit codes: 0 success.
HELP
;;
*) cat <<HELP
Do $1 at once
Usage: ecotone $1 FILE [flags]

Options:
  --dot N                     .hidden \\n ^caret ~tilde 'quoted' "twice" \`ticks\`
  --a-very-long-name-of-a-flag A,B,..
                              'Tis on its own line

Common flags:
  --json                      One document

Examples:
  ecotone $1 ~/x
  .5 is no request

HELP
;;
esac
"""


@pytest.fixture
def page(tmp_path):
    program = tmp_path / "ecotone"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    path = tmp_path / "ecotone.1"
    path.write_text(subprocess.run([MAN, program], capture_output=True, text=True, check=True).stdout)
    return path


def shown(page):
    answer = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou", "-ww", "-K", "utf8", page], capture_output=True, text=True)
    assert answer.returncode == 0 and answer.stderr == ""
    return answer.stdout


def test_everything_is_shown(page):
    text = shown(page)
    for part in [
        "ecotone - learn odd things, for-ever\n",
        "ecotone 9.8.7",
        "ecotone fit 'a\\b' \"c | d\"\n",
        "Exit codes: 0 success.",
        ".hidden \\n ^caret ~tilde 'quoted' \"twice\" `ticks`",
        "--a-very-long-name-of-a-flag A,B,..\n",
        "'Tis on its own line",
        "ecotone show FILE [flags]\n",
        "ecotone show ~/x\n",
        ".5 is no request\n",
    ]:
        assert part in text, part


def test_common_flags_appear_once(page):
    assert shown(page).count("--json") == 1


def test_a_program_without_verbs_fails(tmp_path):
    program = tmp_path / "other"
    program.write_text("#!/bin/sh\necho other 1\n")
    program.chmod(0o755)
    answer = subprocess.run([MAN, program], capture_output=True, text=True)
    assert answer.returncode == 1
    assert "lists no verbs" in answer.stderr
