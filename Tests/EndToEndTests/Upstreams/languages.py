"""The data that both servers serve: the languages of ISO 639-3 from Debian's iso-codes, in one SQLite table."""
import hashlib
import json
import sqlite3

SOURCE = "/usr/share/iso-codes/json/iso_639-3.json"


def write(path):
    """Fills a new database and returns (number of languages, SHA-256 over their sorted ids, a line each)."""
    with open(SOURCE, encoding="utf-8") as file:
        languages = json.load(file)["639-3"]
    with sqlite3.connect(path) as database:
        database.execute("create table languages (alpha_3 text primary key, name text, scope text, type text)")
        database.executemany("insert into languages values (:alpha_3, :name, :scope, :type)", languages)
    ids = sorted(language["alpha_3"] for language in languages)
    return len(ids), hashlib.sha256("".join(f"{i}\n" for i in ids).encode()).hexdigest()
