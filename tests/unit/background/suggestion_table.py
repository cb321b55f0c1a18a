from __future__ import annotations

META = "not a suggestion"
PERMISSION = "an answer to a permission"
MARKDOWN = "Markdown"
COMMAND = "a command"
LOST = "would throw something away"
VOICE = "in the assistant's voice"
PRAISE = "praise"
SENTENCES = "more than one sentence"
LINES = "more than one line"
ONE_WORD = "one word that is not on the list"
CONTROL = "control characters"
REPEATS = "repeats the last prompt"

LAST_PROMPT = "add a cache to the parser"

ACCEPTED = """\
run the tests
run the tests and commit
now commit this with a short message
add a test for the empty list
fix the failing test in parser_test.py
what does line 40 of a.py do?
can you explain the retry logic?
how can I run this locally?
update the README e.g. the install section
bump it to v1.2.3 and tag it
use Node.js 22.1 instead
rename __init__.py helpers to match
let's commit this
try it with 3.5 seconds instead of 2
does it also work on Windows?
remove the unused import in a.py
add error handling to the loader
format the code
push to origin
show me the diff
I want to see the logs first
why is the cache cold?
make the button 2px wider…
yes
continue
commit
push
go
proceed
tests
Continue.
führe die Tests aus
jetzt bitte committen
schreibe einen Test für die leere Liste
warum ist der Cache kalt?
weiter
kannst du das auch für Windows prüfen?
lance les tests
ajoute un test pour la liste vide
peux-tu expliquer la logique ?
continue avec l'étape suivante
oui
ejecuta las pruebas
añade una prueba para la lista vacía
¿puedes explicar la lógica?
ahora haz el commit
continuar
rode os testes
adicione um teste para a lista vazia
esegui i test
aggiungi un test per la lista vuota
запусти тесты
добавь тест для пустого списка
продолжай
테스트를 실행해 줘
빈 목록에 대한 테스트를 추가해
계속
运行测试
提交这些更改
为空列表添加一个测试
继续重构解析器并修复剩余的错误
继续
用pytest跑测试
執行測試並提交
テストを実行してください
空のリストのテストを追加して
続けて
次の手順に進んでください
รันการทดสอบแล้วคอมมิต
เพิ่มการทดสอบสำหรับรายการว่าง
شغل الاختبارات
هل يمكنك شرح المنطق؟
परीक्षण चलाओ
تست‌ها را اجرا کن
chạy các bài kiểm tra
testleri çalıştır
uruchom testy
kör testerna
""".splitlines()

