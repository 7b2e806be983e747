import Foundation
import HTTPTypes
import Screens
import Upstream

/// Calls of a write: their failures are reported in the words of a write, which has changed nothing.
struct WriteCalls: Sendable {
    let client: YandexDiskClient
    var tokens: TokenProvider
    let store: DiskStore
    let uploads: LateUploads
    /// Longest wait for the response to an upload after its last byte (`disk.upload_response_s`).
    let uploadResponse: Duration

    /// Checks that the API is reachable: else nothing is sent, and nothing queued.
    ///
    /// - Throws: 503 `offline-write-refused`.
    func refuseOffline() throws {
        guard client.isReachable else { throw refusedOffline }
    }

    /// Runs a call whose failure changes nothing: a read that a write needs before it is sent, or a write that was
    /// refused or could not be sent.
    ///
    /// - Parameters:
    ///   - path: The path that the call is about; its row is removed if the API says that it does not exist and nothing
    ///     was changed since the account was read.
    ///   - target: The path of the result, if that is another one.
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError`.
    func call<Value>(
        about path: DiskPath,
        to target: DiskPath? = nil,
        _ account: DiskAccount,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch UpstreamError.unreachable {
            throw refusedOffline
        } catch let refusal as DiskRefusal {
            let missing = refusal.isGone ? [path] : refusal.isOfParent ? [path, target].compactMap { $0?.parent } : []
            if try missing.contains(where: { try store.isYoung($0, account: account.id) }) { throw client.notShownYet }
            if refusal.isGone { try await store.forget(path, account: account.id, asOf: account.epoch) }
            throw refusal.problem(client.upstream)
        } catch let failure as UpstreamFailure {
            // Nothing was sent to the API.
            var problem = failure.problem
            problem.detail =
                "The account's token has expired, and Yandex OAuth does not renew it now. Nothing was changed."
            throw problem
        } catch UpstreamError.failing(let status, let retryAfter) {
            var problem = client.failure(.failing(status: status, retryAfter: retryAfter)).problem
            problem.detail = .nothingChanged(client.title, status.code)
            throw problem
        } catch {
            throw client.translated(error)
        }
    }

    /// Returns the present item of the API at a path.
    ///
    /// - Throws: ``DiskRefusal`` (404) if nothing exists; 503 if it is not shown yet; `UpstreamError`,
    ///   `UpstreamFailure`, `StorageError`.
    func current(_ path: DiskPath, _ account: DiskAccount) async throws -> DiskItem {
        do {
            return try await tokens.authorized(account) { try await client.current(path, $0) }
        } catch let refusal as DiskRefusal where refusal.isGone {
            throw try store.isYoung(path, account: account.id) ? client.notShownYet : refusal
        }
    }

    /// Returns when the link of something published ends, as the API has it now; unspecified if it does not tell.
    ///
    /// - Throws: ``DiskRefusal``, `UpstreamError`, `UpstreamFailure`, `StorageError`.
    func linkEnd(_ path: DiskPath, _ account: DiskAccount) async throws -> LinkEnd {
        do {
            return try await tokens.authorized(account) { try await client.linkEnd(path, $0) }
        } catch let refusal as DiskRefusal where refusal.concernsSettings {
            return .unspecified
        }
    }

    private var refusedOffline: Problem {
        Problem(
            .offlineWriteRefused,
            .unreachable,
            offline: true,
            upstream: .init(name: client.upstream.configuration.name)
        )
    }
}
