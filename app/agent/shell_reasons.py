"""What a command does, in a few words for the dialog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from app.agent.shell_parse import ShellCommand
from app.agent.shell_words import names

_LOST = "and rewind can't take it back"

_BY_NAME: Mapping[str, str] = {
    "rm": f"deletes files, {_LOST}",
    "rmdir": "removes folders",
    "unlink": f"deletes a file, {_LOST}",
    "shred": f"destroys files, {_LOST}",
    "mv": f"moves or overwrites files, {_LOST}",
    "cp": f"copies over files, {_LOST}",
    "ln": "makes links",
    "dd": f"writes raw data, {_LOST}",
    "tee": f"writes files, {_LOST}",
    "touch": "makes files",
    "mkdir": "makes folders",
    "chmod": "changes who may use files",
    "chown": "changes the owner of files",
    "sed": "can change files in place",
    "awk": "can run commands and write files",
    "xargs": "runs another command on what it reads",
    "env": "runs another command, or shows the environment",
    "printenv": "shows the environment, which may hold secrets",
    "sudo": "runs with another user's rights",
    "su": "runs with another user's rights",
    "doas": "runs with another user's rights",
    "eval": "runs text as a command",
    "source": "runs a file as commands",
    ".": "runs a file as commands",
    "curl": "talks to the network",
    "wget": "talks to the network",
    "ssh": "works on another machine",
    "scp": "copies to or from another machine",
    "rsync": "copies, maybe to another machine",
    "kill": "ends processes",
    "pkill": "ends processes by name",
    "killall": "ends processes by name",
    "docker": "works on containers outside the project",
    "kubectl": "works on a cluster",
    "less": "can start other programs",
    "more": "can start other programs",
    "man": "can start other programs",
    "tar": "packs or unpacks files",
    "unzip": "writes files",
    "make": "runs what the Makefile says",
    "shutdown": "stops the machine",
    "reboot": "restarts the machine",
    "mkfs": f"destroys a file system, {_LOST}",
    "crontab": "changes what runs later",
    "alias": "changes what a command means",
    "export": "changes the environment",
}
_BY_TWO: Mapping[tuple[str, str], str] = {
    ("git", "push"): f"writes to a remote, {_LOST}",
    ("git", "reset"): f"can throw changes away, {_LOST}",
    ("git", "clean"): f"deletes untracked files, {_LOST}",
    ("git", "checkout"): "can overwrite files",
    ("git", "restore"): f"overwrites files, {_LOST}",
    ("git", "commit"): "writes a commit and runs the hooks",
    ("git", "rebase"): "rewrites commits",
    ("git", "merge"): "changes files and writes a commit",
    ("git", "pull"): "talks to a remote and changes files",
    ("git", "fetch"): "talks to a remote",
    ("git", "clone"): "talks to a remote and writes files",
    ("git", "stash"): "puts changes away",
    ("npm", "publish"): f"publishes a package, {_LOST}",
    ("npm", "install"): "installs packages and runs their scripts",
    ("npm", "ci"): "installs packages and runs their scripts",
    ("pip", "install"): "installs packages and may run their code",
    ("uv", "publish"): f"publishes a package, {_LOST}",
    ("cargo", "publish"): f"publishes a package, {_LOST}",
    ("gh", "pr"): f"may write to GitHub, {_LOST}",
    ("gh", "api"): f"may write to GitHub, {_LOST}",
}
SHELLS = frozenset(
    {"sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "fish", "rbash", "csh", "tcsh"}
)
INTERPRETERS = frozenset({"python", "python3", "node", "ruby", "perl", "php", "deno", "bun"})
RUNS_INPUT = SHELLS | {"eval", "source", ".", "at", "batch", "ssh"}
"""Commands that run what they read, or a file that may have been written just before."""
TAKES_CODE = INTERPRETERS | names(
    "awk gawk mawk nawk sed gsed vi vim nvim ex ed emacs expect tclsh lua gdb sqlite3 psql mysql "
    "osascript pwsh powershell Rscript make"
)
"""Commands that may be given a program in their own language, which may run others."""
WRAPPERS = names(
    "env command builtin exec nohup time timeout gtimeout nice ionice chrt taskset stdbuf setsid "
    "setpriv setarch linux32 linux64 prlimit numactl cgexec cpulimit choom sudo doas su run0 "
    "pkexec runuser sg gosu su-exec xargs gxargs parallel watch entr strace ltrace perf valgrind "
    "hyperfine rr coproc busybox toybox chroot fakeroot fakechroot proot bwrap firejail unshare "
    "nsenter flock lockf script unbuffer rlwrap caffeinate find fd fdfind ssh mosh dbus-run- "
    "session xvfb-run systemd-run systemd-inhibit daemonize start-stop-daemon screen tmux trap "
    "alias nix-shell npx bunx pnpx uvx dotenv chronic ts sem"
)
"""Commands that run the command in their arguments."""
RUNS_AFTER = frozenset({"run", "exec", "x", "dlx", "shell", "develop", "rsh", "foreach", "--"})
SUB_WRAPPERS = names(
    "ip docker podman nerdctl kubectl distrobox toolbox uv poetry pipenv pdm hatch conda mamba "
    "npm pnpm yarn bun bundle direnv mise asdf nix tox aws-vault op doppler git"
)
"""Commands that run the command behind one of `RUNS_AFTER`."""


def effect_of(command: ShellCommand) -> str:
    """What the command does: "`git push` writes to a remote, and …"."""
    name = command.name or ""
    words = [word.text for word in command.words]
    plain = [word for word in words[1:] if not word.startswith("-")]
    second = plain[0] if plain else ""
    known = _BY_TWO.get((name, second))
    if known is not None:
        return f"`{name} {second}` {known}"
    if name in _BY_NAME:
        return f"`{name}` {_BY_NAME[name]}"
    if name in SHELLS | INTERPRETERS:
        return f"`{name}` runs any code it is given"
    if name in WRAPPERS:
        return f"`{name}` runs another command"
    if "/" in name:
        return f"`{name}` is a program by its path"
    shown = f"{name} {second}" if name in {"git", "npm", "cargo", "go"} and second else name
    return f"`{shown}` is not known to only read"


def is_grave(words: Sequence[str]) -> bool:
    """Whether a rule should name the exact command only, since a variant may do great harm."""
    if not words:
        return True
    plain = [word for word in words[1:] if not word.startswith("-")]
    pair = (words[0], plain[0] if plain else "")
    known = _BY_TWO.get(pair) or _BY_NAME.get(words[0])
    return known is not None or words[0] in SHELLS | INTERPRETERS | WRAPPERS
