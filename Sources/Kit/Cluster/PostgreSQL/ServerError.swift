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

    /// The consequence of a failed statement for its transaction.
    enum Meaning: Equatable {
        /// Another transaction came in between: the same one may succeed when it is repeated.
        case conflict
        /// The server ends the connection or cannot be used at present.
        case unavailable(SharedStoreError.Unavailability)
        /// A repetition changes nothing.
        case definite(SharedStoreError)
    }

    var meaning: Meaning {
        switch code {
        case "40001", "40P01": .conflict
        case "23505": .definite(.notUnique(constraint: constraint ?? ""))
        case "53100": .definite(.diskFull)
        // A statement or a transaction took longer than the server was told.
        case "57014", "55P03", "25P03": .unavailable(.timedOut)
        // A standby, as after a failover.
        case "25006": .unavailable(.notAccepting)
        // Not only other errors of connections: the server stops, starts, crashed, or dropped the database.
        case _ where code.hasPrefix("08") || code.hasPrefix("57P"): .unavailable(.connectionLost)
        case _ where code.hasPrefix("53"): .unavailable(.notAccepting)
        default: .definite(.refused(self))
        }
    }

    /// Whether a commit that failed with this has surely been rolled back: the checks that precede a commit have
    /// failed. Later events, such as the end of the server, may follow the commit.
    var precedesCommit: Bool { ["22", "23", "40"].contains(String(code.prefix(2))) }
}
