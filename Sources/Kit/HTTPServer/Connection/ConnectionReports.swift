/// Functions of the server that a connection calls, on the event loop: they must not block.
struct ConnectionReports: Sendable {
    /// Renders a refusal in the application's problem format.
    let problem: @Sendable (ConnectionRefusal, RefusedHead?) -> RefusalContent
    /// Is called for every refused request.
    let onRefusal: @Sendable (ConnectionRefusal) -> Void
    /// Is called for every connection that was closed without a whole response.
    let onAbruptClose: @Sendable (AbruptClose) -> Void
}
