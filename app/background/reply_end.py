"""What a reply says at its end: a question to the person, or where things stand."""

from __future__ import annotations

import re
from typing import Final

from app.background.words import sentence_spans
from app.plain_text import plain_line

LONGEST: Final = 60
"""Characters of a detail."""
_READ: Final = 50_000
"""Characters at the end of a reply that are looked at."""
_END: Final = 1_500
"""Characters at the end in which a question or a closing word is looked for."""
_OPENING: Final = 600
"""Characters of a paragraph in which its first sentences end."""
_SHORT: Final = 240
"""Characters up to which a reply of one or two sentences is its own summary."""

_FENCE = re.compile(r"\s*(?:[-*+]\s+)?(```|~~~)")
_SET_APART = re.compile(r"\s*(?:>|\||(?:-{3,}|\*{3,}|_{3,})\s*$)")
_QUOTED = re.compile(
    r"``[^`\n]{0,300}``|`[^`\n]{0,300}`|https?://[^\s)>\]]{1,300}"
    r"|\"[^\"\n]{0,300}\"|“[^”\n]{0,300}”|„[^“”\n]{0,300}[“”]|«[^»\n]{0,300}»"
    r"|「[^」\n]{0,300}」|『[^』\n]{0,300}』"
    r"|(?<![^\s(])(?:'[^'\n]{1,300}'|‘[^’\n]{1,300}’)(?![^\s).,;:!?])"
)
_ITEM = re.compile(r"(?:[-*+•]|\d{1,3}[.)]|\(?[a-zA-Z][.)]|\*\*[^*\n]{1,40}\*\*)\s")
_ASKS = re.compile(
    r"[?？؟]\W*$|(?:ですか|ますか|でしょうか|ましょうか|ませんか)[。.]?$|[吗嗎][。.]?$"
    r"|(?:까요|나요|습니까|을까)[.]?$"
)
_REQUEST = re.compile(
    r"^(?:please |just )?(?:let me know|tell me) (?:which|whether|what|how|where|when)\b"
    r"|^please (?:confirm|choose|pick|decide|tell me|provide)\b"
    r"|^(?:bitte )?(?:sag(?:e|en sie)? mir|bestätige|entscheide)\b|^(?:dis|dites)-moi\b"
    r"|^(?:dime|por favor,? confirm)|^请(?:确认|选择|告诉|告知)|^(?:教えて|選んで"
    r"|確認して)ください",
    re.IGNORECASE,
)
_AFTER_A_QUESTION = re.compile(
    r"^(?:\(?\[?y(?:es)?/n(?:o)?\]?\)?|(?:please )?(?:just )?(?:let me know|tell me|say)\b"
    r"|(?:sag|lass) .{0,40}|bitte .{0,40}|dis-moi.{0,30}|avísame.{0,30}|dime.{0,30}"
    r"|(?:请)?告诉我.{0,20}|教えてください|お知らせください|either (?:way|works"
    r"|is fine).{0,40})\W*$"
    r"|^(?:please )?let me know.{0,60}$",
    re.IGNORECASE,
)
_EXPLAINS = re.compile(
    r"[*_\s]*(?:why|how (?:do|does|did|is|it|to)\b|what(?:'s|’s) "
    r"|what (?:is|are|was|changed|does|did|next|new|happen|i )"
    r"|warum|was (?:ist|hat|habe)|wie geht|pourquoi|por qué|为什么|なぜ)",
    re.IGNORECASE,
)
"""A question that the list behind it answers."""

