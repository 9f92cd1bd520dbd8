# SPDX-License-Identifier: MIT
"""A collector, and what it got: otlp.py serve FOLDER STATUS... writes the requests to files 0, 1, ...; the first are answered with
STATUS, the others with 200. otlp.py check ARCHIVE.json REQUESTS..., of `fxtrace dump --json', or otlp.py names REQUESTS..."""
import collections
import http.server
import json
import os
import sys


def serve(folder, statuses):
    class Collector(http.server.BaseHTTPRequestHandler):
        count = 0

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            status = int(statuses.pop(0)) if statuses else 200
            if status == 200:
                name = "%s/%d" % (folder, Collector.count)
                Collector.count += 1
                with open(name, "wb") as file:
                    file.write(body)
                with open(folder + "/heads", "a") as file:
                    file.write("%s %s %s\n" % (self.path, self.headers["Content-Type"], self.headers["Authorization"]))
            answer = b"{}" if status == 200 else b"no room\n"
            if self.path == "/half":
                answer = b'{"partialSuccess":{"rejectedSpans":"3","errorMessage":"x"}}'
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *args):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Collector)
    with open(folder + "/port.new", "w") as file:
        file.write(str(server.server_address[1]))
    os.rename(folder + "/port.new", folder + "/port")
    server.serve_forever()


def value(attribute):
    ((kind, value),) = attribute["value"].items()
    return int(value) if kind == "intValue" else value


def spans(names):
    for name in names:
        for line in open(name):
            for resource in json.loads(line)["resourceSpans"]:
                about = {a["key"]: value(a) for a in resource["resource"]["attributes"]}
                for scope in resource["scopeSpans"]:
                    assert scope["scope"]["name"] == "fxtrace"
                    for span in scope["spans"]:
                        span["about"] = about
                        span["has"] = {a["key"]: value(a) for a in span["attributes"]}
                        yield span


def check(archive, names):
    records = [json.loads(line) for line in open(archive)]
    want, got = collections.Counter(), collections.Counter()
    for record in records:
        if record["kind"] == "event" and record["type"] in ("complete", "instant"):
            want[record["pid"], record["tid"], record["category"], record["name"]] += 1
    by_id, links, children, traces = {}, 0, 0, set()
    for span in spans(names):
        assert len(span["spanId"]) == 16 and len(span["traceId"]) == 32 and int(span["traceId"], 16)
        assert span["spanId"] not in by_id, span
        by_id[span["spanId"]] = span
        traces.add(span["traceId"])
        span["from"], span["to"] = int(span["startTimeUnixNano"]), int(span["endTimeUnixNano"])
        assert span["from"] <= span["to"] and span["kind"] == 1 and span["name"]
        if span["has"].get("fxtrace.form") != "note":
            thread = span["has"]["thread.id"]
            got[span["about"]["process.pid"], thread, span["has"]["fxtrace.category"], span["name"]] += 1
        if "fxtrace.arg.errno" in span["has"]:
            assert span["status"] == {"code": 2, "message": span["has"]["fxtrace.arg.errno"]}
        if span["has"]["fxtrace.category"] == "function":
            assert span["has"]["code.function.name"] == span["name"]
    assert len(traces) == 1, traces
    for span in by_id.values():
        if "parentSpanId" in span:
            children += 1
            parent = by_id[span["parentSpanId"]]
            assert parent["from"] <= span["from"] and span["to"] <= parent["to"], (parent, span)
            assert parent["has"]["thread.id"] == span["has"]["thread.id"]
        for link in span.get("links", []):
            links += 1
            assert link["traceId"] == span["traceId"] and by_id[link["spanId"]]["from"] <= span["to"]
        assert span["about"]["host.name"] == os.uname().nodename and span["about"]["service.name"]
    # Events that a flow begins or ends at and that stand in no slice are added; nothing that is there is left out.
    missing = want - got
    assert not missing, missing.most_common(5)
    print("spans", len(by_id), "children", children, "links", links)


if sys.argv[1] == "serve":
    serve(sys.argv[2], sys.argv[3:])
elif sys.argv[1] == "check":
    check(sys.argv[2], sys.argv[3:])
else:
    for one in spans(sys.argv[2:]):
        length = int(one["endTimeUnixNano"]) - int(one["startTimeUnixNano"])
        print(one["has"]["fxtrace.category"], one["name"], length, one["about"]["process.pid"], sep="\t")
