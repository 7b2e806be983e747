import HTTP
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

    /// `POST /v1/disk/files/batch`: changes each path in turn, whatever becomes of the others, and says what became of
    /// each.
    @Sendable func run(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let name = try fields.string("action")
        guard let change = name.flatMap(Change.init) else {
            let accepted = Change.allCases.map(\.rawValue).joined(separator: ", ")
            let code = name == nil ? "required" : "invalid"
            throw Problem.validation("/action", code, "action must be one of \(accepted).")
        }
        let paths = try paths(fields)
        let folder = try change == .move ? fields.diskPath("to") : .root
        let (permanently, overwrite) = (try fields.diskFlag("permanently"), try fields.diskFlag("overwrite"))
        // A batch is not addressed.
        try request.writePreconditions().check(version: nil, of: "The batch")
        let account = try await disk.account(of: session)
        var results: [BatchScreen.Result] = []
        for path in paths {
            do {
                switch change {
                case .delete:
                    results.append(try await send(.delete(permanently: permanently), path, request, account))
                case .move:
                    let target = folder.child(path.name)
                    guard path != target, !path.covers(folder) else {
                        throw Problem.validation("/to", "invalid", "to must be another folder, and not in the folder.")
                    }
                    results.append(try await send(.move(to: target, overwrite: overwrite), path, request, account))
                case .keepOffline:
                    _ = try await disk.keepOffline(path, for: account)
                    results.append(BatchScreen.Result(path, .done))
                }
            } catch {
                guard let problem = Self.problem(error) else { throw error }
                results.append(BatchScreen.Result(path, problem))
            }
        }
        let pending = store.pendingWrites(of: account.id)
        let meta = Meta(screen: "disk.files", provenance: .local, pending: pending)
        return try .local(BatchScreen(results: results), meta, Links(self: "/v1/disk/files"))
    }

    private var store: DiskStore { disk.store }

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
        switch try await WriteRouter(disk: disk).run(DiskWrite(kind: kind, path: path), request, for: account) {
        case .queued(let entry): BatchScreen.Result(path, .queued, OutboxScreen.href(of: entry.id))
        case .sent(.underWay(let operation)):
            BatchScreen.Result(path, .processing, OperationScreen(operation).href)
        case .sent: BatchScreen.Result(path, .done)
        }
    }

    private static func problem(_ error: any Error) -> Problem? {
        (error as? Problem) ?? (error as? UpstreamFailure)?.problem ?? (error as? StorageError).flatMap { Problem($0) }
    }
}

/// `POST /v1/disk/files/batch`.
struct BatchScreen: Encodable, Sendable {
    struct Result: Encodable, Sendable {
        let path: String
        /// `done`, `queued` in the outbox, `processing` at Yandex Disk, or `failed`.
        let state: String
        let stateText: Text
        /// The operation that goes on with it; null if none does.
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
