package import HTTPServer

extension ProblemCode {
    /// The code of a request that the connection layer refuses.
    package init(_ reason: ConnectionRefusal.Reason) {
        switch reason {
        case .malformed, .clearText: self = .malformedRequest
        case .targetTooLong: self = .targetTooLong
        case .headersTooLarge: self = .headersTooLarge
        case .timedOut: self = .requestTimeout
        }
    }
}
