import Foundation
import HTTPTypes
import Screens
import Upstream

extension DiskService {
    /// `POST /v1/disk/links`: publishes what is not published yet, and gives the address. Asked twice it is the same.
    @Sendable func makeLink(_ request: ScreenRequest) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let path = try fields.diskPath("path")
        guard !path.isRoot else {
            throw Problem.validation([
                .field("/path", "invalid", "path must be a file or folder in the Disk, not the whole of it.")
            ])
        }
        var availableUntil: Date?
        switch fields.values["available_for_s"] {
        case nil, .null: break
        case .number(let seconds) where (1...31_536_000).contains(seconds):
            availableUntil = clock.now().addingTimeInterval(seconds.rounded(.down))
        default:
            throw Problem.validation([
                .field(
                    "/available_for_s",
                    "invalid",
                    "available_for_s must be a number of seconds up to 31536000, or null."
                )
            ])
        }
        let account = try await account(of: request)
        let write = DiskWrite(kind: .publish(until: availableUntil), path: path, conditions: conditions(request))
        switch try await run(write, account) {
        case .underWay(let operation): return try operationScreen(operation, request)
        case .unneeded(let item): return try link(item, Provenance(source: .upstream), request, isNew: false)
        case .done(let row, let provenance):
            // Of the address alone: how the rest was looked at is of no interest here.
            let source = Provenance(source: .upstream, stale: provenance.stale && row.item.publicURL == nil)
            return try link(row.item, source, request, isNew: true)
        }
    }

    private func link(
        _ item: DiskItem,
        _ provenance: Provenance,
        _ request: ScreenRequest,
        isNew: Bool
    ) throws -> ScreenResponse {
        let back = item.path.link(to: "/v1/disk/file")
        let screen = LinkScreen(path: item.path.text, publicUrl: item.publicURL)
        return try .screen(
            Envelope(data: screen, meta: Meta(screen: "disk.file", provenance: provenance), links: Links(self: back)),
            status: isNew ? .created : .ok,
            provenance: provenance,
            now: clock.now(),
            headerFields: isNew ? [.location: back] : [:]
        )
    }

    /// `DELETE /v1/disk/published`: takes the public address away.
    @Sendable func unpublish(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try request.diskPath()
        guard !path.isRoot else {
            throw Problem.invalidParameter("path", accepted: "accepts a file or folder, not the whole Disk")
        }
        let account = try await account(of: request)
        let write = DiskWrite(kind: .unpublish, path: path, conditions: conditions(request))
        return try removed(
            try await run(write, account),
            path,
            back: "/v1/disk/published",
            screen: "disk.published",
            request
        )
    }
}
