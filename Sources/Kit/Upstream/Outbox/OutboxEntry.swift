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

/// An operation of an outbox as the columns of a row, apart from its bytes.
struct OutboxRow: Sendable {
    /// Finished operations that a journal keeps of each account, so that a client can still ask for them.
    static let keptFinished = 100

    /// Its number; nil for a new one.
    let number: Int64?
    /// Its name in addresses.
    let id: String
    /// The account that it belongs to.
    let account: String
    /// The work, as JSON.
    let work: String
    /// The name of its state.
    let state: String
    /// Attempts so far.
    let attempts: Int
    /// Whether it may have been carried out.
    let isOutcomeUnknown: Bool
    /// Why it is not done.
    let reason: String?
    /// When it is tried next, in milliseconds since 1970.
    let dueAt: Int64?
    /// When it was queued, in milliseconds since 1970.
    let queuedAt: Int64

    /// Creates a row that was read.
    init(
        number: Int64,
        id: String,
        account: String,
        work: String,
        state: String,
        attempts: Int,
        isOutcomeUnknown: Bool,
        reason: String?,
        dueAt: Int64?,
        queuedAt: Int64
    ) {
        (self.number, self.id, self.account, self.work, self.state) = (number, id, account, work, state)
        (self.attempts, self.isOutcomeUnknown, self.reason) = (attempts, isOutcomeUnknown, reason)
        (self.dueAt, self.queuedAt) = (dueAt, queuedAt)
    }

    /// Creates the row of an operation.
    ///
    /// - Throws: `EncodingError`.
    init<Work>(_ entry: OutboxEntry<Work>) throws {
        number = entry.number == 0 ? nil : entry.number
        (id, account) = (entry.id, entry.account)
        work = String(decoding: try JSONEncoder().encode(entry.work), as: UTF8.self)
        let progress = entry.progress
        (state, attempts, isOutcomeUnknown) = (progress.state.rawValue, progress.attempts, progress.isOutcomeUnknown)
        (reason, dueAt) = (progress.reason, progress.nextAttempt?.millisecondsSince1970)
        queuedAt = entry.queuedAt.millisecondsSince1970
    }

    /// Returns the operation.
    ///
    /// - Parameter blob: Its bytes.
    /// - Throws: `DecodingError`.
    func entry<Work>(blob: Blob?) throws -> OutboxEntry<Work> {
        var entry = OutboxEntry(
            id: id,
            account: account,
            work: try JSONDecoder().decode(Work.self, from: Data(work.utf8)),
            progress: OutboxProgress(
                state: OutboxState(rawValue: state) ?? .queued,
                attempts: attempts,
                nextAttempt: dueAt.map(Date.init(millisecondsSince1970:)),
                isOutcomeUnknown: isOutcomeUnknown,
                reason: reason
            ),
            blob: blob,
            queuedAt: Date(millisecondsSince1970: queuedAt)
        )
        entry.number = number ?? 0
        return entry
    }
}
