/// An error of the store that several servers share. Functions that use it throw this, and `CancellationError` if they
/// wait; their comments name other errors, and cases that callers tell apart.
///
/// Faulty SQL and broken constraints other than a unique key are programming errors, ``refused(_:)``.
package enum ClusterError: Error, Sendable, Equatable {
    /// The store did not respond, or does not accept changes at present. Nothing of the change was kept; a later try
    /// may succeed.
    case unavailable(Unavailability)
    /// The connection was lost after the commit had been requested: the change was kept or was not.
    case outcomeUnknown
    /// A row with the same unique key exists. Nothing of the change was kept.
    case notUnique(constraint: String)
    /// The disk of the store is full. Nothing of the change was kept.
    case diskFull
    /// The server refused a statement for a reason that a repetition does not change.
    case refused(ServerError)
    /// A text has a character that PostgreSQL does not store: U+0000.
    case textNotStorable
    /// A response has no such column.
    case noSuchColumn(String)
    /// A value is NULL or of another type than the requested one.
    case typeMismatch(column: String)
    /// Two migrations of this build share one name.
    case ambiguousMigration(name: String)
    /// Another build, mostly a newer one, changed the schema by these migrations, which this build does not know.
    /// Nothing was changed.
    case newerSchema(unknownMigrations: [String])
    /// The library of PostgreSQL is missing or too old.
    case libraryUnusable(String)
    /// The server or its database is not of a kind that Larder can use.
    case serverUnusable(String)
    /// The store was used after it had been closed.
    case closed

    /// Why a store does not respond.
    package enum Unavailability: Sendable, Equatable {
        /// No connection can be made; the text is libpq's.
        case notReached(String)
        /// The server knows no such user, password or database; the text is its own.
        case notAdmitted(String)
        /// The connection ended, or the server ends it.
        case connectionLost
        /// No response arrived in time.
        case timedOut
        /// Too many callers wait for a connection.
        case tooManyWaiting
        /// Other changes were committed first, again and again.
        case contended
        /// The server is a standby, or has no resources left.
        case notAccepting
        /// Changes of other servers cannot be applied here; the text is for operators.
        case notApplied(String)
    }
}

extension ClusterError: CustomStringConvertible {
    /// One sentence for an operator, never with stored content or a password.
    package var description: String {
        switch self {
        case .unavailable(let reason): "The store is not available: \(reason.description)."
        case .outcomeUnknown: "The connection to the store was lost during a commit: whether it was kept is unknown."
        case .notUnique(let constraint): "A row with this key exists (\(constraint))."
        case .diskFull: "The disk of the store is full."
        case .refused(let error): "The store refused a statement: \(error.description)."
        case .textNotStorable: "A text with U+0000 cannot be stored."
        case .noSuchColumn(let name): "The store's response has no column \"\(name)\"."
        case .typeMismatch(let column): "The column \"\(column)\" has a value of another type."
        case .ambiguousMigration(let name): "Two migrations are named \"\(name)\"."
        case .newerSchema(let unknown):
            "The store was written by another build (docs/scale.md, \"Upgrade and restart\"); unknown here: "
                + "\(unknown.joined(separator: ", "))."
        case .libraryUnusable(let reason): "The library of PostgreSQL (libpq5) cannot be used: \(reason)."
        case .serverUnusable(let reason): "The store's server cannot be used: \(reason)."
        case .closed: "The store is closed."
        }
    }
}

extension ClusterError.Unavailability {
    /// Reads libpq's message about a connection that could not be opened, which has the server's code if one responded.
    static func ofOpening(_ message: String) -> Self {
        guard let match = message.firstMatch(of: /: +([0-9A-Z]{2}[0-9P][0-9]{2}): (.*?)(?: LOCATION: .*)?$/) else {
            return .notReached(message)
        }
        let text = "\(message[..<match.range.lowerBound]): \(match.2)"
        return ["28000", "28P01", "3D000"].contains(match.1) ? .notAdmitted(text) : .notReached(text)
    }
}

extension ClusterError.Unavailability: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notReached(let reason), .notAdmitted(let reason): "no connection (\(reason))"
        case .connectionLost: "the connection was lost"
        case .timedOut: "no response in time"
        case .tooManyWaiting: "too many requests wait for a connection"
        case .contended: "other changes came in between each time"
        case .notApplied(let reason): "changes of other servers cannot be applied (\(reason))"
        case .notAccepting: "the server does not accept this at present"
        }
    }
}

/// The server's report of a statement that failed.
package struct ServerError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The five characters of SQLSTATE (PostgreSQL's appendix A).
    package let code: String
    /// The constraint that was broken, if one was.
    package let constraint: String?
    /// The server's sentence; nil where it could hold stored content.
    package let message: String?

    /// Creates an error. The sentences of data and integrity errors (classes 22 and 23) quote values, and are left out.
    package init(code: String, constraint: String? = nil, message: String? = nil) {
        self.code = code
        self.constraint = constraint
        self.message = Self.quotingClasses.contains(String(code.prefix(2))) ? nil : message
    }

    private static let quotingClasses: Set = ["22", "23"]

    /// Code, constraint and sentence.
    package var description: String {
        "SQLSTATE \(code)" + (constraint.map { ", \($0)" } ?? "") + (message.map { ": \($0)" } ?? "")
    }

    /// The error for the caller of the transaction. Only a contended one may succeed when it is repeated at once.
    var meaning: ClusterError {
        switch code {
        case "40001", "40P01": .unavailable(.contended)
        case "23505": .notUnique(constraint: constraint ?? "")
        case "53100": .diskFull
        // A statement or a transaction took longer than its timeout.
        case "57014", "55P03", "25P03": .unavailable(.timedOut)
        // A standby, as after a failover.
        case "25006": .unavailable(.notAccepting)
        // Not only other errors of connections: the server stops, starts, crashed, or dropped the database.
        case _ where code.hasPrefix("08") || code.hasPrefix("57P"): .unavailable(.connectionLost)
        case _ where code.hasPrefix("53"): .unavailable(.notAccepting)
        default: .refused(self)
        }
    }

    /// Whether a commit that failed with this has surely been rolled back: the checks that precede a commit have
    /// failed. Later events, such as the end of the server, may follow the commit.
    var precedesCommit: Bool { ["22", "23", "40"].contains(String(code.prefix(2))) }
}

/// A failure of the work on a connection, before its consequence for the transaction is known. Functions of
/// ``PostgresConnection`` throw it.
enum ConnectionFailure: Error, Equatable {
    /// The connection is of no further use.
    case lost
    /// No response arrived in time, so the connection is of no further use.
    case timedOut
    /// The server refused a statement; the connection stays usable.
    case server(ServerError)

    /// The error for the caller if nothing was committed.
    var error: ClusterError {
        switch self {
        case .lost: .unavailable(.connectionLost)
        case .timedOut: .unavailable(.timedOut)
        case .server(let error): error.meaning
        }
    }
}
