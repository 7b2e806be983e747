import Foundation
import HTTPTypes
import JSONValues

/// A requested change. It is checked at once, and made at once or when its operation ends.
enum DiskChange: Sendable, Codable {
    case discard(DiskPath)
    case remove(DiskPath)
    case emptyTrash
    case move(DiskPath, to: DiskPath, overwrite: Bool)
    case copy(DiskPath, to: DiskPath, overwrite: Bool)
    case restore(DiskPath, to: DiskPath, overwrite: Bool)
    /// Saves a published node of another account.
    case save(Int, of: Int, to: DiskPath)
    case store(DiskContent, at: DiskPath, overwrite: Bool)
    case nothing

    /// The names by which a test makes calls asynchronous.
    enum Call: String, CaseIterable, Sendable, Codable {
        case copy, move, delete, restore, empty, save, upload
    }
}

extension DiskModel {
    /// Whether a change can be made now.
    func check(_ change: DiskChange, account: Int) throws(DiskFailure) {
        let tree = trees[account]
        switch change {
        case .discard(let path), .remove(let path):
            guard !path.names.isEmpty else { throw .root }
            guard tree.node(at: path) != nil else { throw .notFound }
        case .emptyTrash, .nothing: break
        case .move(let source, let target, let overwrite):
            let node = try existing(source, account)
            guard !target.names.starts(with: source.names) || target == source else { throw .parentMissing(target) }
            try checkTarget(target, overwrite: overwrite, account: account, moved: node.id)
        case .copy(let source, let target, let overwrite):
            let node = try existing(source, account)
            // A folder cannot be copied into itself or a folder below it.
            guard !(node.isDirectory && target.names.starts(with: source.names) && target != source) else {
                throw .parentMissing(target)
            }
            try checkTarget(target, overwrite: overwrite, account: account)
            try checkSpace(tree.size(of: node.id), account)
        case .restore(let source, let target, let overwrite):
            _ = try existing(source, account)
            try checkTarget(target, overwrite: overwrite, account: account, createsParents: true)
        case .save(let id, let owner, let target):
            try checkTarget(target, overwrite: true, account: account)
            try checkSpace(trees[owner].size(of: id), account)
        case .store(let content, let path, let overwrite):
            try checkUploadTarget(path, overwrite: overwrite, account: account)
            guard content.size <= tree.maximumFile else { throw .tooLarge }
            try checkSpace(content.size - (tree.node(at: path)?.content?.size ?? 0), account)
        }
    }

    private func existing(_ path: DiskPath, _ account: Int) throws(DiskFailure) -> DiskNode {
        guard !path.names.isEmpty else { throw .root }
        guard let node = trees[account].node(at: path) else { throw .notFound }
        return node
    }

    /// Whether something may be put there.
    func checkTarget(
        _ target: DiskPath,
        overwrite: Bool,
        account: Int,
        moved: Int? = nil,
        createsParents: Bool = false
    ) throws(DiskFailure) {
        guard !target.names.isEmpty else { throw .root }
        if let node = trees[account].node(at: target) {
            guard overwrite, node.id != moved else {
                throw node.isDirectory ? .directoryExists(target) : .exists(target)
            }
        } else if !createsParents {
            guard trees[account].node(at: target.parent)?.isDirectory == true else { throw .parentMissing(target) }
        } else {
            var parent = target.parent
            while !parent.names.isEmpty, trees[account].node(at: parent) == nil { parent = parent.parent }
            guard trees[account].node(at: parent)?.isDirectory == true else { throw .parentMissing(target) }
        }
    }

    /// Whether a file may be uploaded to a path. It may replace a file, never a folder.
    func checkUploadTarget(_ target: DiskPath, overwrite: Bool, account: Int) throws(DiskFailure) {
        try checkTarget(target, overwrite: overwrite, account: account)
        guard trees[account].node(at: target)?.isDirectory != true else { throw .directoryExists(target) }
    }

    private func checkSpace(_ bytes: Int, _ account: Int) throws(DiskFailure) {
        var tree = trees[account]
        guard tree.usedSpace().all + bytes <= tree.totalSpace else { throw .quota }
    }

    /// Makes a change, whole or not at all.
    mutating func perform(_ change: DiskChange, account: Int, at date: Date) throws(DiskFailure) {
        try check(change, account: account)
        switch change {
        case .nothing: break
        case .discard(let path):
            if let node = trees[account].node(at: path) { trees[account].discard(node.id, at: date) }
        case .remove(let path):
            if let node = trees[account].node(at: path) { trees[account].remove(node.id, at: date) }
        case .emptyTrash:
            let children = trees[account].nodes[trees[account].trash]?.children ?? [:]
            for child in children.values { trees[account].remove(child, at: date) }
        case .move(let source, let target, _), .restore(let source, let target, _):
            guard let node = trees[account].node(at: source), let name = target.name else { return }
            let parent = clear(target, account, at: date)
            trees[account].move(node.id, to: parent, name: name, at: date)
        case .copy(let source, let target, _):
            // A copy onto itself changes nothing.
            guard source != target, let node = trees[account].node(at: source), let name = target.name else { return }
            let parent = clear(target, account, at: date)
            trees[account].copy(node.id, to: parent, name: name, at: date)
        case .save(let id, let owner, let target):
            guard let name = target.name else { return }
            let source = trees[owner]
            let parent = clear(target, account, at: date)
            trees[account].copy(id, to: parent, name: name, from: source, at: date)
        case .store(let content, let path, _):
            store(content, at: path, account: account, at: date)
        }
    }

    /// Writes a file. An existing file keeps its identity.
    mutating func store(_ content: DiskContent, at path: DiskPath, account: Int, at date: Date) {
        guard let name = path.name else { return }
        if let node = trees[account].node(at: path), !node.isDirectory {
            trees[account].replace(node.id, content: content, at: date)
        } else {
            trees[account].add(name, to: clear(path, account, at: date), content: content, at: date)
        }
    }

    /// Removes the node at a path and makes the folders above it.
    /// - Returns: the folder.
    @discardableResult
    mutating func clear(_ path: DiskPath, _ account: Int, at date: Date) -> Int {
        if let node = trees[account].node(at: path) { trees[account].remove(node.id, at: date) }
        return folder(path.parent, account, at: date)
    }

    /// Returns a folder. If it is missing, it is made together with the folders above it.
    mutating func folder(_ path: DiskPath, _ account: Int, at date: Date) -> Int {
        var parent = trees[account].root(of: path.area)
        for name in path.names {
            parent =
                trees[account].nodes[parent]?.children?[NameKey(name)] ?? trees[account].add(name, to: parent, at: date)
        }
        return parent
    }
}

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

    /// `name` is a new name, or a whole path, which one of the clients sends.
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
