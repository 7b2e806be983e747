import Cluster
import HTTP
import Logging
import Screens
import Storage
import Upstream

/// The same change of several files and folders by one request.
struct Batches: Sendable {
    let disk: Disk

    private static let most = 100

    /// A change of any path.
    private enum Change: String, CaseIterable {
        case delete, move
        case keepOffline = "keep_offline"
    }

    /// `POST /v1/disk/files/batch`: changes each path in turn, also after a failure of others, and returns the outcome
    /// of each.
    @Sendable func run(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let change = try fields.choice("action", of: Change.self)
        let paths = try paths(fields)
        let folder = try change == .move ? fields.diskPath("to") : .root
        let (permanently, overwrite) = (try fields.diskFlag("permanently"), try fields.diskFlag("overwrite"))
        if change == .move, overwrite, Set(paths.map(\.name)).count < paths.count {
            throw Problem.validation("/paths", "duplicate", "Two of one name would replace each other in the folder.")
        }
        // A batch is not addressed.
        try request.writePreconditions().check(version: nil, of: "The batch")
        let account = try await disk.account(of: session)
        let results = try await each(of: paths) { path in
            switch change {
            case .delete: return try await send(.delete(permanently: permanently), path, request, account)
            case .move:
                let target = folder.child(path.name)
                guard path != target, !path.covers(folder) else {
                    throw Problem.validation("/to", "invalid", "to must be another folder, and not in the folder.")
                }
                return try await send(.move(to: target, overwrite: overwrite), path, request, account)
            case .keepOffline:
                _ = try await disk.keepOffline(path, for: account)
                return BatchScreen.Result(path, .done)
            }
        }
        let pending = store.pendingWrites(of: account.id)
        let meta = Meta(screen: "disk.files", provenance: .local, pending: pending)
        return try .local(BatchScreen(results: results), meta, Links(self: "/v1/disk/files"))
    }

    private var store: DiskStore { disk.store }

    /// Changes each path in turn. If the batch is interrupted, the results so far are returned, and the rest has
    /// failed.
    ///
    /// - Throws: The error that interrupts it at the first path.
    private func each(of paths: [DiskPath], _ change: (DiskPath) async throws -> BatchScreen.Result) async throws
        -> [BatchScreen.Result]
    {
        var results: [BatchScreen.Result] = []
        for path in paths {
            do {
                results.append(try await change(path))
            } catch {
                if let problem = Self.problem(error) {
                    results.append(BatchScreen.Result(path, problem))
                    continue
                }
                guard !results.isEmpty else { throw error }
                disk.logger.error("a batch was interrupted", metadata: ["error": "\(error)"])
                // Nothing is sent of a cancelled change; any other may have been made.
                let isCancelled = error is CancellationError
                results.append(BatchScreen.Result(path, isCancelled ? Problem.batchInterrupted : .batchBroken))
                return results + paths.dropFirst(results.count).map { BatchScreen.Result($0, Problem.batchInterrupted) }
            }
        }
        return results
    }

    private func paths(_ fields: JSONFields) throws -> [DiskPath] {
        let paths = try (fields.strings("paths") ?? []).enumerated().map { index, text in
            guard let path = DiskPath(text), !path.isRoot else {
                throw Problem.validation("/paths/\(index)", "invalid", "\(text) is no file or folder in the Disk.")
            }
            return path
        }
        guard (1...Self.most).contains(paths.count), Set(paths).count == paths.count else {
            let code = paths.isEmpty ? "required" : paths.count > Self.most ? "too-long" : "duplicate"
            throw Problem.validation("/paths", code, "paths must name 1 to \(Self.most) files or folders, each once.")
        }
        return paths
    }

    private func send(_ kind: DiskWrite.Kind, _ path: DiskPath, _ request: ScreenRequest, _ account: DiskAccount)
        async throws -> BatchScreen.Result
    {
        let write = DiskWrite(kind: kind, path: path)
        return switch try await Writes(disk: disk).submit(write, request.unkeyed, for: account) {
        case .queued(let entry, _): BatchScreen.Result(path, .queued, OutboxScreen.href(of: entry.id))
        case .sent(.underWay(let operation)):
            BatchScreen.Result(path, .processing, OperationScreen(operation).href)
        case .sent: BatchScreen.Result(path, .done)
        }
    }

    private static func problem(_ error: any Error) -> Problem? {
        switch error {
        case let problem as Problem: problem
        case let failure as UpstreamFailure: failure.problem
        case let error as StorageError: Problem(error)
        case let error as ClusterError: Problem(error)
        default: nil
        }
    }
}

extension Problem {
    /// An item of a batch that has ended before.
    fileprivate static let batchInterrupted = Problem(.overloaded, .batchInterrupted)
    /// The item at which a batch has ended.
    fileprivate static let batchBroken = Problem(.internal, "An internal error. Whether it was changed is not known.")
}

/// `POST /v1/disk/files/batch`.
struct BatchScreen: Encodable, Sendable {
    struct Result: Encodable, Sendable {
        let path: String
        /// `done`, `queued` in the outbox, `processing` at Yandex Disk, or `failed`.
        let state: String
        let stateText: Text
        /// The operation that continues it; null if none does.
        @Nullable var href: Link?
        /// The code of the problem; null if there is none.
        @Nullable var problem: String?
        @Nullable var problemText: Text?

        init(_ path: DiskPath, _ state: OutboxState, _ href: Link? = nil) {
            (self.path, self.state, stateText, self.href) = (path.text, state.rawValue, state.text, href)
        }

        init(_ path: DiskPath, _ problem: Problem) {
            self.init(path, .failed)
            self.problem = problem.code.rawValue
            problemText = problem.message
        }
    }

    let results: [Result]
}
