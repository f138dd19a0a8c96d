"""A seeded synthetic vault: the same on every machine."""

import random
from itertools import accumulate
from pathlib import Path

__all__ = ("write_vault",)

_SYLLABLES = (
    "ka re mo ti sun dor vel an is tor pha lin gre ob ur sta cor net ing ple".split()
)
_JAPANESE = (
    "認証 設計 画面 検索 利用者 貸出 延滞 予約 管理 記録 通知 手順 障害 移行 設定 権限 "
    "一覧 更新 削除 確認 データ サーバー キャッシュ トークン セッション"
).split()


def write_vault(folder: Path, files: int, *, seed: int = 1) -> int:
    """Write *files* linked pages below *folder*/docs; the bytes written."""
    chance = random.Random(seed)
    words = [
        "".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4)))
        for _ in range(20_000)
    ]
    # A few words are common and most are rare, as in any language. Summed up here once
    # and not at each choice, or choosing would take longer than whatever is measured.
    summed = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    size = 0
    for number in range(files):
        text = _page(chance, words, summed, number, files)
        path = folder / "docs" / f"{number % 40:02}" / f"page-{number:06}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        size += path.write_bytes(text.encode())
    return size


def _page(
    chance: random.Random,
    words: list[str],
    summed: list[float],
    number: int,
    files: int,
) -> str:
    def some(count: int) -> list[str]:
        return chance.choices(words, cum_weights=summed, k=count)

    def sentence() -> str:
        if number % 3 == 0:
            return "の".join(chance.choices(_JAPANESE, k=6)) + "を確認する。"
        return " ".join(some(chance.randint(6, 18))) + "."

    def paragraph() -> str:
        return " ".join(sentence() for _ in range(chance.randint(2, 5)))

    kind = chance.choice(["spec", "design", "guide", "adr"])
    lines = [f"---\ntitle: Page {number}\ndoc_type: {kind}\n---\n\n# Page {number}\n"]
    for part in range(chance.randint(3, 8)):
        lines.append(f"## {sentence()[:60]} {part}\n")
        lines += [f"{paragraph()}\n" for _ in range(chance.randint(1, 5))]
        if chance.random() < 0.3:
            lines.append(f"```python\n{' = '.join(chance.choices(words, k=4))}\n```\n")
        lines.append(f"See [[page-{chance.randrange(files):06}|depends_on]].\n")
    return "\n".join(lines)
