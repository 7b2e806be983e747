/// How the work on a connection failed, before it is known what that means for the transaction.
enum ConnectionFailure: Error, Equatable {
    /// The connection is of no further use.
    case lost
    /// No response came in time, so the connection is of no further use.
    case timedOut
    /// The server refused a statement; the connection goes on.
    case server(ServerError)

    /// What it means if nothing was committed.
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
