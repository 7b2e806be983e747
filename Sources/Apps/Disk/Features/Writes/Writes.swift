import Foundation
import HTTPTypes
import Screens
import Upstream

/// Changes of files and folders.
struct Writes: Sendable {
    let accounts: DiskAccounts
    let queue: WriteQueue
    let responses: WriteResponses

    /// `PUT /v1/disk/file/content`: the body becomes a file while it arrives; it is there whole or not at all.
    @Sendable func upload(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPath()
        guard path.parent != nil, (try? DiskPath.checkName(path.name)) != nil else {
            throw Problem.invalidParameter("path", accepted: DiskPath.accepted(.disk))
        }
        // Before the body is sent on: the response needs it.
        _ = try request.timeZone(fallback: responses.files.timeZone)
        let overwrite = try request.query.flag("overwrite")
        let content = try request.fileContent()
        let kind = DiskWrite.Kind.upload(content, length: request.declaredBodyLength, overwrite: overwrite)
        let result = try await run(kind, path, request, session)
        return try responses.response(to: result, request) {
            try responses.changed($0, request, status: .created, isContent: true)
        }
    }

    /// `DELETE /v1/disk/file`: to the trash, or permanently.
    @Sendable func delete(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPathBelowRoot()
        let permanently = try request.query.flag("permanently")
        let result = try await run(.delete(permanently: permanently), path, request, session)
        let back = (path.parent ?? .root).link(to: "/v1/disk/files")
        return try responses.response(to: result, request) {
            try responses.removed($0, path, back: back, screen: "disk.file", request)
        }
    }

    /// `PATCH /v1/disk/file`: another name in the same folder.
    @Sendable func rename(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try request.diskPathBelowRoot()
        let fields = try await request.jsonObject()
        _ = try request.timeZone(fallback: responses.files.timeZone)
        let name = (try fields.string("name") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        try DiskPath.checkName(name, isMissing: fields.values["name"] == nil)
        let target = (path.parent ?? .root).child(name)
        let kind = DiskWrite.Kind.move(to: target, overwrite: false)
        let result = try await run(kind, path, request, session, isRename: true, body: ["name": .text(name)])
        return try responses.response(to: result, request) { try responses.changed($0, request) }
    }

    /// `POST /v1/disk/folders`.
    @Sendable func makeFolder(_ request: ScreenRequest, _ session: Session) async throws -> ScreenResponse {
        let path = try await request.jsonObject().newDiskPath("path")
        let result = try await run(.makeFolder, path, request, session, body: ["path": .text(path.text)])
        return try responses.response(to: result, request) {
            try responses.changed($0, request, status: .created)
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
            throw Problem.validation([
                .field("/to", "invalid", "to must be another place, and not in the folder itself.")
            ])
        }
        let body: [String: Action.Constant] = [
            "from": .text(from.text), "to": .text(to.text), "overwrite": .boolean(overwrite),
        ]
        let result = try await run(kind(to, overwrite), from, request, session, body: body)
        return try responses.response(to: result, request) {
            try responses.changed($0, request, status: .created)
        }
    }

    private func run(
        _ kind: DiskWrite.Kind,
        _ path: DiskPath,
        _ request: ScreenRequest,
        _ session: Session,
        isRename: Bool = false,
        body: [String: Action.Constant]? = nil
    ) async throws -> WriteQueue.Result {
        let account = try await accounts.account(of: session)
        let conditions = responses.conditions(of: request)
        let write = DiskWrite(kind: kind, path: path, conditions: conditions, isRename: isRename)
        return try await queue.run(write, request, for: account, body: body)
    }
}
