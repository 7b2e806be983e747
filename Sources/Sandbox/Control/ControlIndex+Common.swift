extension ControlIndex {
    static let faults = [
        Line(
            method: "GET",
            path: "/_sandbox/upstreams/{name}/fault",
            purpose: "the fault of an upstream and how many requests are held"
        ),
        Line(
            method: "PUT",
            path: "/_sandbox/upstreams/{name}/fault",
            purpose: "sets the fault of an upstream, or several that are combined; refused is what Larder sees: a "
                + "client that connects to the sandbox itself gets a reset connection",
            example: #"{"fault":["slow(300)","bandwidth(32)"]}"#
        ),
        Line(
            method: "POST",
            path: "/_sandbox/upstreams/{name}/release",
            purpose: "releases held requests, those first that wait longest: a count, the one with a number in the "
                + "journal (sequence), or without a body all; they meet the fault that is set then, but are not held "
                + "again",
            example: #"{"count":1}"#
        ),
    ]

    static let rules = [
        Line(
            method: "GET",
            path: "/_sandbox/upstreams/{name}/rules",
            purpose: "the rules of an upstream with their counts, and its own fault, which is the last rule"
        ),
        Line(
            method: "POST",
            path: "/_sandbox/upstreams/{name}/rules",
            purpose: "adds a rule after the others; the first one that matches a request and is not used up decides. "
                + "match: method, path (first segments, with or without the upstream's name; * is any) or route (a "
                + "method and a whole path), query and header (a value, or whether it is there), "
                + "body (a part of the text, or members of the JSON); fault, or faults in turn; times: how many "
                + "requests get one; after: how many matching ones pass before",
            example: #"{"match":{"method":"GET","path":"/v4/ships","query":{"limit":"3"},"header":{"if-none-match":"#
                + #"false}},"faults":["error(500)",["slow(200)","bandwidth(32)"],"online"],"times":6,"after":1}"#
        ),
        Line(method: "GET", path: "/_sandbox/upstreams/{name}/rules/{rule}", purpose: "one rule with its counts"),
        Line(method: "DELETE", path: "/_sandbox/upstreams/{name}/rules/{rule}", purpose: "removes one rule"),
        Line(method: "DELETE", path: "/_sandbox/upstreams/{name}/rules", purpose: "removes all rules of an upstream"),
    ]

    /// The filters of the journal.
    private static let filters = "upstream=&route=&method=&path=&query=&header=&status=&since=&until=&request_id="

    static let journal = [
        Line(
            method: "GET",
            path: "/_sandbox/journal?\(filters)&limit=10000&count=false",
            purpose: "requests, oldest first, the newest of them up to the limit, or only their count; dropped is how "
                + "many older ones are forgotten. path is a beginning, with or without the upstream's name; query is "
                + "name or name=value, header name or name:value; status may be none; since and until are numbers of "
                + "entries, the first not included; route is that of the client's request which caused them"
        ),
        Line(method: "DELETE", path: "/_sandbox/journal", purpose: "empties the journal"),
        Line(
            method: "GET",
            path: "/_sandbox/journal/wait?\(filters)&count=1&timeout_ms=5000",
            purpose: "responds once there are that many requests, 408 at the timeout"
        ),
    ]
}