_STATES = (
    r"summary|in short|tl;?dr|done|result|outcome|status|conclusion|fixed|what (?:changed|i did)"
    r"|zusammenfassung|kurz gesagt|fertig|erledigt|ergebnis|stand|fazit|behoben"
    r"|résumé|en bref|terminé|fait|résultat|bilan|corrigé"
    r"|resumen|en resumen|hecho|listo|resultado|estado|resumo|feito|concluído|riepilogo|fatto"
    r"|итог|итоги|готово|результат|сделано|요약|완료|결과"
    r"|总结|總結|小结|完成|已完成|结果|結果|状态|まとめ|要約|完了|状況"
)
_NEXT = (
    r"next(?: steps?)?|what's next|nächste[rs]? schritte?|als nächstes|prochaines? étapes?|ensuite"
    r"|siguientes? pasos?|próximos? passos?|próximos? pasos?|prossimi passi|дальше|следующий шаг"
    r"|다음 단계|下一步|后续|次のステップ|次の作業|次"
)
_MARKS: Final = r"[\s#>*_✅✓✔🎉☑️-]*"
_LABELS = tuple(
    re.compile(rf"{_MARKS}(?:{names})\s*(?:[:：][*_\s]*|\*+[:：]?\s*|\s[—–-]\s+|$)", re.IGNORECASE)
    for names in (_STATES, _NEXT)
)
_VERB = re.compile(
    r"(?:(?:i|we)(?:'ve|’ve| have)?(?: now| also)? )?(?:fixed|added|updated|implemented|removed"
    r"|refactored|renamed|created|moved|replaced|changed|wrote|rewrote|merged|committed|pushed"
    r"|installed|cleaned up|migrated|converted|reverted|enabled|disabled|simplified|extracted)\s"
    r"|(?:ich habe|behoben|korrigiert|hinzugefügt|aktualisiert|umgesetzt|entfernt|umbenannt)\s"
    r"|(?:j'ai|j’ai|corrigé|ajouté|mis à jour|supprimé|renommé)\s"
    r"|(?:he (?:\w+(?:ado|ido)|hecho|puesto|escrito)|corregid[oa]|arreglad[oa]|añadid[oa]"
    r"|agregad[oa]|actualizad[oa]|eliminad[oa])\s|(?:corrigi|adicionei|atualizei|removi)\s"
    r"|(?:ho (?:corretto|aggiunto|aggiornato|rimosso)|исправил|добавил|обновил|удалил)"
    r"|我?(?:已经|已經|已)(?:修复|修復|添加|更新|实现|重构|修正|完成|重命名|删除)"
    r"|(?:修复|修復|添加|更新|实现|完成|重命名)了",
    re.IGNORECASE,
)
_DONE_ENDING = re.compile(r"(?:しました|できました|완료했습니다|했습니다|추가했습니다)[。.]?$")
_SAYS_NOTHING = re.compile(
    r"(?:(?:all )?(?:done|fixed|set|finished|good|ready)|ok(?:ay)?|fertig"
    r"|erledigt|alles (?:klar|gut)"
    r"|terminé|c'est fait|fait|listo|hecho|feito|fatto|готово|完成了?|好的?|好了|搞定了?"
    r"|完了(?:しました)?"
    r"|できました|완료|sure|yes|no)\W*",
    re.IGNORECASE,
)


def question_in(reply: str) -> str:
    """The question to the person that a reply ends in; empty when it ends in none.

    Choices and "let me know" may follow it. What is code, quoted, in a table or a heading asks
    nobody.
    """
    text, masked = _masked(reply)
    end = len(masked.rstrip())
    span = _question_before(masked, end)
    if span is None:
        span = _question_before(masked, _before_choices(masked, end))
        if span is not None and _EXPLAINS.match(masked[slice(*span)]):
            return ""
    return "" if span is None else text[slice(*span)]


def _question_before(masked: str, end: int) -> tuple[int, int] | None:
    """The first of the questions that stand at the end."""
    spans = _spans(masked, max(end - _END, 0), end)
    at = len(spans) - 1
    if at > 0 and _AFTER_A_QUESTION.match(masked[slice(*spans[at])]):
        at -= _asks(masked, spans[at - 1])
    if at < 0 or not _asks(masked, spans[at]):
        return None
    while at > 0 and _asks(masked, spans[at - 1]):
        at -= 1
    return spans[at]


def _before_choices(masked: str, end: int) -> int:
    """Where a list at the end begins; 0 when the text ends in none."""
    lines = masked[max(end - _END, 0) : end].split("\n")
    while lines and (not lines[-1].strip() or _AFTER_A_QUESTION.match(lines[-1].strip())):
        end -= len(lines.pop()) + 1
    has_item = False
    while lines and (not lines[-1].strip() or lines[-1][0] in " \t" or _ITEM.match(lines[-1])):
        has_item = has_item or bool(_ITEM.match(lines[-1].lstrip()))
        end -= len(lines.pop()) + 1
    return max(end, 0) if has_item else 0


def told_in(reply: str) -> str:
    """The sentence in which a reply says where things stand; empty when it has none."""
    text, masked = _masked(reply)
    return _labelled(text, masked) or _done_in(text, masked)


