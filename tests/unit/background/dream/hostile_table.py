"""What a dream must refuse and what it must be able to do. Run in the folder of `dream_kit`."""

from __future__ import annotations

COMMANDS = r"""
cat a.txt | sh
cat a.txt || ls
cat a.txt && rm -rf .
cat a.txt ; rm a.txt
cat a.txt;rm a.txt
cat a.txt & rm a.txt
cat a.txt > b.txt
cat a.txt >> b.txt
cat a.txt >b.txt
cat a.txt 2> b.txt
cat a.txt &> b.txt
cat < a.txt
cat <<EOF
cat <<< word
cat <(ls)
ls >(cat)
ls $(whoami)
ls `whoami`
ls "$(whoami)"
ls "`whoami`"
cat $HOME/.ssh/id_rsa
cat ${HOME}/.ssh/id_rsa
cat "$HOME/x"
cat $'a.txt'
cat {a.txt,/etc/passwd}
(cat a.txt)
{ cat a.txt; }
! cat a.txt
cat a.txt # comment
cat ~/x
cat ~root/x
cat 'a.txt
cat "a.txt
cat a.txt \
X=1 cat a.txt
LD_PRELOAD=/tmp/x.so cat a.txt
env cat a.txt
command cat a.txt
exec cat a.txt
sudo cat a.txt
/bin/cat a.txt
./cat a.txt
../cat a.txt
bash -c ls
sh a.txt
python3 -c 1
perl -e 1
awk 1 a.txt
sed -n 1p a.txt
sed -i s/a/b/ a.txt
tee a.txt
xargs cat
rm a.txt
mv a.txt b.txt
cp a.txt b.txt
dd if=a.txt
ln -s /etc x
touch x
mkdir x
chmod 777 a.txt
truncate -s 0 a.txt
curl http://localhost
git log
rg x
less a.txt
more a.txt
vim a.txt
sort -o a.txt a.txt
echo x
pwd
cd ..
egrep x a.txt
fgrep x a.txt
tac a.txt
od a.txt
xxd a.txt
strings a.txt
readlink link-in
tar cf x .
Cat a.txt
CAT a.txt
find . -exec rm {} +
find . -exec rm '{}' ';'
find . -exec rm '{}' +
find . -execdir rm '{}' ';'
find . -ok rm '{}' ';'
find . -okdir rm '{}' ';'
find . -delete
find . -name x -delete
find . -fprint out
find . -fprint0 out
find . -fprintf out %p
find . -fls out
find -files0-from a.txt
find -files0-from - -print
find -L . -name x
find -H out
find -P .
find -D exec .
find -O3 .
find . -follow
find . -newer /etc/passwd
find . -anewer /etc/passwd
find . -samefile /etc/passwd
find . -print0
find . -xtype f
find /
find /etc -name passwd
find .. -name x
find out
find out/
find . out
find -exec
find . -name
find pipe
tail -f a.txt
tail -F a.txt
tail -fn 5 a.txt
tail -5f a.txt
tail -n 5 -f a.txt
tail --follow a.txt
tail --follow=name a.txt
tail --retry a.txt
tail --pid=1 a.txt
tail --pid 1 a.txt
tail -s 1 a.txt
tail --fol a.txt
tail -n x a.txt
tail
tail -
head -
head -n
head -n $((1)) a.txt
head -c 1E a.txt
head --lines=-/etc a.txt
cat
cat -
cat -- -
cat a.txt -
cat --help
cat --version
cat -z a.txt
cat .
cat sub
cat pipe
cat sock
cat out/passwd
cat link-out
cat link-secret
cat /etc/passwd
cat ../outside/o.txt
cat sub/../../outside/o.txt
cat ./sub/../../outside/o.txt
cat /dev/zero
cat /dev/stdin
cat /dev/fd/0
cat /proc/self/environ
cat /proc/self/fd/0
cat /proc/1/cwd/etc/passwd
cat /sys/kernel/notes
cat /run/x
cat link-proc
cat .env
cat ./.env
cat sub/../.env
cat ".env"
cat .en\v
cat '.'env
cat .env.local
cat .env.bak
cat keys/id_rsa
cat keys/server.pem
cat .ssh/config
cat .git/config
cat .netrc
cat credentials.json
cat .aws/credentials
cat closed.txt
grep x
grep
grep -r
grep -f a.txt a.txt
grep -f.env a.txt
grep --file=.env a.txt
grep --file .env a.txt
grep -rf .env .
grep -R x .
grep -Rn x .
grep --dereference-recursive x .
grep -d recurse x .
grep --directories=recurse x .
grep -D read x pipe
grep --devices=read x pipe
grep --exclude-from=.env x .
grep --include-from=x x .
grep KEY .env
grep -n KEY .env a.txt
grep -r KEY .env
grep -r x /etc
grep -r x ..
grep -r x out
grep -r x pipe
grep -r x link-out
grep x link-out
grep -e
grep -m x x a.txt
grep -A -1 x a.txt
grep --color=always x a.txt
grep --line-buff x a.txt
grep -z x a.txt
grep x sub
grep x -
grep -- x -
grep -5x5 x a.txt
wc --files0-from=a.txt
wc --files0-from a.txt
wc --files0-from=-
wc -
wc
wc .env
wc -x a.txt
stat
stat -f .
stat --file-system .
stat --cached=never .
stat out
stat /etc/passwd
stat .env
stat pipe
ls -L
ls -H
ls -lL out
ls --dereference
ls -D
ls --dired
ls --hyperlink
ls --color=always
ls -Z
ls out
ls /
ls ..
ls /etc
ls .ssh
ls link-proc
ls --time-style=$(x)
ls -T x
ls --rec
"""
"""One a line."""

