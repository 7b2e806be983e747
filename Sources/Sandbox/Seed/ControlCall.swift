import HTTPTypes

/// A call to the controls of an upstream.
struct ControlCall {
    let request: ControlRequest

    /// - Parameter path: Below the name of the upstream.
    init(_ method: HTTPRequest.Method, _ path: String, _ body: JSONValue) {
        request = ControlRequest(
            method: method,
            path: path.split(separator: "/").map(String.init),
            body: body.serialized()
        )
    }
}
