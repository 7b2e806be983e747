import Foundation
import HTTPTypes

/// The calls that change the disk and the trash.
extension DiskModel {
    mutating func makeDirectory(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let path = try request.path("path")
        guard !path.names.isEmpty else { throw .directoryExists(path) }
        try checkTarget(path, overwrite: false, account: account)
        _ = folder(path, account, at: request.now)
        return request.link(.created, to: path)
    }

    mutating func delete(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let path = try request.path("path")
        let change: DiskChange = try request.flag("permanently") ? .remove(path) : .discard(path)
        try check(change, account: account)
        if let digest = request.parameters["md5"], let content = trees[account].node(at: path)?.content,
            digest.lowercased() != content.md5
        {
            throw .digestDiffers
        }
        return try finish(change, .delete, request, account) { DiskRequest.noContent }
    }

    mutating func copy(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let target = try request.path("path")
        let change = DiskChange.copy(try request.path("from"), to: target, overwrite: try request.flag("overwrite"))
        return try finish(change, .copy, request, account) { request.link(.created, to: target) }
    }

    mutating func move(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let target = try request.path("path")
        let change = DiskChange.move(try request.path("from"), to: target, overwrite: try request.flag("overwrite"))
        return try finish(change, .move, request, account) { request.link(.created, to: target) }
    }

    mutating func patch(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let path = try request.path("path")
        guard let node = trees[account].node(at: path) else { throw .notFound }
        guard let changes = try request.object()["custom_properties"]?.object else {
            throw .invalid("custom_properties", ("this field is required.", "это поле является обязательным."))
        }
        var properties = JSONObject()
        if case .some(let present) = node.properties { properties = present }
        for change in changes.members {
            guard change.value.object == nil, change.value.array == nil else {
                throw .invalid("custom_properties", ("values must be scalar.", "значения должны быть скалярными."))
            }
            properties[change.name] = change.value == .null ? Optional.none : change.value
        }
        trees[account].update(node.id, at: request.now) { $0.properties = .some(properties) }
        guard let changed = trees[account].nodes[node.id] else { throw .notFound }
        return request.json(
            .ok,
            .object(try request.rendering(links).resource(changed, in: trees[account], fields: request.fields))
        )
    }

    mutating func deleteFromTrash(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        var change = DiskChange.emptyTrash
        if let text = request.parameters["path"], !text.isEmpty {
            let path = try DiskPath(text, in: .trash)
            if !path.names.isEmpty { change = .remove(path) }
        }
        let call: DiskChange.Call = if case .emptyTrash = change { .empty } else { .delete }
        return try finish(change, call, request, account) { DiskRequest.noContent }
    }

    /// `name` is a new name, or a whole path as one of the clients sends it.
    mutating func restore(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let path = try request.path("path", in: .trash)
        guard let node = trees[account].node(at: path) else { throw .notFound }
        // An item in a folder of the trash is not in the trash itself and has no origin.
        guard let trashed = node.trashed else { throw .notFound }
        var target = trashed.origin
        if let name = request.parameters["name"], !name.isEmpty {
            let named = try DiskPath(name.contains("/") ? name : "disk:/\(name)")
            target = name.contains("/") ? named : target.parent.appending(name)
        }
        let change = DiskChange.restore(path, to: target, overwrite: try request.flag("overwrite"))
        return try finish(change, .restore, request, account) { request.link(.created, to: target) }
    }

    /// Makes a change and returns `done`, or returns the link of the operation that will make it.
    mutating func finish(
        _ change: DiskChange,
        _ call: DiskChange.Call,
        _ request: DiskRequest,
        _ account: Int,
        done: () -> UpstreamResponse
    ) throws(DiskFailure) -> UpstreamResponse {
        let force = try request.flag("force_async")
        guard let operation = try carryOut(change, call: call, force: force, account: account, now: request.now) else {
            return done()
        }
        return request.link(.accepted, href: "\(request.base)/operations/\(operation)")
    }
}
