"""What shells offer when a command is unfinished."""

import gzip
import os
import pty
import select
import shutil
import subprocess
import time

import pytest
from test_usage import VERBS


def asked(ecotone, folder, command, *replaced):
    """The answer to the scripts: words and whether files fit, too."""
    lines = ecotone("__complete", command, *replaced, cwd=folder).stdout.splitlines()
    files = bool(lines) and lines[-1] == ":files"
    return [line.split("\t")[0] for line in lines[: len(lines) - files]], files


def words(ecotone, folder, command):
    return asked(ecotone, folder, command)[0]


@pytest.fixture
def folder(tmp_path):
    header = 'site,"a, b",größe,disease state,y\n'
    (tmp_path / "data.csv").write_text(header + "u,1,2,3,4\n")
    (tmp_path / "packed.csv.gz").write_bytes(gzip.compress(b"p;q\n1;2\n"))
    (tmp_path / "two words.tsv").write_text("left\tright\n1\t2\n")
    (tmp_path / "logs.csv").touch()
    return tmp_path


COLUMNS = ["site", "a, b", "größe", "disease state", "y"]


def test_verbs(ecotone, folder):
    assert words(ecotone, folder, "ecotone ev") == ["evaluate"]
    assert set(VERBS) <= set(words(ecotone, folder, "ecotone "))
    assert words(ecotone, folder, "ecotone help comp") == ["completion"]
    assert words(ecotone, folder, "ecotone --threads 2 ev") == ["evaluate"]
    assert words(ecotone, folder, "ecotone nonsense") == []


def test_flags_and_their_values(ecotone, folder):
    assert words(ecotone, folder, "ecotone evaluate data.csv --prot") == ["--protocol"]
    assert words(ecotone, folder, "ecotone evaluate --protocol k") == ["k-fold"]
    assert words(ecotone, folder, "ecotone evaluate --protocol=k") == ["--protocol=k-fold"]
    assert words(ecotone, folder, "ecotone fit --task ") == ["classify", "regress"]
    assert "-o" in words(ecotone, folder, "ecotone predict -")
    assert asked(ecotone, folder, "ecotone fit -o ") == ([], True)
    assert asked(ecotone, folder, "ecotone fit --seed ") == ([], False)


def test_arguments(ecotone, folder):
    assert asked(ecotone, folder, "ecotone methods log") == (["logistic"], False)
    assert asked(ecotone, folder, "ecotone generate cli") == (["clinics"], False)
    assert asked(ecotone, folder, "ecotone fit data.csv log") == (["logistic"], True)
    assert asked(ecotone, folder, "ecotone predict ") == ([], True)
    assert asked(ecotone, folder, "ecotone completion ") == (["bash", "zsh", "fish"], False)


def test_columns_of_the_file(ecotone, folder):
    for flag in ("--label", "--domain", "--weight", "--ignore", "--features"):
        assert words(ecotone, folder, f"ecotone fit data.csv {flag} ") == COLUMNS, flag
    assert words(ecotone, folder, "ecotone fit data.csv --label=s") == ["--label=site"]
    assert words(ecotone, folder, "ecotone fit data.csv --label 'dis") == ["disease state"]
    assert words(ecotone, folder, "ecotone fit data.csv --ignore y,s") == ["y,site"]
    assert words(ecotone, folder, "ecotone fit data.csv --ignore y,site,") == [f"y,site,{c}" for c in COLUMNS[1:4]]
    assert words(ecotone, folder, "ecotone fit data.csv --where g") == ["größe"]
    assert words(ecotone, folder, "ecotone fit packed.csv.gz --label ") == ["p", "q"]
    assert words(ecotone, folder, "ecotone fit two\\ words.tsv --label ") == ["left", "right"]
    assert words(ecotone, folder, "ecotone --json fit 'two words.tsv' data.csv --label ") == ["left", "right", *COLUMNS]


def test_files_without_columns(ecotone, folder):
    """Missing, empty, of another kind, cut off, not to be read: nothing is offered and nothing is said."""
    (folder / "broken.csv.gz").write_bytes(gzip.compress(b"p;q\n1;2\n" * 1000)[:20])
    (folder / "noise.bin").write_bytes(bytes(range(256)) * 16)
    (folder / "twice.csv").write_text("a,a\n1,2\n")
    (folder / "folder.csv").mkdir()
    os.mkfifo(folder / "pipe.csv")
    for name in ("gone.csv", "logs.csv", "broken.csv.gz", "noise.bin", "twice.csv", "folder.csv", "pipe.csv", "-"):
        done = ecotone("__complete", f"ecotone fit {name} --label ", cwd=folder)
        assert (done.stdout, done.stderr) == ("", ""), name


def test_only_the_beginning_of_a_file_is_read(ecotone, folder):
    with open(folder / "huge.csv", "w") as file:
        file.write("first,second\n1,2\n")
        file.truncate(1 << 40)
    with open(folder / "wide.csv", "w") as file:
        file.write("no_end," * 300_000)
    begin = time.monotonic()
    assert words(ecotone, folder, "ecotone fit huge.csv --label ") == ["first", "second"]
    assert words(ecotone, folder, "ecotone fit wide.csv --label ") == []
    assert time.monotonic() - begin < 60


