import Foundation
import HTTPCaching
import HTTPTypes
import Screens
import Upstream

extension DiskService {
    /// Runs a write: see ``WriteExecutor``.
    func run(_ write: DiskWrite, _ account: DiskAccount) async throws -> Written {
        try await WriteExecutor(service: self, write: write, account: account).run()
    }

    /// 503 if the upstream is known to be out of reach: nothing is sent, and nothing queued.
    func refuseOffline() throws {
        guard !api.upstream.reachability.isReachable else { return }
        throw refusedOffline
    }

    private var refusedOffline: Problem {
        Problem(
            .offlineWriteRefused,
            "Yandex Disk cannot be reached. Nothing was changed.",
            offline: true,
            upstream: .init(name: api.upstream.configuration.name)
        )
    }

    /// A call that changes nothing by its failure, with that failure in the words of a write: what a write needs
    /// before it is sent, and a write that
    /// was refused or could not be sent.
    func changing<Value>(_ path: DiskPath, _ account: DiskAccount, _ call: () async throws -> Value) async throws
        -> Value
    {
        let epoch = try store.account(account.id)?.epoch ?? account.epoch
        do {
            return try await call()
        } catch UpstreamError.unreachable {
            throw refusedOffline
        } catch let refusal as DiskRefusal where refusal.isGone {
            try await store.forget(path, account: account.id, asOf: epoch)
            throw refusal.problem(api.upstream)
        } catch UpstreamError.failing(let status, let retryAfter) {
            var problem = UpstreamFailure(.failing(status: status, retryAfter: retryAfter), of: api.upstream).problem
            problem.detail = "Yandex Disk answered \(status.code). Here nothing was changed."
            throw problem
        } catch {
            throw translated(error)
        }
    }

    /// What a write answers: of something that is there now. `isContent`: the target of the request is the content,
    /// not the screen.
    func changedFile(
        _ written: Written,
        _ request: ScreenRequest,
        status: HTTPResponse.Status = .ok,
        isContent: Bool = false
    ) throws -> ScreenResponse {
        let (row, provenance): (DiskRow, Provenance)
        switch written {
        case .underWay(let operation): return try operationScreen(operation, request)
        case .done(let present, let origin): (row, provenance) = (present, origin)
        case .unneeded(let item):
            (row, provenance) = (
                DiskRow(item: item, seenAt: clock.now(), isDownloaded: false), Provenance(source: .upstream)
            )
        }
        var response = try fileScreen(row, request, try timeZone(request), provenance, status: status)
        // The tag of what is there now (RFC 9110 §8.8.3), if the upstream has said what that is.
        guard !provenance.stale, case .bytes(let bytes, _) = response.body else { return response }
        response.headerFields[.eTag] =
            isContent
            ? row.item.version.map { "\"\($0)\"" } : EntityTag.strong(for: bytes, version: row.item.screenVersion)
        return response
    }

    /// What a write answers: of something that is gone.
    func removed(_ written: Written, _ path: DiskPath, back: String, screen: String, _ request: ScreenRequest) throws
        -> ScreenResponse
    {
        if case .underWay(let operation) = written { return try operationScreen(operation, request) }
        let provenance = Provenance(source: .upstream)
        return try .screen(
            Envelope(
                data: RemovalScreen(path: path.text, back: back),
                meta: Meta(screen: screen, provenance: provenance),
                links: Links(self: back)
            ),
            provenance: provenance,
            now: clock.now()
        )
    }

    /// The preconditions of a request that changes something.
    func conditions(_ request: ScreenRequest) -> WriteConditions {
        WriteConditions(request.headerFields, at: clock.now())
    }
}
