import Foundation
import HTTPTypes
import Logging
import Screens
import Upstream

// What the upstream does in its own time, after it has taken a write (202).
extension DiskService {
    /// Follows an operation to its end, or for as long as clients are made to wait.
    func followed(_ operation: DiskOperation) async throws -> DiskOperation {
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
            throw Problem.notFound(
                "Yandex Disk does not know this operation any more. What came of it is seen in the lists."
            )
        } catch UpstreamError.failing, UpstreamError.badResponse {
            return .running
        } catch {
            throw translated(error)
        }
    }

    func repeatHere(_ operation: DiskOperation) async throws {
        let change = operation.status == .done ? operation.change : .doubtful
        if let revision = try await store.apply(change, account: operation.account, at: clock.now()) {
            announce(revision, to: operation.account)
        }
    }

    /// `GET /v1/disk/operations/{id}`: asks the upstream how it stands, and takes its end in.
    @Sendable func showOperation(_ request: ScreenRequest) async throws -> ScreenResponse {
        let account = try await account(of: request)
        let id = try request.parameter("id")
        guard var operation = try store.operation(id, account: account.id) else {
            throw Problem.notFound("There is no such operation.")
        }
        if operation.status == .running {
            guard api.upstream.reachability.isReachable else {
                throw UpstreamFailure(.unreachable(.network), of: api.upstream)
            }
            operation.status = try await statusUpstream(of: operation)
            if operation.status != .running, try await store.finish(operation, as: operation.status) {
                try await repeatHere(operation)
            }
        }
        return try operationScreen(operation, request)
    }

    func operationScreen(_ operation: DiskOperation, _ request: ScreenRequest) throws -> ScreenResponse {
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
}
