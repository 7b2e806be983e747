/// What the connection layer asks of and tells its surroundings. Called on the event loop: they must not block.
struct ConnectionReports: Sendable {
    /// Renders a refusal in the application's problem format.
    let problem: @Sendable (ConnectionRefusal) -> (contentType: String, body: [UInt8])
    /// A request was refused.
    let onRefusal: @Sendable (ConnectionRefusal) -> Void
    /// A connection was closed without a whole response.
    let onCut: @Sendable (AbruptClose) -> Void
}
