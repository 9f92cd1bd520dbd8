# SPDX-License-Identifier: MIT
"""kubernetes.py TABLE MANIFEST: what in the manifest is not as the table says (kubernetes.tbl). Exit status 77: no yaml can be read here."""
import re
import sys

try:
    import yaml
except ImportError:
    sys.exit(77)

types = {}
for line in open(sys.argv[1]):
    words = line.split()
    if words and not line.startswith("#"):
        types.setdefault(words[0], {})[words[1]] = (words[2], words[3:] == ["needed"])
faults = []


def is_string(value):
    return isinstance(value, str)


def is_map(value, test):
    return isinstance(value, dict) and all(is_string(k) and test(v) for k, v in value.items())


def is_quantity(value):
    return re.fullmatch(r"\d+(\.\d+)?(m|[kMGTPE]i?)?", str(value)) is not None


plain = {
    "string": is_string,
    "name": lambda v: is_string(v) and len(v) <= 63 and re.fullmatch("[a-z0-9]([-a-z0-9]*[a-z0-9])?", v),
    "path": lambda v: is_string(v) and v.startswith("/") and ".." not in v.split("/"),
    "bool": lambda v: isinstance(v, bool),
    "int": lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= 0,
    "quantity": is_quantity,
    "map": lambda v: is_map(v, is_string),
    "quantities": lambda v: is_map(v, is_quantity),
}


def look(kind, value, where):
    if kind.endswith("[]"):
        if not isinstance(value, list):
            faults.append(f"{where}: no list")
            return
        for i, item in enumerate(value):
            look(kind[:-2], item, f"{where}[{i}]")
        names = [item["name"] for item in value if isinstance(item, dict) and "name" in item and kind != "VolumeMount[]"]
        if len(set(names)) < len(names):
            faults.append(f"{where}: a name is there twice")
    elif kind in types:
        look_object(types[kind], value, where)
    elif kind in plain:
        if not plain[kind](value):
            faults.append(f"{where}: no {kind}: {value!r}")
    elif value not in kind.lstrip("=").split("|"):
        faults.append(f"{where}: none of {kind.lstrip('=')}: {value!r}")


def look_object(fields, value, where):
    if not isinstance(value, dict):
        faults.append(f"{where}: no object")
        return
    for name, item in value.items():
        if name in fields:
            look(fields[name][0], item, f"{where}.{name}")
        else:
            faults.append(f"{where}: there is no field {name}")
    for name, (_, needed) in fields.items():
        if needed and name not in value:
            faults.append(f"{where}: {name} is needed")


for document in yaml.safe_load_all(open(sys.argv[2])):
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind in ("Namespace", "DaemonSet", "Pod"):
        look(kind, document, kind)
    else:
        faults.append(f"an object of kind {kind}")
print("\n".join(faults), end="\n" if faults else "")
sys.exit(1 if faults else 0)
