import HTTPTypes
import Foundation
import Screens
import Upstream

extension DiskService {
    /// `POST /v1/disk/links`: publishes what is not published yet, and gives the address. Asked twice it is the same.
    @Sendable func makeLink(_ request: ScreenRequest) async throws -> Reply {
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
        case .number(let seconds) where (1...31_536_000).contains(seconds): availableUntil = clock.now().addingTimeInterval(seconds.rounded(.down))
        default: throw Problem.validation([.field("/available_for_s", "invalid", "available_for_s must be a number of seconds up to 31536000, or null.")])
        }
        let account = try await account(of: request)
        try refuseOffline()
        let before = try await changing(path, account) { try await authorized(account.id) { try await api.current(path, $0) } }
        if let url = before.publicURL { return try await link(url, before, account, request, isNew: false) }
        let until = availableUntil
        let carried = try await carryOut(.publish, path, account) { [api] in try await api.publish(path, availableUntil: until, $0) }
        if case .underWay(let operation) = carried { return try operationScreen(operation, request) }
        let after: DiskItem
        do {
            after = try await authorized(account.id) { try await api.current(path, $0) }
        } catch {
            // It is public by now, but nobody knows where: said as it is. Asking again finds the address.
            guard var problem = Self.problem(translated(error)), problem.code.isRetryable else { throw translated(error) }
            problem.detail = "Yandex Disk has published it, and could not be asked for its address. Ask again."
            throw problem
        }
        guard let url = after.publicURL else { throw translated(UpstreamError.badAnswer(status: .ok, reason: "published, but without an address")) }
        return try await link(url, after, account, request, isNew: true)
    }

    static func problem(_ error: any Error) -> Problem? { (error as? Problem) ?? (error as? UpstreamFailure)?.problem }

    private func link(_ url: String, _ item: DiskItem, _ account: DiskAccount, _ request: ScreenRequest, isNew: Bool) async throws -> Reply {
        if let revision = try await store.apply(.appeared(item.path, item), account: account.id, at: clock.now()), isNew { announce(revision, to: account.id) }
        let provenance = Provenance(source: .upstream)
        let back = item.path.link(to: "/v1/disk/file")
        return try .screen(
            Envelope(data: LinkScreen(path: item.path.text, publicUrl: url), meta: Meta(screen: "disk.file", provenance: provenance), links: Links(self: back)),
            status: isNew ? .created : .ok,
            provenance: provenance,
            now: clock.now(),
            headerFields: isNew ? [.location: back] : [:]
        )
    }

    /// `DELETE /v1/disk/published`: takes the public address away.
    @Sendable func unpublish(_ request: ScreenRequest) async throws -> Reply {
        let path = try request.diskPath()
        guard !path.isRoot else {
            throw Problem.invalidParameter("path", accepted: "accepts a file or folder, not the whole Disk")
        }
        let account = try await account(of: request)
        try refuseOffline()
        let before = try await changing(path, account) { try await authorized(account.id) { try await api.current(path, $0) } }
        guard before.isPublished else {
            try await store.apply(.unpublished(path), account: account.id, at: clock.now())
            throw Problem.notFound("\(before.name) is not published.")
        }
        let carried = try await carryOut(.unpublish, path, account) { [api] in try await api.unpublish(path, $0) }
        return try removed(carried, path, back: "/v1/disk/published", screen: "disk.published", request)
    }
}
