/// Thrown to the reader of a request body that will never be complete. Without it a truncated upload would look like a
/// whole one.
public enum RequestBodyError: Error, Equatable {
    /// The client closed the connection within the body.
    case truncated
    /// ``ConnectionLimits/bodyDeadline`` or ``ConnectionLimits/bodyIdle`` has passed.
    case timedOut
    /// The framing of the body is broken.
    case malformed
}
