import Concurrency
import Foundation
import HTTP
import HTTPTypes
import JSONValues
import Screens
import Upstream

// The way of a write, from its request down:
//
// 1. `Writes` makes a `DiskWrite` of the request, and the response of its outcome.
// 2. `Writes.submit` sends the write (3, 4), or queues it (5) if the client prefers that to a refusal.
// 3. `Disk.run` lets one write of a path run at a time. `WriteRun.run` checks the preconditions, then `send` makes the
//    requests, once; of an upload: the link, then the bytes, which `UploadedBytes` counts.
// 4. `settle` applies it to the store and reads the result back. `follow` asks for an operation by which the API
//    continues it (`Operations`, `LateUploads`). `inspect` compares the present state if no response has arrived.
// 5. `DiskStore.enqueuing` folds it into the waiting `QueuedWrite`s, which `PendingView` shows as done. `OutboxSender`
//    takes the next one, and `OutboxRunner` compares it with the present state, then sends it as a `DiskWrite` (3).

/// Changes of files and folders.
struct Writes: Sendable {
    let disk: Disk

    /// `PUT /v1/disk/file/content`: the body becomes a file while it arrives; it is there whole or not at all.
    @Sendable func upload(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        guard path.parent != nil, (try? DiskPath.checkName(path.name)) != nil else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        let overwrite = try request.query.flag("overwrite")
        let content = try request.fileContent()
        let kind = DiskWrite.Kind.upload(content, length: request.declaredBodyLength, overwrite: overwrite)
        return try await run(kind, path, request, session) { row, provenance, _ in
            try disk.changed(row, provenance, request, status: .created, isContent: true)
        }
    }

    /// `DELETE /v1/disk/file`: to the trash, or permanently.
    @Sendable func delete(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPathBelowRoot()
        let permanently = try request.query.flag("permanently")
        let back = (path.parent ?? .root).link(to: "/v1/disk/files")
        return try await run(.delete(permanently: permanently), path, request, session) { _, _, _ in
            try disk.removed(path, back: back, screen: "disk.file")
        }
    }

    /// `PATCH /v1/disk/file`: another name in the same folder.
    @Sendable func rename(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPathBelowRoot()
        let fields = try await request.jsonObject()
        let name = (try fields.string("name") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        try DiskPath.checkName(name, isMissing: fields.values["name"] == nil)
        let target = (path.parent ?? .root).child(name)
        let kind = DiskWrite.Kind.move(to: target, overwrite: false)
        let body = ["name": Action.Constant.text(name)]
        return try await run(kind, path, request, session, isRename: true, body: body) { row, provenance, _ in
            try disk.changed(row, provenance, request)
        }
    }

    /// `POST /v1/disk/folders`.
    @Sendable func makeFolder(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try await request.jsonObject().newDiskPath("path")
        let body = ["path": Action.Constant.text(path.text)]
        return try await run(.makeFolder, path, request, session, body: body) { row, provenance, _ in
            try disk.changed(row, provenance, request, status: .created)
        }
    }

    /// `POST /v1/disk/files/move`.
    @Sendable func move(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try await transfer(request, session) { .move(to: $0, overwrite: $1) }
    }

    /// `POST /v1/disk/files/copy`.
    @Sendable func copy(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        try await transfer(request, session) { .copy(to: $0, overwrite: $1) }
    }

    private func transfer(
        _ request: ScreenRequest,
        _ session: Session,
        as kind: (_ to: DiskPath, _ overwrite: Bool) -> DiskWrite.Kind
    ) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let from = try fields.diskPath("from")
        let to = try fields.newDiskPath("to")
        let overwrite = try fields.diskFlag("overwrite")
        guard !from.isRoot, from != to, !from.contains(to) else {
            throw Problem.validation("/to", "invalid", "to must be another place, and not in the folder itself.")
        }
        let body: [String: Action.Constant] = [
            "from": .text(from.text), "to": .text(to.text), "overwrite": .boolean(overwrite),
        ]
        return try await run(kind(to, overwrite), from, request, session, body: body) { row, provenance, _ in
            try disk.changed(row, provenance, request, status: .created)
        }
    }

    private func run(
        _ kind: DiskWrite.Kind,
        _ path: DiskPath,
        _ request: ScreenRequest,
        _ session: Session,
        isRename: Bool = false,
        body: [String: Action.Constant]? = nil,
        _ response: (DiskRow, Provenance, _ isNewLink: Bool) throws -> ScreenResponse
    ) async throws -> ScreenResponse {
        // The response needs it: after the change a refusal of it would be untrue.
        _ = try request.timeZone(fallback: disk.timeZone)
        let account = try await disk.account(of: session)
        let conditions = disk.conditions(of: request)
        let write = DiskWrite(kind: kind, path: path, conditions: conditions, isRename: isRename)
        switch try await submit(write, request, for: account, body: body) {
        case .sent(let outcome): return try disk.response(to: outcome, request, response)
        case .queued(_, let response): return response
        }
    }
}