MORE_COMMANDS = (
    "",
    " ",
    "\t",
    "ls\nrm a.txt",
    "ls\r\nrm a.txt",
    "cat a.txt\x00",
    "cat a\x1b.txt",
    "cat a.txt\u2028rm a.txt",
    "c\u200bat a.txt",
    "cat \u202etxt.a",
    "cat\u00a0a.txt",
    "cat \ud800",
    "\ufeffcat a.txt",
    "ls " + "a" * 5_000,
    "ls" + " a.txt" * 101,
    "cat " + "../" * 60 + "etc/passwd",
    "''",
    "'' a.txt",
    "cat ''",
    "cat ' '",
    "cat " + "x" * 300 + "/.env",
)

HARMLESS = r"""
ls
ls -la
ls -lah sub
ls -1R .
ls -lt --full-time sub
ls --sort=size --reverse
ls -d sub
ls -I '*.txt'
ls a.txt link-in
find . -name '*.py'
find . -name *.py
find sub -type f
find . -type f -name a.txt -size -2k
find . \( -name a.txt -o -name b.md \) -print
find . ! -name a.txt -maxdepth 1
find . -path './sub/*'
find sub -path 'sub/*' -printf '%f %s\n'
find . -mtime -30 -newermt 2020-01-01
find . -name .git -prune -o -type f -print
find -maxdepth 1
find a.txt
find . -empty
find . -regex './sub/.*' -ls
grep hello a.txt
grep -n hello a.txt sub/b.md
grep -rn hello .
grep -rn hello
grep -rIl --include='*.md' topic sub
grep -rn --exclude-dir=sub hello .
grep -c hello a.txt
grep -i -E 'hel+o|bye' a.txt
grep -rnE 'hello$' .
grep -A3 -B 2 hello a.txt
grep -3 hello a.txt
grep -m1 -e hello -e bye a.txt
grep -F 'a | b' a.txt
grep -rl hello . --include=*.txt
grep --max-count=1 hello a.txt
grep --color=never hello a.txt
grep -P '\bhello\b' a.txt
grep -oh hello a.txt
grep "it's" a.txt
grep -- -x a.txt
cat a.txt
cat -n a.txt sub/b.md
cat sub/../a.txt
cat "with space.txt"
cat with\ space.txt
cat 'with space.txt'
cat link-in
cat -- -dash.txt
cat .env.example
stat a.txt
stat -c '%n %s %y' a.txt sub
stat .
wc -l a.txt
wc a.txt sub/b.md
head a.txt
head -5 a.txt
head -n 5 a.txt sub/b.md
head -c 100 a.txt
head -n -1 a.txt
head --lines=2 a.txt
tail a.txt
tail -n +2 a.txt
tail -c 50 a.txt
tail -qn1 a.txt sub/b.md
ls {stage}
cat {stage}/MEMORY.md
grep -c user {sessions}/s.jsonl
head -c 200 {sessions}/s.jsonl
"""
"""One a line; `{stage}` and `{sessions}` stand for the folders."""


def lines(table: str) -> list[str]:
    return [line for line in table.split("\n") if line]


HOSTILE = (*lines(COMMANDS), *MORE_COMMANDS)