def test_pipelines(ecotone, folder):
    line = 'ecotone fit data.csv "'
    assert asked(ecotone, folder, line + "impute | sc") == (["impute | scale", "impute | scale | "], False)
    assert words(ecotone, folder, line + "impute |sc") == ["impute |scale", "impute |scale | "]
    assert words(ecotone, folder, line + "scale | logistic | cal") == ["scale | logistic | calibrate"]
    methods = [method["name"] for method in ecotone.json("methods")["methods"]]
    assert words(ecotone, folder, line + "impute |") == [f"impute | {name}" for name in methods]
    assert words(ecotone, folder, line + "scale | svm si") == ["scale | svm sigma=", "scale | svm sigma1="]
    assert words(ecotone, folder, line + "scale | svm C") == ["scale | svm C=", "scale | svm C=1"]
    assert words(ecotone, folder, line + "scale | svm rou") == [f"scale | svm route={r}" for r in ("auto", "exact", "low_rank")]
    assert words(ecotone, folder, line + "scale | svm kernel=l") == ["scale | svm kernel=laplacian", "scale | svm kernel=linear"]
    assert words(ecotone, folder, line + "svm probability=") == ["svm probability=true", "svm probability=false"]
    assert words(ecotone, folder, line + "logistic l2=a") == ["logistic l2=auto"]
    assert words(ecotone, folder, line + "logistic l2=1 l") == ["logistic l2=1 l1=", "logistic l2=1 level="]
    assert words(ecotone, folder, line + "impute | nonsense x") == []
    assert words(ecotone, folder, "ecotone diagnose data.csv --pipeline 'scale | di") == ["scale | dica", "scale | dica | "]


def test_readline_replaces_only_a_part(ecotone, folder):
    assert asked(ecotone, folder, "ecotone fit data.csv --label=s", "s") == (["site"], False)
    assert asked(ecotone, folder, "ecotone fit data.csv --label=", "") == (COLUMNS, False)
    assert asked(ecotone, folder, "ecotone fit data.csv --label ", "") == (COLUMNS, False)


HOSTILE = ["x${y[$(touch MARK)]}", "x`touch MARK`", "x$(touch MARK)", "x$((y[`touch$IFS.P`]))", "x!!", 'x"', "x'", "x\\", "x\x1b[2J"]


def test_names_that_a_shell_would_run_are_not_offered(ecotone, tmp_path):
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE)
    (tmp_path / "f.csv").write_text(f"{quoted},x (mg/l) & more,y\n" + "1," * (len(HOSTILE) + 1) + "0\n")
    assert words(ecotone, tmp_path, "ecotone fit f.csv --label x") == ["x (mg/l) & more"]


class Bash:
    """A terminal with the script in place."""

    def __init__(self, ecotone, folder):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            path = f"{os.path.dirname(ecotone.path)}:{os.environ['PATH']}"
            os.execvpe("bash", ["bash", "--norc", "--noprofile", "-i"], {**os.environ, "PATH": path, "PS1": "$ ", "TERM": "dumb"})
        self.send("bind 'set enable-bracketed-paste off'; source <(ecotone completion bash); PS1='read''y> '\n")
        self.wait("ready> ")  # from here on readline reads what is typed

    def send(self, text):
        os.write(self.terminal, text.encode())

    def wait(self, text):
        """What was written until `text` appears."""
        seen, end = "", time.monotonic() + 60
        while text not in seen and time.monotonic() < end:
            if select.select([self.terminal], [], [], 1)[0]:
                seen += os.read(self.terminal, 4096).decode(errors="replace")
        assert text in seen, seen
        return seen

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


@pytest.fixture
def bash(ecotone, folder):
    if not shutil.which("bash"):
        pytest.skip("no bash")
    shell = Bash(ecotone, folder)
    yield shell
    shell.close()


@pytest.mark.parametrize(
    "typed, completed",
    [
        ("ecotone eval", "ecotone evaluate "),
        ("ecotone fit data.csv --label si", "--label site "),
        ("ecotone fit data.csv --label=si", "--label=site "),
        ("ecotone fit data.csv --label dis", "--label disease\\ state "),
        ('ecotone fit data.csv --label "dis', '--label "disease state" '),
        ("ecotone fit data.csv --ignore y,si", "--ignore y,site "),
        ("ecotone fit lo", "ecotone fit log"),  # logistic and logs.csv
        ('ecotone fit data.csv "impute | sca', '"impute | scale'),
        ('ecotone fit data.csv "scale | logi', '"scale | logistic" '),
        ('ecotone fit data.csv "scale | svm kern', '"scale | svm kernel='),
        ("ecotone fit two", "ecotone fit two\\ words.tsv "),
    ],
)
def test_bash_in_a_terminal(bash, typed, completed):
    bash.send(typed + "\t#end\n")
    seen = bash.wait("#end")
    assert completed + "#end" in seen.replace("\x07", ""), seen


def test_bash_offers_words_and_files(ecotone, folder):
    script = """
source <("$0" completion bash)
COMP_WORDS=("$0"); COMP_LINE="ecotone fit data.csv log"; COMP_POINT=${#COMP_LINE}
_ecotone ecotone log data.csv
printf '%s\\n' "${COMPREPLY[@]}"
"""
    done = subprocess.run(["bash", "-c", script, ecotone.path], capture_output=True, text=True, check=True, cwd=folder)
    assert (done.stdout.split(), done.stderr) == (["logistic", "logs.csv"], "")


@pytest.mark.parametrize("shell", ("bash", "zsh", "fish"))
def test_scripts_are_valid_and_ask_the_program(ecotone, tmp_path, shell):
    script = ecotone("completion", shell).stdout
    assert "ecotone __complete" in script or "__complete" in script and shell == "bash"
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True)


def test_completing_runs_nothing(bash, folder):
    quoted = ",".join('"' + name.replace('"', '""') + '"' for name in HOSTILE)
    (folder / "f.csv").write_text(f"{quoted},xylophone,y\n" + "1," * (len(HOSTILE) + 1) + "0\n")
    bash.send("ecotone fit f.csv --label x\t")
    bash.wait("--label xylophone")
    assert not [path.name for path in folder.iterdir() if path.name in ("MARK", ".P")]