def short_reply(reply: str) -> str:
    """A reply that is so short that it is its own summary; empty for a longer one."""
    text, masked = _masked(reply)
    return _itself(text, masked) if len(" ".join(masked.split())) <= _SHORT else ""


def brief(text: str, longest: int = LONGEST) -> str:
    """One line of plain text of at most `longest` characters, without Markdown and full stop."""
    line = plain_line(text[: 20 * longest])
    line = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line)
    line = re.sub(r"\*\*|`", "", line)
    line = re.sub(r"^(?:\s*(?:[-*+•>]|#{1,6}|\d{1,3}[.)])\s+)+", "", line)
    line = " ".join(line.split()).strip("✅✓✔🎉☑\ufe0f ")
    if not line.endswith(("...", "…")):
        line = line.rstrip(".。:：,; ") or line
    if len(line) <= longest:
        return line
    kept = line[: longest - 1]
    whole_words, _, _ = kept.rpartition(" ")
    # A long word, or a script without spaces, is cut where the room ends.
    return (whole_words if len(whole_words) > longest // 2 else kept).rstrip(" ,;:") + "…"


def _masked(reply: str) -> tuple[str, str]:
    """The end of a reply, and the same with blanks for code blocks, quotations and tables.

    Quoted words on a line become as many letters, so that places are the same in both.
    """
    text = reply[-_READ:]
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = _FENCE.match(line)
        if mark and (not fence or fence == mark[1]):
            fence = "" if fence else mark[1]
            lines.append(" " * len(line))
        elif fence or _SET_APART.match(line):
            lines.append(" " * len(line))
        else:
            lines.append(line)
    return text, _QUOTED.sub(lambda match: "x" * len(match[0]), "\n".join(lines))


def _spans(masked: str, start: int, stop: int) -> list[tuple[int, int]]:
    return [(start + a, start + b) for a, b in sentence_spans(masked[start:stop])]


def _asks(masked: str, span: tuple[int, int]) -> bool:
    sentence = masked[slice(*span)].strip("*_ ")
    if sentence.startswith("#") or not any(character.isalpha() for character in sentence):
        return False
    return bool(_ASKS.search(sentence) or _REQUEST.match(sentence))


def _labelled(text: str, masked: str) -> str:
    """What stands behind the last label such as "Summary:"; "Next:" counts where no other is."""
    for label in _LABELS:
        found = ""
        place = 0
        rest = masked.split("\n")
        for number, line in enumerate(rest):
            if len(line) < 2_000 and (match := label.match(line)):
                here = text[place + match.end() : place + len(line)]
                behind = here if here.strip() else _next_line(text, masked, rest, number, place)
                found = _first_sentence(behind) or found
            place += len(line) + 1
        if found:
            return found
    return ""


def _next_line(text: str, masked: str, lines: list[str], number: int, place: int) -> str:
    place += len(lines[number]) + 1
    for line in lines[number + 1 :]:
        if line.strip():
            return text[place : place + len(line)]
        place += len(line) + 1
    return ""


def _first_sentence(text: str) -> str:
    spans = sentence_spans(text[:_END])
    pieces = [text[slice(*span)] for span in spans]
    said = (piece for piece in pieces if not _SAYS_NOTHING.fullmatch(piece))
    return next((piece for piece in said if any(c.isalnum() for c in piece)), "")


def _done_in(text: str, masked: str) -> str:
    """The first sentence of the last paragraph, or else of the reply, that says what was done."""
    paragraph = masked.rstrip().rfind("\n\n") + 1
    closing = _spans(masked, paragraph, paragraph + _OPENING)[:1]
    for span in (*closing, *_spans(masked, 0, _OPENING)[:2]):
        sentence = text[slice(*span)]
        bare = sentence.lstrip("#*_✅✓✔ ")
        if bare.endswith((":", "：")):
            continue
        if (_VERB.match(bare) or _DONE_ENDING.search(bare)) and _first_sentence(sentence):
            return sentence
    return ""


def _itself(text: str, masked: str) -> str:
    """The first sentence of a reply that has one or two."""
    spans = sentence_spans(masked)
    if not 1 <= len(spans) <= 2:
        return ""
    return _first_sentence("\n\n".join(text[slice(*span)] for span in spans))
