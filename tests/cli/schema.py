"""Validates JSON against the schemas in docs/schema: the keywords they use, and no others.

A keyword that is not known here is an error and not passed over, so that a schema cannot say more than is checked.
"""
import json
import os
import re

FOLDER = os.path.join(os.environ.get("TDC_DOCS", "docs"), "schema")

NOTES = {"$schema", "$id", "$defs", "title", "description"}


def load(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return json.load(file)


def of(name):
    """tdcmp.compare/1 -> the schema of that name."""
    return load(name.replace("/", "-") + ".json")


def has_type(value, name):
    if name == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if name == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}[name])


def same(value, other):
    """Equal, without 1 == True."""
    return type(value) is type(other) and value == other


class Validator:
    def __init__(self, root):
        self.documents = {"": root}

    def resolve(self, ref, base):
        """(schema, its document) of a reference that stands in the document base."""
        file, _, pointer = ref.partition("#")
        name = file or base
        if name not in self.documents:
            self.documents[name] = load(name)
        schema = self.documents[name]
        for part in pointer.strip("/").split("/") if pointer.strip("/") else []:
            schema = schema[part]
        return schema, name

    def errors(self, value, schema, at="$", base=""):
        """A line for each thing that is not as the schema says."""
        for keyword, wanted in schema.items():
            if keyword in NOTES:
                continue
            check = getattr(self, "check_" + keyword.strip("$"), None)
            if check is None:
                raise ValueError("%s: keyword %s is not known to this validator" % (at, keyword))
            yield from check(value, wanted, schema, at, base)

    def check_ref(self, value, wanted, schema, at, base):
        target, document = self.resolve(wanted, base)
        yield from self.errors(value, target, at, document)

    def check_type(self, value, wanted, schema, at, base):
        names = wanted if isinstance(wanted, list) else [wanted]
        if not any(has_type(value, name) for name in names):
            yield "%s: %r is not %s" % (at, value, " or ".join(names))

    def check_const(self, value, wanted, schema, at, base):
        if not same(value, wanted):
            yield "%s: %r is not %r" % (at, value, wanted)

    def check_enum(self, value, wanted, schema, at, base):
        if not any(same(value, one) for one in wanted):
            yield "%s: %r is none of %r" % (at, value, wanted)

    def check_minimum(self, value, wanted, schema, at, base):
        if has_type(value, "number") and value < wanted:
            yield "%s: %r is below %r" % (at, value, wanted)

    def check_pattern(self, value, wanted, schema, at, base):
        if isinstance(value, str) and re.search(wanted, value) is None:
            yield "%s: %r does not match %s" % (at, value, wanted)

    def check_items(self, value, wanted, schema, at, base):
        for i, item in enumerate(value if isinstance(value, list) else []):
            yield from self.errors(item, wanted, "%s[%d]" % (at, i), base)

    def check_required(self, value, wanted, schema, at, base):
        for name in wanted if isinstance(value, dict) else []:
            if name not in value:
                yield "%s: no member %s" % (at, name)

    def check_properties(self, value, wanted, schema, at, base):
        for name, item in value.items() if isinstance(value, dict) else []:
            if name in wanted:
                yield from self.errors(item, wanted[name], "%s.%s" % (at, name), base)

    def check_additionalProperties(self, value, wanted, schema, at, base):
        for name, item in value.items() if isinstance(value, dict) else []:
            if name in schema.get("properties", {}):
                continue
            if wanted is False:
                yield "%s: member %s is not in the schema" % (at, name)
            else:
                yield from self.errors(item, wanted, "%s.%s" % (at, name), base)


def errors(value, schema=None, part=None):
    """All errors of a result; the schema is the one it names. part: a definition of it to validate by."""
    root = schema if schema is not None else of(value["schema"])
    return list(Validator(root).errors(value, root["$defs"][part] if part else root))
