extension ControlIndex {
    /// An example of a document that fits into a line.
    private static let document =
        #"{"openapi":"3.1.0","paths":{"/today":{"get":{"responses":{"200":{"content":{"application/json":"#
        + #"{"example":{"celsius":21}}}}}}}}}"#

    static let stubs = [
        Line(
            method: "POST",
            path: "/_sandbox/upstreams",
            purpose:
                "adds an upstream that responds with the examples of an OpenAPI document, given as JSON, as a text "
                + "of YAML or JSON or as the path of a file, and refuses requests that do not fit it",
            example: #"{"name":"weather","openapi":\#(document)}"#
        ),
        Line(
            method: "DELETE",
            path: "/_sandbox/upstreams/{name}",
            purpose: "removes an upstream that was made from a document"
        ),
    ]
}
