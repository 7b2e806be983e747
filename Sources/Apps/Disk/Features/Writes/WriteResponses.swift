import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// Makes the responses to writes.
struct WriteResponses: Sendable {
    let files: FileResponses
    let clock: WallClock

    /// Returns the preconditions of a request that changes something.
    func conditions(of request: ScreenRequest) -> WriteConditions {
        WriteConditions(request.headerFields, at: clock.now())
    }

    /// Returns the response to a write that was sent, or the operation of one that was left in the outbox.
    ///
    /// - Throws: `EncodingError`; errors of `sent`.
    func response(
        to result: WriteQueue.Result,
        _ request: ScreenRequest,
        _ sent: (WriteOutcome) throws -> ScreenResponse
    ) throws -> ScreenResponse {
        let entry: OutboxEntry<QueuedWrite>
        switch result {
        case .sent(let outcome): return try sent(outcome)
        case .queued(let queued): entry = queued
        }
        let screen = OperationScreen(entry)
        let pending = files.store.pendingWrites(of: entry.account)
        return try .local(
            screen,
            Meta(screen: "disk.operation", provenance: .local, pending: pending),
            Links(self: screen.href),
            status: .accepted,
            headerFields: [.location: screen.href.requestTarget, .preferenceApplied: HTTPFields.respondAsync]
        )
    }

    /// Returns the response to a write that leaves a file or folder.
    ///
    /// - Parameter isContent: Whether the target of the request is the content, not the screen.
    /// - Throws: `Problem`, `EncodingError`.
    func changed(
        _ outcome: WriteOutcome,
        _ request: ScreenRequest,
        status: HTTPResponse.Status = .ok,
        isContent: Bool = false
    ) throws -> ScreenResponse {
        let (row, provenance): (DiskRow, Provenance)
        switch outcome {
        case .underWay(let operation): return try self.operation(operation, request)
        case .done(let present, let origin), .renewed(let present, let origin): (row, provenance) = (present, origin)
        case .unneeded(let item):
            row = DiskRow(item: item, seenAt: clock.now(), isDownloaded: false)
            provenance = Provenance(source: .upstream)
        }
        let timeZone = try request.timeZone(fallback: files.timeZone)
        var response = try files.file(row, request, timeZone, provenance, status: status)
        // The tag of the present state (RFC 9110 §8.8.3), if the API has returned that state.
        guard !provenance.stale, case .bytes(let bytes, _) = response.body else { return response }
        response.headerFields[.eTag] =
            isContent
            ? row.item.version.map { "\"\($0)\"" } : EntityTag.strong(for: bytes, version: row.item.screenVersion)
        return response
    }

    /// Returns the response to a write that removes something.
    ///
    /// - Parameter back: The screen to return to.
    /// - Throws: `EncodingError`.
    func removed(
        _ outcome: WriteOutcome,
        _ path: DiskPath,
        back: Link,
        screen: String,
        _ request: ScreenRequest
    ) throws -> ScreenResponse {
        if case .underWay(let operation) = outcome { return try self.operation(operation, request) }
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

    /// Returns the response to a write that restores something from the trash.
    ///
    /// - Throws: `EncodingError`.
    func restored(_ outcome: WriteOutcome, _ request: ScreenRequest) throws -> ScreenResponse {
        var place: DiskPath?
        switch outcome {
        case .underWay(let operation): return try self.operation(operation, request)
        case .done(let row, _), .renewed(let row, _): place = row.item.path.scheme == .disk ? row.item.path : nil
        case .unneeded(let item): place = item.path
        }
        let back = (place?.parent ?? .root).link(to: "/v1/disk/files")
        let provenance = Provenance(source: .upstream)
        return try .screen(
            Envelope(
                data: RestorationScreen(path: place?.text, back: back),
                meta: Meta(screen: "disk.trash", provenance: provenance),
                links: Links(self: back)
            ),
            provenance: provenance,
            now: clock.now()
        )
    }

    /// Returns the screen of an operation: 202 while it runs, 200 after its end.
    ///
    /// - Throws: `EncodingError`.
    func operation(_ operation: DiskOperation, _ request: ScreenRequest) throws -> ScreenResponse {
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
            headerFields: request.method == .get ? [:] : [.location: screen.href.requestTarget]
        )
    }
}
