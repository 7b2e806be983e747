extension ControlIndex {
    /// Recordings of the server's upstreams (docs/fixtures.md).
    static let fixtures = [
        Line(
            method: "GET",
            path: "/_harness/upstreams",
            purpose: "the upstreams of Larder: whether requests go out, are recorded or are responded to from files"
        ),
        Line(
            method: "GET",
            path: "/_harness/upstreams/{name}",
            purpose: "the files of an upstream, those that cannot be used, and the requests that had none"
        ),
        Line(
            method: "PUT",
            path: "/_harness/upstreams/{name}/mode",
            purpose: "sets what becomes of requests; sequences begin again",
            example: #"{"mode":"live"}"#
        ),
    ]
}
