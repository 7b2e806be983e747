import Foundation
import HTTPTypes
import JSONValues

/// All data of the simulated service.
struct DiskModel: Sendable, Codable {
    var trees: [DiskTree]
    var links: DiskLinks
    var operations = DiskOperations()
    /// Targets of uploads, by the last part of their links.
    var uploads: [String: DiskUpload] = [:]
    /// Errors that the next calls return.
    var planned: [PlannedFailure] = []
    private var uploadCount = 0

    init(trees: [DiskTree], links: DiskLinks) {
        self.trees = trees
        self.links = links
    }

    func account(login: String) -> Int? { trees.firstIndex { $0.account.login == login } }

    /// Registers an upload and its operation; returns the last part of its link.
    mutating func register(_ upload: DiskUpload, now: Date) -> String {
        uploadCount += 1
        let stamp = now.formatted(.iso8601).filter { $0.isNumber || $0 == "T" }
        let secret = Hexadecimal.text(links.mac("upload \(uploadCount) \(upload.path)").prefix(12))
        let target = "\(stamp).000.utd.\(secret)-k01s.\(uploadCount)"
        uploads[target] = upload
        return target
    }
}

/// An upload for which a link was given.
struct DiskUpload: Sendable, Codable {
    let account: Int
    let path: DiskPath
    let overwrite: Bool
    let operation: String
    var expires: Date
}

/// An error that a call returns instead of being carried out, a number of times.
struct PlannedFailure: Sendable, Codable {
    /// A method and a path, such as `PUT /resources/publish`.
    let call: String
    let failure: DiskFailure
    var times: Int
}

/// The calls that change nothing.
extension DiskModel {
    mutating func info(_ request: DiskRequest, _ account: Int) -> UpstreamResponse {
        let used = trees[account].usedSpace()
        let tree = trees[account]
        let user = tree.account
        let registered = JSONValue.string(DiskTime.text(user.registered))
        return request.json(
            .ok,
            [
                "max_file_size": .integer(tree.maximumFile), "paid_max_file_size": 53_687_091_200,
                "total_space": .integer(tree.totalSpace),
                "reg_time": registered, "trash_size": .integer(used.trash), "is_paid": .bool(user.isPaid),
                "is_idm_managed_folder_address_access": false,
                "used_space": .integer(used.all),
                "system_folders": .object(JSONObject(DiskSeed.systemFolders.map { ($0.key, .string($0.value)) })),
                "user": [
                    "reg_time": registered, "display_name": .string(user.displayName), "uid": .string(user.uid),
                    "country": .string(user.country),
                    "is_child": false, "login": .string(user.login),
                ],
                "is_idm_managed_public_access": false, "unlimited_autoupload_enabled": false,
                "revision": .integer(tree.revision),
            ]
        )
    }

    /// A resource of the disk or of the trash, a folder with a part of its list.
    mutating func resource(_ request: DiskRequest, _ account: Int, in area: DiskPath.Area) throws(DiskFailure)
        -> UpstreamResponse
    {
        let path = try request.path("path", in: area)
        let rendering = try request.rendering(links)
        let paging = try request.paging()
        let order = try request.order()
        guard let node = trees[account].node(at: path) else { throw .notFound }
        return show(node, account, request, rendering, paging: paging, order: order)
    }

    mutating func show(
        _ node: DiskNode,
        _ account: Int,
        _ request: DiskRequest,
        _ rendering: ResourceRendering,
        paging: (limit: Int, offset: Int),
        order: (text: String, order: DiskOrder?)
    ) -> UpstreamResponse {
        let fields = request.fields
        var object = rendering.resource(node, in: trees[account], fields: fields)
        if node.isDirectory, fields.contains("_embedded") {
            let children = trees[account].children(of: node.id, order: order.order)
            let list = rendering.list(
                of: node,
                in: trees[account],
                items: nodes(children.dropFirst(paging.offset).prefix(paging.limit), account),
                total: children.count,
                paging: paging,
                sort: order.text,
                fields: fields.below("_embedded")
            )
            object["_embedded"] = .object(list)
        }
        return request.json(.ok, .object(object))
    }

    mutating func files(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let paging = try request.paging()
        let found = trees[account].files(mediaTypes: try request.mediaTypes(), order: try request.order().order)
        return try flat(
            found.dropFirst(paging.offset),
            request,
            account,
            ["limit": .integer(paging.limit), "offset": .integer(paging.offset)]
        )
    }

