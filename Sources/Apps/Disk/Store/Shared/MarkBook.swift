import Foundation

/// The files and folders that users keep offline.
///
/// The marks are in the server's own database (``DiskStore``), or in one that several servers share (``SharedMarks``),
/// of which each has copies. What is known and stored of marked files is each server's own.
protocol MarkBook: Sendable {
    /// Marks a file or folder.
    ///
    /// - Parameters:
    ///   - item: The file or folder as it is known.
    ///   - maximum: Most marks of an account.
    /// - Returns: The mark, and whether it is new; nil if the account was logged out meanwhile.
    /// - Throws: 413 `too-large` if there are too many; errors of the store.
    func mark(_ item: DiskItem, account: String, at now: Date, maximum: Int) async throws -> (OfflineMark, isNew: Bool)?

    /// Removes a mark, and the contents that no other mark keeps.
    ///
    /// - Returns: False if there is no such mark.
    func unmark(_ path: DiskPath, account: String) async throws -> Bool

    /// Brings what this server has of the marks of an account up to date.
    func follow(marksOf account: String) async throws

    /// Brings what this server has of all marks up to date: at its start.
    func followAll() async throws

    /// Applies a change of files that was made here: it is counted, marks and what is cached follow.
    ///
    /// - Returns: The new state of the account; nil if it was logged out meanwhile: then nothing is written.
    @discardableResult
    func apply(_ change: DiskChange, account: String, at now: Date) async throws -> DiskStore.Applied?

    /// Runs a change of files that is applied to marks and to what is cached one after the other: what this server has
    /// of the marks is not brought up to date in between.
    func alone<Value>(with account: String, _ body: () async throws -> Value) async throws -> Value
}

extension DiskStore: MarkBook {
    func follow(marksOf account: String) {}

    func followAll() {}

    @discardableResult
    func apply(_ change: DiskChange, account: String, at now: Date) async throws -> Applied? {
        try await apply(change, account: account, at: now, finishing: nil)
    }

    func alone<Value>(with account: String, _ body: () async throws -> Value) async throws -> Value {
        try await body()
    }
}
