"""What a suggestion must not say, by language; every text here is folded (`fold`).

A pattern that refuses too much costs one suggestion, one that refuses too little puts words into
the person's mouth (spec/background.md, Prompt suggestion).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})


_LOOKALIKES = str.maketrans("аеорсухіјѕԁһαοερντιυκ", "aeopcyxijsdhaoepvtiuk")
"""Cyrillic and Greek letters that look like Latin ones."""
_MIXED = re.compile(r"\w*[a-z]\w*")


def fold(text: str) -> str:
    """The text as the patterns see it: compatibility forms, case, spaces and, in words that mix
    scripts, lookalike letters made one.
    """
    folded = unicodedata.normalize("NFKC", text).translate(_APOSTROPHES).casefold()
    folded = _MIXED.sub(lambda word: word[0].translate(_LOOKALIKES), folded)
    return " ".join(folded.split()).lstrip("¿¡ ")


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


_SINGLE_WORDS: Final = (
    # English
    "yes yeah yep sure ok okay continue commit push go proceed test tests run build rebuild retry "
    "format lint check verify refactor explain review debug merge rebase install next why "
    "how more again resume finish start stop done help summarize document "
    # German, French, Spanish, Portuguese, Italian, Russian, Korean
    "ja weiter fortfahren mach committen pushen testen tests bauen warum nochmal prüfen "
    "oui continue continuer vas-y commite commiter pousse pousser teste tester pourquoi encore "
    "sí si continúa continuar sigue adelante confirma sube prueba probar compila "
    "sim continua siga prossiga testar avança sì procedi avanti prova "
    "да дальше продолжай продолжи коммит пуш тест тесты почему "
    "네 예 계속 계속해 커밋 커밋해 푸시 푸시해 테스트 진행 진행해 "
    # Chinese, Japanese, Thai
    "是 是的 对 好 好的 可以 继续 繼續 提交 推送 测试 測試 运行 執行 执行 开始 下一步 为什么 "
    "はい 続けて 続けてください 続ける 続き コミット コミットして コミットしてください "
    "プッシュ プッシュして プッシュしてください テスト テストして テストしてください "
    "実行 実行して 実行してください 進めて 進めてください 次へ なぜ "
    "ใช่ ต่อ ต่อไป ทำต่อ ดำเนินการต่อ คอมมิต พุช ทดสอบ"
)
SINGLE: Final = frozenset(_SINGLE_WORDS.split())
"""Single words that are a whole request. "No" is none: it would answer something."""

PRAISE: Final = _any(
    r"^(?:great|perfect|awesome|excellent|nice|wonderful|amazing|brilliant|fantastic|superb|good"
    r"|cool|sweet|lovely|impressive|bravo|cheers|thanks|thank you|thx|ty|well done|lgtm|love it"
    r"|(?:very|really|so|pretty) (?:good|nice))\b",
    r"^(?:(?:this|that|it|everything|all|code|tests?|the \w+) (?:all )?)?(?:looks?|seems?|sounds?"
    r"|is|are|was|were) (?:all |so |very |really |pretty |just |now )?(?:good|great|fine|right"
    r"|correct|perfect|nice|excellent|awesome|amazing|clean|better|solid|impressive|beautiful)"
    r"(?: to me| now)?\W*$",
    r"^(?:looks?|seems?|sounds?) (?:good|great|fine|right|perfect|nice)\b",
    r"^that's (?:it|all|good|great|fine|right|correct|perfect|nice|better|what i)\b",
    r"^(?:this|that|it) work(?:s|ed)(?: \w+)?\W*$",
    r"\b(?:good|great|nice|excellent|amazing) (?:job|work)\b",
    r"\b(?:thanks|thank you|thx)\W*$",
    r"^(?:perfekt|super|toll|danke|vielen dank|prima|klasse|großartig|grossartig|ausgezeichnet"
    r"|wunderbar|spitze|hervorragend|sehr (?:gut|schön)|gut gemacht|gute arbeit)\b",
    r"^(?:das |es )?(?:sieht|klingt) (?:sehr |schon )?(?:gut|super|toll|prima) ?(?:aus)?\W*$",
    r"\b(?:danke|danke dir|merci|gracias|obrigad[oa]|grazie)\W*$",
    r"^(?:merci|parfait|super|génial|excellent|bravo|impeccable|formidable|magnifique|très bien"
    r"|(?:bon|beau) travail|bien joué|c'est (?:bon|bien|parfait|super|génial)|ça marche|ça a l'air)"
    r"(?!\w)",
    r"^(?:(?:muchas )?gracias|perfect[oa]|genial|excelente|estupendo|fantástico|muy bien"
    r"|(?:buen|gran) trabajo|bien hecho|se ve (?:muy )?bien"
    r"|(?:todo )?(?:está|queda) (?:muy )?bien)\b",
    r"^(?:obrigad[oa]|perfeito|ótimo|excelente|muito bem|bom trabalho|ficou (?:bom|ótimo))\b",
    r"^(?:grazie|perfetto|ottimo|eccellente|benissimo|molto bene|ben fatto|bel lavoro)\b",
    r"^(?:спасибо|отлично|идеально|прекрасно|супер|молодец|замечательно|великолепно|хорошая работа"
    r"|(?:всё |все )?выглядит (?:хорошо|отлично))",
    r"^(?:谢谢|謝謝|感谢|感謝|多谢|很好|非常好|太好了|太棒了|太完美|真棒|棒极了|完美|干得"
    r"|做得(?:好|很|不错)|不错|好极了|辛苦了|看起来(?:不错|很好|很棒|没问题))",
    r"^(?:ありがとう|素晴らしい|すばらしい|完璧|いいですね|よくできました|良さそう|よさそう|お疲れ|最高"
    r"|さすが|助かりました|すごい)",
    r"ありがとう(?:ございます|ございました)?\W*$",
    r"^(?:정말 |아주 |매우 )?(?:감사|고마워|고맙습니다|완벽|좋아요|좋네요|훌륭|잘했|멋져|수고)",
    r"^(?:ขอบคุณ|เยี่ยม|ดีมาก|สมบูรณ์แบบ)",
)

ASSISTANT: Final = _any(
    r"^(?:i|we)(?:'ll|'ve|'d|'m| will| am| have| can| could| would| should| might| suggest"
    r"| recommend| found| noticed| see| notice| understand| updated| fixed| added)\b",
    r"^(?:now,? |next,? |then,? |so,? |okay,? |ok,? |sure,? |first,? )?(?:i'll|i will|i'm|i can"
    r"|i've"
    r"|let me)\b",
    r"^(?:here(?:'s| is| are| you go)|allow me)\b",
    r"^(?:would you (?:like|prefer|want)|do you (?:want|need|prefer)|want me to|should (?:i|we)"
    r"|shall (?:i|we)|(?:how )?(?:can|may|could) i (?:help|assist)|what (?:would|do) you (?:like"
    r"|want)"
    r"|is there anything|did you want|are you (?:sure|ready)|need (?:me|help))\b",
    r"^(?:you (?:can|could|should|may|might|need to|want to|will)|feel free|please (?:let me know"
    r"|confirm|provide)|let me know|happy to|glad to|of course|certainly|absolutely|understood"
    r"|sure[,!] |it (?:looks|seems) like|as an ai|based on|just let)",
    r"\bwould you like\b|\bdo you want me to\b|\bshall i\b|\blet me know\b",
    r"^ich (?:werde|habe|kann|könnte|würde|schlage|empfehle|bin|sehe|mache)\b",
    r"^(?:lass(?:en sie)? mich|hier (?:ist|sind)|möchte(?:st du|n sie)|will?st du|wollen sie"
    r"|soll(?:te)? ich|sollen wir|darf ich|kann ich|du kannst|sie können|gerne|natürlich"
    r"|selbstverständlich|klar,|nun werde ich|jetzt werde ich)",
    r"\b(?:soll ich|möchtest du|möchten sie)\b",
    r"^(?:je (?:vais|peux|pourrais|propose|suggère|recommande|viens|suis|lance)\b|j'ai\b"
    r"|laisse(?:z)?-moi|voici|voilà|voulez-vous|veux-tu|souhaite(?:z-vous|s-tu)|aimeriez-vous"
    r"|dois-je|puis-je|(?:vous pouvez|tu peux) (?:maintenant|aussi|également)|bien sûr"
    r"|certainement)",
    r"^(?:voy a\b|vamos a ver|he (?!aquí)\w+(?:ado|ido|cho|to)\b|puedo\b|podría\b|déja?(?:me|eme)"
    r"|deja que|perm[ií]ta?(?:e)?me|aquí (?:está|tienes|tiene|están)|(?:quieres|quiere) que"
    r"|(?:te|le) gustaría|deseas|debo\b|debería\b|por supuesto|claro,|sugiero|(?:te )?recomiendo)",
    r"^(?:vou\b|deixe-me|deixa eu|aqui está|(?:você )?gostaria|quer que|posso\b|devo\b"
    r"|eu (?:vou|posso))",
    r"^(?:lasciami|lascia che|ecco\b|vuoi che|vorresti|ti consiglio|procederò|sto per)",
    r"^(?:я (?:могу|буду|сделаю|предлагаю|рекомендую|сейчас|запущу|проверю|исправ)|позвольте|вот "
    r"|хотите|хочешь,? чтобы|могу ли|давайте я|давай я)",
    r"^(?:好的[,，]?)?(?:我(?:会|来|将|可以|已|建议|认为|能|马上|现在|帮|正在|需要|这就|會|將|建議)"
    r"|让我|讓我)",
    r"^(?:这是|這是|这里是|以下是|您(?:想|要|需要|希望|可以)|你(?:想要|要不要|希望|需要|可以)"
    r"|是否(?:需要|要)我?|需要我|要我|要不要我|当然|请问)",
    r"^(?:私(?:が|は)|わたし|では|それでは|こちら|以下(?:は|が)|お手伝い|もちろん|承知|かしこまり"
    r"|了解(?:しました|です))",
    r"(?:いたします|します|しました|できます|ましょうか|でしょうか|よろしいですか|いかがですか"
    r"|必要ですか)\W*$",
    r"^(?:제가|저는|여기|물론|원하시|도와드)|(?:드릴까요|할까요|드리겠습니다|하겠습니다|원하시나요)\W*$",
    r"^(?:ฉัน(?:จะ|สามารถ)|ผมจะ|ให้(?:ฉัน|ผม)|นี่คือ|คุณต้องการ|ขอให้ฉัน)",
)

_IT: Final = r"(?:it|this|that|them|all|everything|once|always)"
PERMISSION: Final = _any(
    r"^[\W_]*\d{1,2}[\W_]*$",
    r"^(?:yes|y|no|n|ok|okay|sure|always|please)?\W*(?:allow|approved?|accept|permit|grant"
    r"|authori[sz]e"
    r"|deny|reject|decline)(?: (?:it|this|that|them|all|once|always|everything|access|permission"
    r"|the|for|session|tool|command|edits?|plan|request|changes?|call|and|run|yes))*\W*$",
    rf"^(?:yes|yep|yeah|y|ok|okay|sure|ja|oui|sí|si|sim|да)\b\W*(?:please )?(?:run|execute|do|apply"
    rf"|allow|approve|accept) {_IT}\W*$",
    r"^(?:yes|no|y|n),? (?:and )?(?:don't|do not|never|always|to all|for)\b",
    r"^(?:yes )?to all\W*$|^don't ask(?: me)? again|^(?:y|n)\W*$",
    r"^(?:ja,? )?(?:immer )?(?:erlauben?|genehmig(?:en|t)|zulassen|ablehnen|freigeben)\W*$"
    r"|^ja,? (?:führ(?:e)? (?:es|das|ihn) aus|ausführen|mach das)\W*$",
    r"^(?:oui,? )?(?:toujours )?(?:autorise[rz]?|approuve[rz]?|accepte[rz]?|refuse[rz]?)\W*$"
    r"|^oui,? (?:exécute|lance)(?:-le|-la|-les)?\W*$",
    r"^(?:s[íi],? )?(?:siempre )?(?:permit(?:ir|e)|aprobar?|aprueba|autoriz(?:ar|a)|aceptar"
    r"|rechazar)"
    r"\W*$|^s[íi],? (?:ejecútal[oa]|hazlo)\W*$",
    r"^(?:sim,? )?(?:sempre )?(?:permitir|aprovar|autorizar|consenti|approva|autorizza)\W*$",
    r"^(?:да,? )?(?:всегда )?(?:разреши(?:ть)?|одобр(?:ить|яю)|отклони(?:ть)?)\W*$"
    r"|^да,? (?:запусти|выполни)(?: это| её| ее| его)?\W*$",
    r"^(?:是的?|好的?)?\W*(?:始终|总是|一律)?(?:允许|批准|同意|授权|拒绝|允許|准许)"
    r"(?:它|执行|运行|一次|全部)?\W*$"
    r"|^(?:是的?|好的?)[,， ]*(?:运行|执行)(?:它|吧)?\W*$",
    r"^(?:はい)?\W*(?:常に)?(?:許可|承認|拒否)(?:する|して|します|してください)?\W*$"
    r"|^はい[、, ]*実行(?:して)?(?:ください)?\W*$",
    r"^(?:네|예)?\W*(?:항상 )?(?:허용|승인|거부)(?:해|합니다|하기|해줘)?\W*$",
    r"^(?:ใช่ ?)?(?:อนุญาต|อนุมัติ|ปฏิเสธ)\W*$",
)

META: Final = _any(
    r"</?[a-z_][^>]{0,60}>?$|<[a-z_/][^>]*>",
    r"^[(\[{【（「<].*[)\]}】）」>]\W*$|^[{\[]",
    r"^(?:no|nothing|none|n/a|null|nil|undefined|empty|silence|silent|skip|pass)\W*$",
    r"^(?:no|none|not? any|without) (?:\w+ )?(?:suggestions?|output|response|reply|next step"
    r"|prompt)\b",
    r"^nothing (?:found|to (?:suggest|add|say|do)|else|more|comes|specific|obvious|here)\b",
    r"^(?:stay(?:ing)? silent|remain(?:ing)? silent|silence\b|no_\w+)",
    r"^(?:\w+ |internal server )?error\W*(?::|$)|^api error|^error (?:code )?\d",
    r"\bprompt (?:is )?too long|\bcontext (?:length|window) (?:is )?exceed|\btoo many requests"
    r"|\brate.?limit(?:ed)? (?:reached|exceeded|error)|\boverloaded(?:_error)?\b|\binvalid api key"
    r"|\brequest (?:timed out|was aborted)|\brequest interrupted|\bcredit balance"
    r"|please run /login",
    r"\b(?:the )?user(?:'s)? (?:would|might|may|will|wants?|asked|likely|probably|next|is|said)\b",
    r"^(?:suggestion|suggested|prediction|predicted|next (?:prompt|message|input))\b",
    r"^(?:not enough|insufficient) (?:context|information)|\blanguage model\b",
    r"^(?:kein(?:e)? (?:vorschl|weiter)|nichts (?:gefunden|zu )|aucune? suggestion|rien à "
    r"|sin sugerencias?|ninguna sugerencia|nada que|sem sugest|nessun suggerimento"
    r"|нет предложений)",
    r"^(?:没有|無|无)(?:建议|建議|找到)|^(?:提案|候補)(?:なし|はありません)|^(?:沉默|沈黙|なし|无|無)\W*$"
    r"|^제안 없음|^ไม่มีข้อเสนอ",
)

_HAZARDS: Final = (
    (
        re.compile(
            r"\b(?:delet|remov|eras|wip|purg|destroy|drop|discard|nuk|truncat|trash|overwrit"
            r"|clear|empty"
            r"|revert|undo|reset|roll(?:ing)? back|throw(?:ing)? away|get(?:ting)? rid of"
            r"|clean out)"
        ),
        re.compile(
            r"\b(?:all|everything|entire|whole|every|data(?:base)?s?|db|tables?|schema"
            r"|collection|branch"
            r"|branches|repo(?:sitory)?|folders?|director(?:y|ies)|files?|disks?|drive|partition"
            r"|volumes?"
            r"|backups?|history|changes?|commits?|stash|work(?:ing tree)?|project|production|prod"
            r"|bucket"
            r"|server|cluster|accounts?|records|rows|progress|trash|home)\b"
        ),
    ),
    (
        re.compile(
            r"\b(?:deploy|ship|releas|roll(?:ing)? (?:it |this )?out|push|publish|promot|déplo"
            r"|mett(?:re|ez)"
            r"|bereitstell|ausroll|despleg|desplieg|implant|lanza|выкат|задеплой|разверн|опублик)"
            r"|部署|发布|發佈|上线|上線|推送|デプロイ|リリース|公開|배포"
        ),
        re.compile(
            r"\b(?:prod|production|produktion|producción|produção|produzione|live|npm|pypi"
            r"|crates|прод)"
            r"|生产|正式环境|线上|生產|本番|운영|프로덕션"
        ),
    ),
    (
        re.compile(
            r"\b(?:lösch|entfern|verw[ie]rf|wirf|überschreib|setz|revertier|leer|zerstör|bereinig)"
        ),
        re.compile(
            r"\b(?:all|ganz|komplett|sämtlich|datenbank|tabelle|branch|zweig|ordner|verzeichnis"
            r"|datei"
            r"|repo|festplatte|laufwerk|änderung|daten|historie|verlauf|projekt)"
        ),
    ),
    (
        re.compile(
            r"\b(?:supprim|efface|détrui|vide[rz]?\b|réinitialis|annul|jet(?:te|er)|écrase|borra"
            r"|elimina"
            r"|destruy|descart|revert|revier|vacía|apag|exclu|delet|remov|cancell|rimuov|ripristin)"
        ),
        re.compile(
            r"\b(?:tou[ts]|tod[oa]|tutt[oiae]|tudo|bases?\b|tabl|tabel|branch|ram[ao]|dossier"
            r"|répertoire"
            r"|dépôt|fich|carpeta|pasta|cartell|director|diretóri|reposit|dis[cq]|datos|dados|dati"
            r"|données|cambios|alteraç|modific|histor|archivo|arquivo|file|banco|todas)"
        ),
    ),
    (
        re.compile(r"удал|сотр|стер|очист|сброс|откат|снес|уничтож"),
        re.compile(
            r"\b(?:все|всё|баз|таблиц|ветк|папк|репозитор|диск|данн|изменени|истори|файл|каталог)"
        ),
    ),
    (
        re.compile(
            r"删除|刪除|删掉|删了|清空|清除|丢弃|丟棄|撤销|撤銷|回滚|还原|還原|重置|抹掉|格式化|销毁|覆盖|移除"
        ),
        re.compile(
            r"所有|全部|一切|整个|整個|数据|資料|表|分支|仓库|倉庫|目录|目錄|文件|檔案|磁盘|磁碟|硬盘|更改|修改"
            r"|变更|變更|改动|历史|歷史|提交|备份"
        ),
    ),
    (
        re.compile(
            r"削除|消去|破棄|取り消|リセット|初期化|消し|消す|捨て|フォーマット|元に戻|上書き|삭제|지워|초기화"
            r"|되돌|포맷|버려|ลบ|ล้าง|ทำลาย|รีเซ็ต"
        ),
        re.compile(
            r"全て|すべて|全部|データ|テーブル|ブランチ|リポジトリ|フォルダ|ディレクトリ|ファイル|ディスク|変更"
            r"|履歴|ドライブ|モデル全体|모두|전부|모든|데이터|테이블|브랜치|저장소|폴더|디스크|변경|파일"
            r"|ทั้งหมด|ทุก|ฐานข้อมูล|ข้อมูล|ไฟล์|โฟลเดอร์|ดิสก์|ตาราง"
        ),
    ),
)
"""What is done, and to what, that could not be had back: both in one text refuse it."""

_COMMANDS: Final = _any(
    r"\b(?:rm|rmdir|shred|mkfs\S*|fdisk|wipefs) |\brm\b.*-|\bdd (?:if|of)=|\bdel /",
    r"\bformat(?:ting|ter|tier|ear|a|e[rz]?)?\b.*\b(?:disk|drive|partition|volume|usb|disque|disco"
    r"|festplatte|laufwerk)|(?:festplatte|laufwerk)\b.*\bformatier|форматир\w* .*диск",
    r"\bdrop (?:the )?(?:\w+ )?(?:table|database|schema|collection|index|column|db)\b"
    r"|\bdelete from\b"
    r"|\btruncate\b",
    r"\bforce[- ]?push|\bpush\b.*(?:-f\b|--force|\bforce)|--force\b|--hard\b|\bhard[- ]reset"
    r"|\breset hard|\bforcepush|\bpush forcé|\bpush forzado|\bforzar (?:el )?push|форс-?пуш",
    r"\bgit (?:clean|checkout --|checkout \.|restore|filter-|reflog expire)|\bstash (?:drop|clear)"
    r"|\bbranch -d\b|\brewrite (?:the )?(?:git )?history",
    r"\b(?:terraform|tofu|pulumi) destroy|\bkubectl delete|\bprune\b|\b(?:shutdown|reboot)\b"
    r"|\bpush\b.* [+:]\w|\|\s*(?:sudo )?(?:ba|z)?sh\b|\bsudo\b"
    r"|^(?:please |now |just )?(?:undo|revert|discard|delete|remove|erase|drop|wipe)"
    r" (?:it|that|this|them)\b"
    r"|\bkill -9|\bfactory reset|\bstart (?:over )?from scratch|\bthrow (?:it|that|this|them) away"
    r"|\bwipe\b|\bnuke\b",
    r"\bgit (?:reset|checkout|switch|rebase|push|rm|branch|tag|update-ref|gc)\b|\breset\b"
    r"|\bcheckout\b.* -f\b|\bpurge\b|\bdel \w|\bunlink\b|\bunpublish|\boverwrit"
    r"|\bdelete\b|\berase\b",
    r"\b(?:terraform|tofu|pulumi|ansible\S*|helm|kubectl|aws|gcloud|az) \w"
    r"|\b(?:apply|run|put|push|merge|roll|take|migrat\w*) .*\b(?:prod|production|live)\b"
    r"|\bdeploy\b|\brelease it\b|\bgo live\b",
    r"\b(?:chmod|chown|curl|wget|eval|exec|source|nc|ssh|scp|crontab|kill|killall|pkill) "
    r"|[|;&<>$`]|\b(?:ba|z|fi)?sh \S|~/|/etc/|^@\S",
    r"\.env\b|\bid_rsa\b|\bcredentials?\b|\bsecrets?\b|\bpasswords?\b|\bapi[- ]keys?\b"
    r"|\bprivate keys?\b|\btokens? (?:to|into|at)\b|https?://|\bexfiltrat",
    r"\bpermission|\bbypass|\ballow\b|\bwithout asking\b|\bstop asking\b|\bdon't ask\b"
    r"|\baccept ?edits\b|\bdisable (?:the )?(?:sandbox|safety|checks?)\b",
    r"强制推送|强推|強制推送|強制プッシュ|強制的にプッシュ|강제 ?푸시|删库|推倒重来",
)


def throws_away(folded: str) -> bool:
    """Whether a step would destroy something or put it before everybody's eyes."""
    if _COMMANDS.search(folded):
        return True
    return any(done.search(folded) and to.search(folded) for done, to in _HAZARDS)
