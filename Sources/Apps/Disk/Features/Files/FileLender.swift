import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Media
import NIOCore
import Screens
import Storage
import Upstream

/// Lends the content of files to child processes, which read files by their path.
struct FileLender: Sendable {
    let files: StoredFiles
    let fetcher: FileFetcher
    /// Directory of the files that are lent.
    let scratch: ScratchFolder

    private var client: YandexDiskClient { fetcher.client }

    /// Lends a file's content as a file. It is fetched into the store before if it is not there.
    ///
    /// - Parameter result: The read of the file's metadata.
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`; errors of `body`.
    func withContent<Value>(
        of item: DiskItem,
        for account: DiskAccount,
        _ result: ReadResult,
        _ body: (URL) async throws -> Value
    ) async throws -> Value {
        if try await files.open(.content, of: item, account: account.id) == nil {
            guard !result.provenance.offline else { throw client.unreachable }
            try await fetch(item, for: account)
        }
        guard let stored = try await files.open(.content, of: item, account: account.id) else {
            throw Problem.fileChanges
        }
        return try await withFile(stored.body, body)
    }

    /// Lends a copy of a stored body under a path that a child process can open: in the data directory, readable by its
    /// owner only, until `body` returns.
    ///
    /// - Throws: `StorageError`; errors of `body`.
    func withFile<Value>(_ stored: ResponseStore.OpenBody, _ body: (URL) async throws -> Value) async throws -> Value {
        let file = try scratch.file()
        switch stored {
        case .bytes(let bytes): try file.append(bytes)
        case .blob(let reader):
            for try await part in ByteStream(reader, range: 0..<reader.blob.length) {
                try part.withUnsafeReadableBytes { try file.append($0) }
            }
        }
        defer { withExtendedLifetime(file) {} }
        return try await body(URL(filePath: file.place.path))
    }

    private func fetch(_ item: DiskItem, for account: DiskAccount) async throws {
        guard let size = item.size, item.version != nil else { throw client.sizeMissing }
        guard files.budget.admits(size) else {
            throw Problem(.tooLarge, "The file is larger than cache.budget_mb has room for.")
        }
        do {
            for try await _ in try await fetcher.whole(of: item, size: size, for: account) {}
        } catch let problem where problem is Problem || problem is UpstreamFailure {
            throw problem
        } catch {
            try Task.checkCancellation()
            throw client.failure(.badResponse(status: .ok, reason: "the file broke off"))
        }
    }
}

extension Problem {
    /// 503: the file was replaced again while it was read.
    static let fileChanges = Problem(.overloaded, "The file changes while it is read. Ask again.")
}
