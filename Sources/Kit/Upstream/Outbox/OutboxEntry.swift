package import Foundation
package import Storage

/// A write that an outbox holds.
package struct OutboxEntry<Work: OutboxWork>: Sendable {
    /// Its number in the order of all operations of the table; 0 until it is stored. Its journal gives it.
    package var number: Int64 = 0
    /// Its name in addresses.
    package let id: String
    /// The account that it belongs to.
    package let account: String
    package var work: Work
    package var progress: OutboxProgress
    /// The bytes that it sends, if it has some.
    package var blob: Blob?
    package let queuedAt: Date

    /// Creates an operation that is not stored yet.
    package init(
        id: String,
        account: String,
        work: Work,
        progress: OutboxProgress = OutboxProgress(),
        blob: Blob? = nil,
        queuedAt: Date
    ) {
        self.id = id
        self.account = account
        self.work = work
        self.progress = progress
        self.blob = blob
        self.queuedAt = queuedAt
    }
}

/// A change of an outbox, for the transaction that makes it.
package enum OutboxChange<Work: OutboxWork>: Sendable {
    /// Adds an operation, or replaces it.
    case put(OutboxEntry<Work>)
    /// Removes an operation and its bytes.
    case remove(OutboxEntry<Work>)
}

extension OutboxChange {
    package var entry: OutboxEntry<Work> {
        switch self {
        case .put(let entry), .remove(let entry): entry
        }
    }

    /// The operation that is there afterwards.
    package var put: OutboxEntry<Work>? { if case .put(let entry) = self { entry } else { nil } }
}
