import Foundation
import HTTPTypes
import Screens
import Storage
import Upstream

extension DiskService {
    /// `DELETE /v1/disk/file`: to the trash, or for good.
    @Sendable func delete(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try request.diskPath()
        guard !path.isRoot else {
            throw Problem.invalidParameter("path", accepted: "accepts a file or folder, not the whole Disk")
        }
        let permanently = try request.query.flag("permanently")
        let account = try await account(of: request)
        let write = DiskWrite(kind: .delete(permanently: permanently), path: path, conditions: conditions(request))
        return try removed(
            try await run(write, account),
            path,
            back: (path.parent ?? .root).link(to: "/v1/disk/files"),
            screen: "disk.file",
            request
        )
    }

    /// `PATCH /v1/disk/file`: another name in the same folder.
    @Sendable func rename(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try request.diskPath()
        guard let folder = path.parent else {
            throw Problem.invalidParameter("path", accepted: "accepts a file or folder, not the whole Disk")
        }
        let fields = try await request.jsonObject()
        _ = try timeZone(request)
        let name = (try fields.string("name") ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        try Self.checkName(name, isMissing: fields.values["name"] == nil)
        let account = try await account(of: request)
        try refuseOffline()
        let (row, reading) = try await item(path, account, .useCache)
        if row.item.kind == .file, DiskItem.fileExtension(of: name) != DiskItem.fileExtension(of: path.name) {
            let kept = DiskItem.fileExtension(of: path.name)
            throw Problem.validation([
                .field(
                    "/name",
                    "extension",
                    "name must keep its extension\(kept.isEmpty ? ", which is none" : " .\(kept)")."
                )
            ])
        }
        let target = folder.child(name)
        let write = DiskWrite(
            kind: .move(to: target, overwrite: false),
            path: path,
            conditions: conditions(request),
            isRename: true
        )
        guard target != path else {
            try await WriteExecutor(service: self, write: write, account: account).check()
            return try changedFile(.done(row, reading.provenance), request)
        }
        return try changedFile(try await run(write, account), request)
    }

    /// What a new name may be.
    static func checkName(_ name: String, isMissing: Bool = false, field: String = "name") throws {
        let rule = "\(field) must have 1 to \(DiskPath.longestName) characters, without / and control characters."
        guard !name.isEmpty else {
            throw Problem.validation([.field("/\(field)", isMissing ? "required" : "empty", rule)])
        }
        guard name.unicodeScalars.count <= DiskPath.longestName else {
            throw Problem.validation([.field("/\(field)", "too-long", rule)])
        }
        guard DiskPath.isName(name), !name.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F })
        else {
            throw Problem.validation([.field("/\(field)", "invalid", rule)])
        }
    }

    /// `POST /v1/disk/folders`.
    @Sendable func makeFolder(_ request: ScreenRequest) async throws -> ScreenResponse {
        let path = try Self.newPath("path", try await request.jsonObject())
        let account = try await account(of: request)
        let write = DiskWrite(kind: .makeFolder, path: path, conditions: conditions(request))
        return try changedFile(try await run(write, account), request, status: .created)
    }

    /// `POST /v1/disk/files/move`.
    @Sendable func move(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await transfer(request) { .move(to: $0, overwrite: $1) }
    }

    /// `POST /v1/disk/files/copy`.
    @Sendable func copy(_ request: ScreenRequest) async throws -> ScreenResponse {
        try await transfer(request) { .copy(to: $0, overwrite: $1) }
    }

    private func transfer(_ request: ScreenRequest, as kind: (_ to: DiskPath, _ overwrite: Bool) -> DiskWrite.Kind)
        async throws -> ScreenResponse
    {
        let fields = try await request.jsonObject()
        let from = try fields.diskPath("from")
        let to = try Self.newPath("to", fields)
        let overwrite = try fields.diskFlag("overwrite")
        guard !from.isRoot, from != to, !from.contains(to) else {
            throw Problem.validation([
                .field("/to", "invalid", "to must be another place, and not in the folder itself.")
            ])
        }
        let account = try await account(of: request)
        let write = DiskWrite(kind: kind(to, overwrite), path: from, conditions: conditions(request))
        return try changedFile(try await run(write, account), request, status: .created)
    }

    /// A path at which something is to be.
    static func newPath(_ field: String, _ fields: JSONFields) throws -> DiskPath {
        let path = try fields.diskPath(field)
        guard !path.isRoot else {
            throw Problem.validation([
                .field("/\(field)", "invalid", "\(field) must be a place in the Disk, not the whole of it.")
            ])
        }
        try checkName(path.name, field: field)
        return path
    }

    /// `GET /v1/disk/trash`.
    @Sendable func trash(_ request: ScreenRequest) async throws -> ScreenResponse {
        let asked = try request.query.page(defaultLimit: 20)
        let timeZone = try timeZone(request)
        let account = try await account(of: request)
        let ownValidity = store.changeToken(account: account.id)
        let key = PageKey(
            account: DiskStore.owner(account.id),
            screen: "trash",
            query: "",
            offset: asked.offset,
            limit: asked.limit
        )
        let (page, reading) = try await page(key, account, try request.cachePolicy()) { token, epoch in
            let now = clock.now()
            return api.trash(limit: asked.limit, offset: asked.offset, token, account: account.id) {
                record throws(UpstreamError) in
                guard let embedded = record.embedded else {
                    throw .badResponse(status: .ok, reason: "a trash without its content")
                }
                let items = Self.unique(embedded.items)
                return store.persistRows(
                    items,
                    as: key,
                    total: embedded.total,
                    hasMore: embedded.total.map { asked.end < $0 && !embedded.items.isEmpty }
                        ?? (embedded.items.count >= asked.limit),
                    account: account.id,
                    epoch: epoch,
                    at: now,
                    changed: { announce("disk.trash", $0, to: account.id) }
                )
            }
        }
        let shown = Page(asked, page)
        let isEmpty = page.rows.isEmpty && asked.offset == 0
        let meta = Meta(
            screen: "disk.trash",
            state: isEmpty ? .empty : .content,
            provenance: reading.provenance,
            banner: reading.provenance.offline ? .diskOffline : nil,
            page: shown
        )
        let data = TrashScreen(
            items: page.rows.map { TrashRowScreen($0, timeZone: timeZone) },
            empty: isEmpty ? .trash : nil
        )
        return try .screen(
            Envelope(data: data, meta: meta, links: request.links(for: shown)),
            provenance: reading.provenance,
            now: clock.now(),
            changeToken: reading.changeToken?.and(ownValidity)
        )
    }

    /// `POST /v1/disk/trash/restore`.
    @Sendable func restore(_ request: ScreenRequest) async throws -> ScreenResponse {
        let fields = try await request.jsonObject()
        let path = try fields.diskPath("path", scheme: .trash)
        guard !path.isRoot else {
            throw Problem.validation([.field("/path", "invalid", "path must be something in the trash.")])
        }
        let name = try fields.string("name")
        if let name { try Self.checkName(name) }
        let overwrite = try fields.diskFlag("overwrite")
        let account = try await account(of: request)
        let known = try store.row(path, account: account.id)?.item
        let write = DiskWrite(
            kind: .restore(name: name, overwrite: overwrite),
            path: path,
            conditions: conditions(request)
        )
        let written = try await run(write, account)
        let back = known?.origin.flatMap { DiskPath($0) }?.parent ?? .root
        return try removed(written, path, back: back.link(to: "/v1/disk/files"), screen: "disk.trash", request)
    }
}
