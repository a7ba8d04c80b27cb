"""Makes gitleaks_rules.json from gitleaks' config/gitleaks.toml: the rules as data, as they are matched here.

Usage: python3 src/analysis/secrets/convert_gitleaks.py <gitleaks.toml> <commit> src/analysis/secrets/gitleaks_rules.json

What speaks of file paths is left out: a text has none. Rules that another detector of this folder covers wholly are
left out as well, each with its reason.
"""

import json
import sys
import tomllib

LEFT_OUT = {
    "pkcs12-file": "matches a file's name, not a text",
    "hashicorp-tf-password": "assignments.ts: any quoted value of a password",
    "kubernetes-secret-yaml": "kubernetes.ts: every value of the manifest, in linear time",
    "private-key": "private_keys.ts: a block without an end as well, and keys without their PEM lines",
    "curl-auth-header": "http_credentials.ts: the header wherever it stands",
    "curl-auth-user": "http_credentials.ts: the same shapes, in a bounded distance from the command",
}

# In a class of one, so that no scanner takes a rule's own exceptions for keys.
SHAPES = [("AIza", "AI[z]a")]


def cut(regex):
    for shape, pieces in SHAPES:
        regex = regex.replace(shape, pieces)
    return regex


def allowlist_of(entry):
    if "paths" in entry:
        return None
    return {
        "target": entry.get("regexTarget", "secret"),
        "regexes": [cut(regex) for regex in entry.get("regexes", [])],
        "stopwords": entry.get("stopwords", []),
    }


def rule_of(rule):
    allowlists = [allowlist_of(entry) for entry in rule.get("allowlists", [])]
    return {
        "id": rule["id"],
        "keywords": rule["keywords"],
        "regex": rule["regex"],
        "group": rule.get("secretGroup", 0),
        "entropy": rule.get("entropy", 0),
        "allowlists": [entry for entry in allowlists if entry is not None],
    }


def main(source, commit, target):
    with open(source, "rb") as file:
        config = tomllib.load(file)
    rules = [rule_of(rule) for rule in config["rules"] if rule["id"] not in LEFT_OUT]
    document = {
        "note": f"From github.com/gitleaks/gitleaks config/gitleaks.toml @{commit}, MIT licence, "
        "Copyright (c) 2019 Zachary Rice. Made by convert_gitleaks.py; do not edit.",
        "left_out": LEFT_OUT,
        "allowlist": {
            "target": "secret",
            "regexes": config["allowlist"]["regexes"],
            "stopwords": config["allowlist"]["stopwords"],
        },
        "rules": rules,
    }
    with open(target, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2, ensure_ascii=False)
        file.write("\n")


main(*sys.argv[1:])
