import Logging
import Foundation
import HTTPTypes
import Screens
import Upstream

extension DiskService {
    /// What a write came to.
    enum Carried: Sendable {
        case done
        /// The upstream goes on with it.
        case underWay(DiskOperation)
    }

    /// Changes something at the upstream, and here what it changes there: rows and lists, once it is done. While the upstream is out of reach nothing is changed, and nothing queued.
    ///
    /// Runs to its end although the client may have left: what was done there must be known here.
    func carryOut(
        _ action: DiskOperation.Action,
        _ path: DiskPath,
        to target: DiskPath? = nil,
        _ account: DiskAccount,
        _ write: @escaping @Sendable (_ token: String) async throws -> WriteOutcome
    ) async throws -> Carried {
        try refuseOffline()
        return try await Task {
            let operation: DiskOperation
            switch try await changing(path, account, { try await authorized(account.id, write) }) {
            case .done:
                operation = DiskOperation(id: "", account: account.id, upstreamID: "", action: action, path: path, target: target, status: .done)
            case .underWay(let upstreamID):
                operation = try await followed(
                    DiskOperation(
                        id: SessionToken.make(),
                        account: account.id,
                        upstreamID: upstreamID,
                        action: action,
                        path: path,
                        target: target,
                        status: .running
                    )
                )
            }
            switch operation.status {
            case .done:
                try await repeatHere(operation)
                return .done
            case .failed:
                try await repeatHere(operation)
                throw Problem(.upstreamBadResponse, "Yandex Disk began it and could not finish it.", upstream: .init(name: api.upstream.configuration.name))
            case .running:
                try await store.keep(operation, at: clock.now())
                try await store.apply(.doubtful, account: account.id, at: clock.now())
                return .underWay(operation)
            }
        }.value
    }

    /// 503: the upstream is known to be out of reach.
    func refuseOffline() throws {
        guard !api.upstream.reachability.isReachable else { return }
        throw refusedOffline("Yandex Disk cannot be reached. Nothing was changed.")
    }

    private func refusedOffline(_ detail: String) -> Problem {
        Problem(.offlineWriteRefused, detail, offline: true, upstream: .init(name: api.upstream.configuration.name))
    }

    /// A call that changes something, with its failure in the words of a write. Where the connection broke, nobody knows how far it came: then what is stored is asked for anew.
    func changing<Value>(_ path: DiskPath, _ account: DiskAccount, _ call: () async throws -> Value) async throws -> Value {
        do {
            return try await call()
        } catch UpstreamError.unreachable(let reason) {
            guard reason == .reset || reason == .totalTimeout else { throw refusedOffline("Yandex Disk cannot be reached. Nothing was changed.") }
            try await store.apply(.doubtful, account: account.id, at: clock.now())
            throw refusedOffline("Yandex Disk did not answer. Here nothing was changed; whether it was there is seen when it is back.")
        } catch let refusal as DiskRefusal where refusal.isGone {
            try await store.forget(path, account: account.id)
            throw refusal.problem(api.upstream)
        } catch UpstreamError.failing(let status, let retryAfter) {
            var problem = UpstreamFailure(.failing(status: status, retryAfter: retryAfter), of: api.upstream).problem
            problem.detail = "Yandex Disk answered \(status.code). Here nothing was changed."
            throw problem
        } catch {
            throw translated(error)
        }
    }

    /// Follows an operation to its end, or for as long as clients are made to wait.
    private func followed(_ operation: DiskOperation) async throws -> DiskOperation {
        var operation = operation
        let deadline = clock.now().addingTimeInterval(options.operationWait.seconds)
        while true {
            do {
                operation.status = try await statusUpstream(of: operation)
            } catch {
                // The write was taken. What is not known yet is told to whoever asks for the operation.
                logger.info("an operation could not be asked for", metadata: ["error": "\(error)"])
            }
            guard operation.status == .running, clock.now() < deadline else { return operation }
            try await clock.sleep(.seconds(1))
        }
    }

    /// How an operation stands at the upstream; running while that fails to say.
    private func statusUpstream(of operation: DiskOperation) async throws -> DiskOperation.Status {
        do {
            return try await authorized(operation.account) { try await api.operation(operation.upstreamID, $0) }
        } catch let refusal as DiskRefusal where refusal.status == 404 {
            throw Problem.notFound("Yandex Disk does not know this operation any more. What came of it is seen in the lists.")
        } catch UpstreamError.failing, UpstreamError.badAnswer {
            return .running
        } catch {
            throw translated(error)
        }
    }

    private func repeatHere(_ operation: DiskOperation) async throws {
        let change = operation.status == .done ? operation.change : .doubtful
        if let revision = try await store.apply(change, account: operation.account, at: clock.now()) { announce(revision, to: operation.account) }
    }

    /// `GET /v1/disk/operations/{id}`: asks the upstream how it stands, and takes its end in.
    @Sendable func showOperation(_ request: ScreenRequest) async throws -> Reply {
        let account = try await account(of: request)
        let id = try request.parameter("id")
        guard var operation = try store.operation(id, account: account.id) else { throw Problem.notFound("There is no such operation.") }
        if operation.status == .running {
            guard api.upstream.reachability.isReachable else { throw UpstreamFailure(.unreachable(.network), of: api.upstream) }
            operation.status = try await statusUpstream(of: operation)
            if operation.status != .running, try await store.finish(operation, as: operation.status) { try await repeatHere(operation) }
        }
        return try operationScreen(operation, request)
    }

    func operationScreen(_ operation: DiskOperation, _ request: ScreenRequest) throws -> Reply {
        let isOver = operation.status != .running
        let screen = OperationScreen(operation)
        let provenance = Provenance(source: .upstream)
        return try .screen(
            Envelope(
                data: screen,
                meta: Meta(screen: "disk.operation", state: isOver ? .content : .loading, provenance: provenance),
                links: Links(self: screen.href)
            ),
            status: isOver ? .ok : .accepted,
            provenance: provenance,
            now: clock.now(),
            headerFields: request.method == .get ? [:] : [.location: screen.href]
        )
    }

    /// What a write answers: of something that is there now.
    func changedFile(
        _ carried: Carried,
        _ path: DiskPath,
        _ account: DiskAccount,
        _ request: ScreenRequest,
        status: HTTPResponse.Status = .ok
    ) async throws -> Reply {
        if case .underWay(let operation) = carried { return try operationScreen(operation, request) }
        let timeZone = try timeZone(request)
        guard let present = try store.account(account.id) else { throw Self.sessionExpired }
        // It is done; that it cannot be looked at now is no failure of it.
        do {
            let (row, reading) = try await item(path, present, .refresh)
            return try fileScreen(row, request, timeZone, reading.provenance, status: status)
        } catch {
            guard !Self.isUnauthorized(error), let row = try store.row(path, account: account.id) else { throw error }
            let provenance = Provenance(source: .cache, stale: true, fetchedAt: row.seenAt)
            return try fileScreen(row, request, timeZone, provenance, status: status)
        }
    }

    /// What a write answers: of something that is gone.
    func removed(_ carried: Carried, _ path: DiskPath, back: String, screen: String, _ request: ScreenRequest) throws -> Reply {
        if case .underWay(let operation) = carried { return try operationScreen(operation, request) }
        let provenance = Provenance(source: .upstream)
        return try .screen(
            Envelope(data: RemovalScreen(path: path.text, back: back), meta: Meta(screen: screen, provenance: provenance), links: Links(self: back)),
            provenance: provenance,
            now: clock.now()
        )
    }
}
