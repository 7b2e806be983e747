import Foundation
import Freshness
import HTTPTypes
import Screens
import Upstream

/// Public addresses of files and folders.
struct Sharing: Sendable {
    let accounts: DiskAccounts
    let queue: WriteQueue
    let responses: WriteResponses
    let clock: WallClock

    /// `POST /v1/disk/links`: publishes what is not published yet, and returns the address. Idempotent.
    @Sendable func publish(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let path = try fields.diskPath("path")
        guard !path.isRoot else {
            throw Problem.validation([
                .field("/path", "invalid", "path must be a file or folder in the Disk, not the whole of it.")
            ])
        }
        let until = try availableUntil(fields)
        let account = try await accounts.account(of: session)
        let conditions = responses.conditions(of: request)
        let write = DiskWrite(kind: .publish(until: until), path: path, conditions: conditions)
        let result = try await queue.run(write, request, for: account, body: ["path": .text(path.text)])
        return try responses.response(to: result, request) { outcome in
            switch outcome {
            case .underWay(let operation): return try responses.operation(operation, request)
            case .unneeded(let item): return try link(item, Provenance(source: .upstream), isNew: false)
            case .done(let row, let provenance):
                // Only the address matters here: it is current even if the rest could not be read back.
                let isStale = provenance.stale && row.item.publicURL == nil
                return try link(row.item, Provenance(source: .upstream, stale: isStale), isNew: true)
            }
        }
    }

    /// `DELETE /v1/disk/published`: removes the public address.
    @Sendable func unpublish(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPathBelowRoot()
        let account = try await accounts.account(of: session)
        let write = DiskWrite(kind: .unpublish, path: path, conditions: responses.conditions(of: request))
        let result = try await queue.run(write, request, for: account)
        return try responses.response(to: result, request) {
            try responses.removed($0, path, back: "/v1/disk/published", screen: "disk.published", request)
        }
    }

    private func availableUntil(_ fields: JSONFields) throws -> Date? {
        switch fields.values["available_for_s"] {
        case nil, .null: return nil
        case .number(let seconds) where (1...31_536_000).contains(seconds):
            return clock.now().addingTimeInterval(seconds.rounded(.down))
        default:
            throw Problem.validation([
                .field(
                    "/available_for_s",
                    "invalid",
                    "available_for_s must be a number of seconds up to 31536000, or null."
                )
            ])
        }
    }

    private func link(_ item: DiskItem, _ provenance: Provenance, isNew: Bool) throws -> ScreenResponse {
        let back = item.path.link(to: "/v1/disk/file")
        let screen = LinkScreen(path: item.path.text, publicUrl: item.publicURL)
        return try .screen(
            Envelope(data: screen, meta: Meta(screen: "disk.file", provenance: provenance), links: Links(self: back)),
            status: isNew ? .created : .ok,
            provenance: provenance,
            now: clock.now(),
            headerFields: isNew ? [.location: back.requestTarget] : [:]
        )
    }
}