    /// The documentation has no `offset` here.
    mutating func lastUploaded(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let found = trees[account].lastUploaded(mediaTypes: try request.mediaTypes())
        return try flat(found[...], request, account, ["limit": .integer(try request.paging().limit)])
    }

    mutating func published(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let paging = try request.paging()
        let type = request.parameters["type"].flatMap { $0.isEmpty ? nil : $0 }
        guard type.map(["dir", "file"].contains) ?? true else {
            throw .invalid("type", ("must be dir or file.", "допустимы значения dir и file."))
        }
        let rest: JSONObject = [
            "limit": .integer(paging.limit), "offset": .integer(paging.offset), "type": type.map { .string($0) },
        ]
        let found = trees[account].published(directories: type.map { $0 == "dir" })
        return try flat(found.dropFirst(paging.offset), request, account, rest)
    }

    /// Lists that have neither a path nor a total.
    private func flat(_ found: ArraySlice<Int>, _ request: DiskRequest, _ account: Int, _ rest: JSONObject)
        throws(DiskFailure) -> UpstreamResponse
    {
        let rendering = try request.rendering(links)
        let limit = try request.paging().limit
        let fields = request.fields.below("items")
        let items = nodes(found.prefix(limit), account).map {
            JSONValue.object(rendering.resource($0, in: trees[account], fields: fields))
        }
        var object: JSONObject = ["items": .array(items)]
        object.members += rest.members
        return request.json(.ok, .object(object))
    }

    private func nodes(_ ids: ArraySlice<Int>, _ account: Int) -> [DiskNode] {
        ids.compactMap { trees[account].nodes[$0] }
    }

    func download(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        guard let node = trees[account].node(at: try request.path("path")) else { throw .notFound }
        // The service sends folders as archives, whose links are not simulated.
        guard !node.isDirectory else { throw .notAcceptable }
        return request.link(
            .ok,
            href: links.contentURL(node, origin: request.origin, uid: trees[account].account.uid, now: request.now)
        )
    }

    mutating func operation(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        request.json(.ok, ["status": .string(try poll(request.path[1], account: account, now: request.now))])
    }
}

/// Links for uploads, and the uploads.
extension DiskModel {
    mutating func upload(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let path = try request.path("path")
        let overwrite = try request.flag("overwrite")
        try checkUploadTarget(path, overwrite: overwrite, account: account)
        let used = trees[account].usedSpace().all
        guard used < trees[account].totalSpace else { throw .quota }
        let operation = operations.add(.nothing, account: account, now: request.now, waits: true)
        let expires = request.now.addingTimeInterval(TimeInterval(links.settings.uploadLifetime))
        let upload = DiskUpload(
            account: account,
            path: path,
            overwrite: overwrite,
            operation: operation,
            expires: expires
        )
        let target = register(upload, now: request.now)
        let href = "\(links.origin(request.origin))/yandex_uploader/upload-target/\(target)"
        return request.link(.ok, href: href, method: "PUT", operation: operation)
    }

    /// The sandbox fetches nothing: the operation is accepted and fails.
    mutating func uploadFromURL(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        _ = try request.text("url")
        try checkTarget(try request.path("path"), overwrite: false, account: account)
        let operation = operations.add(.nothing, account: account, now: request.now)
        operations.settle(operation, "failed")
        return request.link(.accepted, href: "\(request.base)/operations/\(operation)")
    }

    /// Ends the operation of an upload that broke off before its last byte. Its link is still valid for another
    /// attempt.
    mutating func breakOff(target: String) {
        if let upload = uploads[target] { operations.settle(upload.operation, "failed") }
    }

    /// Stores the bytes of an upload. A link is valid for one success.
    mutating func receive(_ body: ReceivedBody, target: String, now: Date) -> UpstreamResponse {
        guard let upload = uploads[target], now <= upload.expires else { return .text(.gone, "upload target is gone") }
        let change = DiskChange.store(DiskContent(body), at: upload.path, overwrite: upload.overwrite)
        do throws(DiskFailure) {
            if operations.rules.calls.contains(.upload) {
                try check(change, account: upload.account)
                operations.resume(upload.operation, change: change, now: now)
                uploads[target] = nil
                return UpstreamResponse(status: .accepted)
            }
            try perform(change, account: upload.account, at: now)
        } catch {
            return .text(error.status, error.description)
        }
        operations.resume(upload.operation, change: nil, now: now)
        uploads[target] = nil
        return UpstreamResponse(status: .created)
    }
}
