import HTTPTypes
import Screens
import Upstream

/// The screens of operations.
struct Operations: Sendable {
    let accounts: DiskAccounts
    let tracker: OperationTracker
    let responses: WriteResponses

    /// `GET /v1/disk/operations/{id}`: asks the API for the status, and applies the change once it has ended.
    @Sendable func show(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let id = try request.parameter("id")
        let account = try await accounts.account(of: session)
        guard var operation = try tracker.store.operation(id, account: account.id) else {
            throw Problem.notFound("There is no such operation.")
        }
        if operation.status == .running {
            guard tracker.client.isReachable else { throw tracker.client.unreachable }
            do {
                operation.status = try await tracker.status(of: operation, for: account)
            } catch is UploadRefused {
                operation.status = .failed
            } catch is OperationForgotten {
                operation.status = try await tracker.ending(of: operation, for: account)
            }
            if operation.status != .running, try await tracker.store.finish(operation, as: operation.status) {
                await tracker.apply(operation)
            }
        }
        return try responses.operation(operation, request)
    }
}