// Public addresses of files and folders.
extension Writes {
    /// `POST /v1/disk/links`: publishes an item that is not public yet, sets the requested end of its link, and returns
    /// the address.
    @Sendable func publish(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let path = try fields.itemPath()
        let end = try linkEnd(fields)
        var body: [String: Action.Constant] = ["path": .text(path.text)]
        if let given = fields.values["available_for_s"] {
            body["available_for_s"] = given.double.map { Action.Constant.integer(Int($0)) } ?? .null
        }
        return try await run(.publish(end), path, request, session, body: body) { try link($0.item, $1, isNew: $2) }
    }

    /// `DELETE /v1/disk/published`: removes the public address.
    @Sendable func unpublish(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPathBelowRoot()
        return try await run(.unpublish, path, request, session) { _, _, _ in
            try disk.removed(path, back: "/v1/disk/published", screen: "disk.published")
        }
    }

    /// Reads the end that a link is to have: none if the member is null, any if it is absent.
    private func linkEnd(_ fields: JSONFields) throws -> LinkEnd {
        guard let value = fields.values["available_for_s"] else { return .unspecified }
        guard value != .null else { return .never }
        guard let seconds = value.double, (1...31_536_000).contains(seconds) else {
            throw Problem.validation("/available_for_s", "invalid", .lifetimeOfLink)
        }
        let end = disk.clock.now().timeIntervalSince1970 + seconds
        return .at(Date(timeIntervalSince1970: end.rounded(.down)))
    }

    private func link(_ item: DiskItem, _ origin: Provenance, isNew: Bool) throws -> ScreenResponse {
        // Only the address matters here: it is current even if the rest could not be read back.
        let provenance = Provenance(source: .upstream, stale: origin.stale && item.publicURL == nil)
        let back = item.path.link(to: "/v1/disk/file")
        return try disk.response(
            LinkScreen(item),
            "disk.file",
            provenance,
            links: Links(self: back),
            status: isNew ? .created : .ok,
            headerFields: isNew ? [.location: back.requestTarget] : [:]
        )
    }
}

// The responses to writes.
extension Disk {
    /// Returns the preconditions of a request that changes something.
    func conditions(of request: ScreenRequest) -> DiskWrite.Conditions {
        DiskWrite.Conditions(request.headerFields, at: clock.now())
    }

    /// Returns the response to a write that was queued.
    func response(to queued: OutboxOutcome) throws -> ScreenResponse {
        let screen = OperationScreen(queued.entry)
        return try .local(
            screen,
            Meta(screen: "disk.operation", provenance: .local, pending: queued.pending),
            Links(self: screen.href),
            status: .accepted,
            headerFields: [.location: screen.href.requestTarget, .preferenceApplied: HTTPFields.respondAsync]
        )
    }

    /// Returns the response to a write that was sent.
    ///
    /// - Parameter done: Makes that of a write that is done.
    func response(
        to outcome: DiskWrite.Outcome,
        _ request: ScreenRequest,
        _ done: (DiskRow, Provenance, _ isNewLink: Bool) throws -> ScreenResponse
    ) throws -> ScreenResponse {
        switch outcome {
        case .underWay(let operation): try operationResponse(operation, request)
        case .done(let row, let provenance, let isNewLink): try done(row, provenance, isNewLink)
        }
    }

    /// Returns the response to a write that leaves a file or folder.
    ///
    /// - Parameter isContent: Whether the target of the request is the content, not the screen.
    func changed(
        _ row: DiskRow,
        _ provenance: Provenance,
        _ request: ScreenRequest,
        status: HTTPResponse.Status = .ok,
        isContent: Bool = false
    ) throws -> ScreenResponse {
        let timeZone = try request.timeZone(fallback: timeZone)
        var response = try fileResponse(row, request, timeZone, provenance, status: status)
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
    func removed(_ path: DiskPath, back: Link, screen: String) throws -> ScreenResponse {
        try response(RemovalScreen(path: path.text, back: back), screen, links: Links(self: back))
    }

    /// Returns the screen of an operation: 202 while it runs, 200 after its end.
    func operationResponse(_ operation: DiskOperation, _ request: ScreenRequest) throws -> ScreenResponse {
        let isOver = operation.status != .running
        let screen = OperationScreen(operation)
        return try response(
            screen,
            "disk.operation",
            links: Links(self: screen.href),
            state: isOver ? .content : .loading,
            status: isOver ? .ok : .accepted,
            headerFields: request.method == .get ? [:] : [.location: screen.href.requestTarget]
        )
    }
}
