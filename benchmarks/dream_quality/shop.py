"""A made-up memory with seeded faults, and the made-up project that it is about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FACTS = {
    "review": "Two people review a change of the checkout.",
    "tabs": "The person wants tabs in Go files.",
    "staging": "Staging is reset every Monday.",
    "invoice": "Invoice numbers must never be used twice.",
    "retry": "Payments are tried again three times, with a pause of 2 s.",
    "logs": "Logs of the worker are in /var/log/shop.",
    "holiday": "No deployment between 20 and 31 December.",
    "currency": "Amounts are integers of the smallest unit.",
    "owner": "The search service belongs to the team in Lyon.",
    "flags": "Feature flags are removed two weeks after they are on for all.",
}
"""What must still stand somewhere afterwards, word for word or nearly."""
TWICE = ("tabs", "invoice", "retry", "currency")
"""Facts that are said in several documents."""


@dataclass(frozen=True)
class Stale:
    """A fact that a file of the project disproves."""

    said: str
    wrong: str
    """A word that must not stand there any more."""
    right: str
    """A word that must stand in its place."""


STALE = (
    Stale("The tests run with nose.", "nose", "pytest"),
    Stale("The project needs Python 3.8.", "3.8", "3.12"),
    Stale("The main branch is called master.", "master", "trunk"),
)
HANDBOOK = "# Handbook\n" + "".join(
    f"Rule {number} of the warehouse: shelf {number} holds what begins with {chr(97 + number % 26)}"
    f" and is counted in week {number % 52 + 1}.\n"
    for number in range(120)
)
"""Notes in which nothing is wrong, most of the memory."""
OLD = "Deployments are on Fridays (noted 2026-01-09)."
NEW = "Deployments are on Tuesdays (noted 2026-10-02)."
"""Two notes that contradict each other; the newer one holds."""


def memory() -> dict[str, str]:
    """The documents by name."""
    facts = FACTS
    repeated = "\n".join(facts[name] for name in TWICE)
    return {
        "MEMORY.md": "# Shop\n" + "".join(
            f"- [{name}]({name}.md)\n"
            for _ in range(60)
            for name in ("payments", "style", "deploy", "people")
        ),
        "handbook.md": HANDBOOK,
        "payments.md": f"# Payments\n{facts['invoice']}\n{facts['retry']}\n{facts['currency']}\n",
        "style.md": f"# Style\n{facts['tabs']}\n{facts['flags']}\n{STALE[0].said}\n",
        "deploy.md": f"# Deploy\n{OLD}\n{facts['staging']}\n{facts['holiday']}\n{STALE[2].said}\n",
        "people.md": f"# People\n{facts['review']}\n{facts['owner']}\n",
        "logs/2026-09-30.md": f"# Wednesday\n{repeated}\n{facts['logs']}\n",
        "logs/2026-10-02.md": f"# Friday\n{NEW}\n{repeated}\n{STALE[1].said}\n",
    }  # fmt: skip


def project(folder: Path) -> None:
    """Write the project's files, which disprove the stale facts."""
    files = {
        "pyproject.toml": '[project]\nname = "shop"\nrequires-python = ">=3.12"\n'
        '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
        ".git/HEAD": "ref: refs/heads/trunk\n",
        "docs/branches.md": "The branch that is deployed is called trunk.\n",
        "tests/test_cart.py": "import pytest\n\n\ndef test_cart() -> None:\n    assert pytest\n",
    }
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def ideal() -> dict[str, str]:
    """What a perfect dream would leave."""
    facts = FACTS
    return {
        "MEMORY.md": "# Shop\n- [Payments](payments.md): invoices, retries, amounts\n"
        "- [Style](style.md): tabs, flags, tests\n- [Deploy](deploy.md): when, where, never\n"
        "- [People](people.md): reviews, owners\n- [Handbook](handbook.md): the warehouse\n",
        "handbook.md": HANDBOOK,
        "payments.md": f"# Payments\n{facts['invoice']}\n{facts['retry']}\n{facts['currency']}\n",
        "style.md": f"# Style\n{facts['tabs']}\n{facts['flags']}\nThe tests run with pytest.\n"
        "The project needs Python 3.12.\n",
        "deploy.md": f"# Deploy\n{NEW}\n{facts['staging']}\n{facts['holiday']}\n{facts['logs']}\n"
        "The main branch is called trunk.\n",
        "people.md": f"# People\n{facts['review']}\n{facts['owner']}\n",
    }