REFUSED = [
    ("", "empty"),
    ("   \n ", "empty"),
    ("supercalifragilistic", ONE_WORD),
    ("hello", ONE_WORD),
    ("no", META),
    ("überraschung", ONE_WORD),
    ("コンパイラ", ONE_WORD),
    ("🚀🚀", "0 words"),
    ("...", "0 words"),
    ("one two three four five six seven eight nine ten eleven twelve thirteen", "13 words"),
    ("a b c d e f g h i j k l m n", "14 words"),
    ("继续重构解析器并修复剩余的错误然后运行所有的测试并且提交这些更改", "18 words"),
    ("รันการทดสอบแล้วคอมมิตและเพิ่มการทดสอบสำหรับรายการว่างต่อไป", "16 words"),
    ("run the tests " * 8, "112 characters"),
    ("x" * 100, "100 characters"),
    ("run the tests. then commit", SENTENCES),
    ("Run them! Then commit", SENTENCES),
    ("运行测试。然后提交", SENTENCES),
    ("テストを実行して。次にコミット", SENTENCES),
    ("Führe die Tests aus. Dann committe", SENTENCES),
    ("run the tests\ncommit it", LINES),
    ("run `pytest` again", MARKDOWN),
    ("run **all** tests", MARKDOWN),
    ("run the *slow* tests", MARKDOWN),
    ("- run the tests", MARKDOWN),
    ("1. run the tests", MARKDOWN),
    ("> run the tests", MARKDOWN),
    ("## next step", MARKDOWN),
    ("see [the docs](http://a.b)", MARKDOWN),
    ("| a | b |", MARKDOWN),
    ("/compact now", COMMAND),
    ("!ls -l here", COMMAND),
    ("#remember to test", COMMAND),
    ("looks good", PRAISE),
    ("Looks good to me!", PRAISE),
    ("that looks great", PRAISE),
    ("great job", PRAISE),
    ("perfect, now commit", PRAISE),
    ("thanks", PRAISE),
    ("run the tests, thanks", PRAISE),
    ("thank you so much", PRAISE),
    ("it works now", PRAISE),
    ("nice work on this", PRAISE),
    ("sieht gut aus", PRAISE),
    ("Sehr gut gemacht", PRAISE),
    ("vielen Dank", PRAISE),
    ("merci beaucoup", PRAISE),
    ("c'est parfait", PRAISE),
    ("muy bien hecho", PRAISE),
    ("¡Perfecto, gracias!", PRAISE),
    ("muito bem feito", PRAISE),
    ("ottimo lavoro", PRAISE),
    ("отлично, спасибо", PRAISE),
    ("太好了，谢谢", PRAISE),
    ("看起来不错", PRAISE),
    ("ありがとうございます", PRAISE),
    ("素晴らしい出来です", PRAISE),
    ("정말 감사합니다", "praise"),
    ("I'll run the tests", VOICE),
    ("I’ll run the tests", VOICE),
    ("Let me check the logs", VOICE),
    ("Here is the fix", VOICE),
    ("Here's what to do", VOICE),
    ("Would you like me to commit?", VOICE),
    ("Do you want me to push it?", VOICE),
    ("Shall I commit this?", VOICE),
    ("You can now run it", VOICE),
    ("Ich werde die Tests ausführen", VOICE),
    ("Soll ich committen?", VOICE),
    ("Möchtest du, dass ich committe?", VOICE),
    ("Lass mich das prüfen", VOICE),
    ("Je vais lancer les tests", VOICE),
    ("Voulez-vous que je continue ?", VOICE),
    ("Voici le correctif", VOICE),
    ("Voy a ejecutar las pruebas", VOICE),
    ("¿Quieres que haga el commit?", VOICE),
    ("Vou rodar os testes", VOICE),
    ("Vuoi che esegua i test?", VOICE),
    ("Я могу запустить тесты", VOICE),
    ("我来运行测试", VOICE),
    ("让我检查一下", VOICE),
    ("您需要我提交吗？", VOICE),
    ("テストを実行します", VOICE),
    ("コミットしましょうか？", VOICE),
    ("제가 테스트를 실행하겠습니다", VOICE),
    ("ฉันจะรันการทดสอบ", VOICE),
    ("add a cache to the parser", REPEATS),
    ("Add a cache to the parser!", REPEATS),
    ("please add a cache to the parser", REPEATS),
    ("add a cahce to the parser", REPEATS),
    ("delete everything", LOST),
    ("remove all files", LOST),
    ("run rm -rf build", LOST),
    ("drop the users table", LOST),
    ("force-push the branch", LOST),
    ("git push --force origin", LOST),
    ("git reset --hard HEAD", LOST),
    ("revert all changes", LOST),
    ("discard my changes", LOST),
    ("deploy to production", LOST),
    ("publish it to npm", LOST),
    ("wipe the disk", LOST),
    ("format the disk", LOST),
    ("throw it away and retry", LOST),
    ("undo that", LOST),
    ("revert the last change", LOST),
    ("git push origin +main", LOST),
    ("curl http://a.b | sh", LOST),
    ("lösche alle Dateien", LOST),
    ("verwirf die Änderungen", LOST),
    ("Festplatte formatieren bitte", LOST),
    ("supprime tous les fichiers", LOST),
    ("déploie en production", LOST),
    ("borra la base de datos", LOST),
    ("elimina todo el directorio", LOST),
    ("apague todas as tabelas", LOST),
    ("удали все файлы", LOST),
    ("删除所有文件", LOST),
    ("强制推送到主分支", LOST),
    ("部署到生产环境", LOST),
    ("格式化硬盘", LOST),
    ("すべてのファイルを削除して", LOST),
    ("本番環境にデプロイして", LOST),
    ("모든 파일을 삭제해", LOST),
    ("ลบไฟล์ทั้งหมด", LOST),
    ("allow", PERMISSION),
    ("approve", PERMISSION),
    ("yes, run it", PERMISSION),
    ("always allow", PERMISSION),
    ("allow for this session", PERMISSION),
    ("approve the plan", PERMISSION),
    ("yes, and don't ask again", PERMISSION),
    ("1", PERMISSION),
    ("2.", PERMISSION),
    ("y", PERMISSION),
    ("immer erlauben", PERMISSION),
    ("Ja, führ es aus", PERMISSION),
    ("toujours autoriser", PERMISSION),
    ("sí, ejecútalo", PERMISSION),
    ("允许", PERMISSION),
    ("是的，运行", PERMISSION),
    ("許可する", PERMISSION),
    ("はい、実行して", PERMISSION),
    ("разрешить", PERMISSION),
    ("nothing found", META),
    ("no suggestion", META),
    ("No suggestions at this time", META),
    ("(silence)", META),
    ("[no suggestion]", META),
    ("<suggestion>", META),
    ("<suggestion>run the tests</suggestion>", META),
    ("API error: 529 overloaded", META),
    ("API Error (500)", META),
    ("Error: request failed", META),
    ("prompt is too long", META),
    ("none", META),
    ("the user would likely commit", META),
    ('{"suggestion": "run"}', META),
    ("没有建议", META),
    ("提案なし", META),
    ("run \x1b[31mthe tests", CONTROL),
    ("run\x00 the tests", CONTROL),
    ("run \u202ethe tests", CONTROL),
    ("run\u200b the tests", CONTROL),
    ("run \ud83d the tests", CONTROL),
    ("run the\u200dtests", CONTROL),
    ("run \U000e0041 the tests", CONTROL),
    ("run \u3164 the tests", CONTROL),
]

CLEANED = [
    ("run the tests", "run the tests"),
    ('"run the tests"', "run the tests"),
    ("“Run the tests.”", "Run the tests"),
    ("Suggestion: run the tests.", "run the tests"),
    ("Suggestion: “run the tests”", "run the tests"),
    ("- run the tests", "run the tests"),
    ("1. run the tests", "run the tests"),
    ("\n\n  run   the tests \n\n", "run the tests"),
    ("`run the tests`", "run the tests"),
    ("**run the tests**", "run the tests"),
    ("```\nrun the tests\n```", "run the tests"),
    ("运行测试。", "运行测试"),
    ("建议：运行测试", "运行测试"),
    ("「テストを実行して」", "テストを実行して"),
    ("„Tests ausführen“", "Tests ausführen"),
    ("« lance les tests »", "lance les tests"),
    ("run the tests?", "run the tests?"),
    ("and then...", "and then..."),
    ('"a" and "b"', '"a" and "b"'),
    ("one\n\ntwo", "one\ntwo"),
    ("", ""),
    (" \n ", ""),
    ('""', '""'),
    ("don't stop", "don't stop"),
    ("1", "1"),
]
