import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Screens
import Upstream

/// Public addresses of files and folders.
struct Sharing: Sendable {
    let accounts: DiskAccounts
    let queue: WriteQueue
    let responses: WriteResponses
    let clock: WallClock

    /// `POST /v1/disk/links`: publishes an item that is not public yet, gives its link the end that is asked for, and
    /// returns the address.
    @Sendable func publish(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let path = try fields.diskPath("path")
        guard !path.isRoot else {
            throw Problem.validation([
                .field("/path", "invalid", "path must be a file or folder in the Disk, not the whole of it.")
            ])
        }
        let end = try linkEnd(fields)
        let account = try await accounts.account(of: session)
        let conditions = responses.conditions(of: request)
        let write = DiskWrite(kind: .publish(end), path: path, conditions: conditions)
        var body: [String: Action.Constant] = ["path": .text(path.text)]
        switch fields.values["available_for_s"] {
        case .number(let seconds): body["available_for_s"] = .integer(Int(seconds))
        case .null: body["available_for_s"] = .null
        default: break
        }
        let result = try await queue.run(write, request, for: account, body: body)
        return try responses.response(to: result, request) { outcome in
            switch outcome {
            case .underWay(let operation): return try responses.operation(operation, request)
            case .unneeded(let item): return try link(item, Provenance(source: .upstream), isNew: false)
            case .done(let row, let provenance): return try link(row.item, provenance, isNew: true)
            case .renewed(let row, let provenance): return try link(row.item, provenance, isNew: false)
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

    /// Reads the end that a link is to have: none if the member is null, any if it is absent.
    private func linkEnd(_ fields: JSONFields) throws -> LinkEnd {
        switch fields.values["available_for_s"] {
        case nil: return .unspecified
        case .null: return .never
        case .number(let seconds) where (1...31_536_000).contains(seconds):
            let end = clock.now().timeIntervalSince1970 + seconds
            return .at(Date(timeIntervalSince1970: end.rounded(.down)))
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

    private func link(_ item: DiskItem, _ origin: Provenance, isNew: Bool) throws -> ScreenResponse {
        // Only the address matters here: it is current even if the rest could not be read back.
        let provenance = Provenance(source: .upstream, stale: origin.stale && item.publicURL == nil)
        let back = item.path.link(to: "/v1/disk/file")
        return try .screen(
            Envelope(
                data: LinkScreen(item),
                meta: Meta(screen: "disk.file", provenance: provenance),
                links: Links(self: back)
            ),
            status: isNew ? .created : .ok,
            provenance: provenance,
            now: clock.now(),
            headerFields: isNew ? [.location: back.requestTarget] : [:]
        )
    }
}
