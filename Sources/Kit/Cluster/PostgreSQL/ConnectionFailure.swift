/// A failure of the work on a connection, before its consequence for the transaction is known.
enum ConnectionFailure: Error, Equatable {
    /// The connection is of no further use.
    case lost
    /// No response came in time, so the connection is of no further use.
    case timedOut
    /// The server refused a statement; the connection stays usable.
    case server(ServerError)

    /// The consequence for the transaction if nothing was committed.
    var meaning: ServerError.Meaning {
        switch self {
        case .lost: .unavailable(.connectionLost)
        case .timedOut: .unavailable(.timedOut)
        case .server(let error): error.meaning
        }
    }

    /// The error for the caller if nothing was committed and nothing is repeated.
    var error: SharedStoreError {
        switch meaning {
        case .conflict: .unavailable(.contended)
        case .unavailable(let reason): .unavailable(reason)
        case .definite(let error): error
        }
    }
}
