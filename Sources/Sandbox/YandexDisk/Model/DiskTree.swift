import Crypto
import Foundation
import JSONValues

/// The files of one account, those in the trash included.
struct DiskTree: Sendable, Codable {
    var account: DiskAccount
    var totalSpace: Int
    /// Largest file that may be uploaded, in bytes.
    var maximumFile: Int
    /// Bytes that count as used but belong to no file, such as those of letters. Not part of a saved state.
    var usedElsewhere = 0
    private(set) var revision: Int
    private(set) var nodes: [Int: DiskNode] = [:]
    let root: Int
    let trash: Int
    private var nextID: Int
    /// Sorted folders and lists, valid until the next change. With 100,000 children, sorting takes most of the time.
    private var orders: [String: [Int]] = [:]
    private var usage: (all: Int, trash: Int)?

    /// Derived values are not coded.
    private enum CodingKeys: CodingKey {
        case account, totalSpace, maximumFile, revision, nodes, root, trash, nextID
    }

    /// Restores the children of folders after decoding, because only parents are encoded.
    mutating func findChildren() {
        for node in nodes.values where node.parent != node.id {
            nodes[node.parent]?.children?[NameKey(node.name)] = node.id
        }
    }

    init(account: DiskAccount, number: Int, totalSpace: Int, at date: Date) {
        self.account = account
        self.totalSpace = totalSpace
        maximumFile = account.isPaid ? 53_687_091_200 : 1_073_741_824
        root = number << 40
        trash = root + 1
        nextID = root + 2
        revision = Int(date.timeIntervalSince1970) * 1_000_000
        for (id, name) in [(root, "disk"), (trash, "trash")] {
            nodes[id] = DiskNode(
                id: id,
                parent: id,
                name: name,
                children: [:],
                created: date,
                modified: date,
                revision: revision,
                uploaded: revision
            )
        }
    }

    // MARK: reading

    func root(of area: DiskPath.Area) -> Int { area == .disk ? root : trash }

    func node(at path: DiskPath) -> DiskNode? {
        var node = nodes[root(of: path.area)]
        for name in path.names {
            guard let child = node?.children?[NameKey(name)] else { return nil }
            node = nodes[child]
        }
        return node
    }

    func path(of node: DiskNode) -> DiskPath {
        var names: [String] = []
        var current = node
        while current.id != root, current.id != trash, let parent = nodes[current.parent] {
            names.append(current.name)
            current = parent
        }
        return DiskPath(area: current.id == trash ? .trash : .disk, names: names.reversed())
    }

    func isEmpty(_ node: DiskNode) -> Bool { node.children?.isEmpty ?? true }

    /// The node and everything below it.
    func subtree(of id: Int) -> [DiskNode] {
        var found: [DiskNode] = []
        var open = [id]
        while let next = open.popLast() {
            guard let node = nodes[next] else { continue }
            found.append(node)
            if let children = node.children { open += children.values }
        }
        return found
    }

    func size(of id: Int) -> Int { subtree(of: id).reduce(0) { $0 + ($1.content?.size ?? 0) } }

    /// The bytes that count as used, and those of them in the trash.
    mutating func usedSpace() -> (all: Int, trash: Int) {
        let files = usage ?? (all: size(of: root) + size(of: trash), trash: size(of: trash))
        usage = files
        return (files.all + usedElsewhere, files.trash)
    }

    /// Returns a list that is cached under `key` until the next change.
    mutating func ordered(_ key: String, _ make: (DiskTree) -> [Int]) -> [Int] {
        if let order = orders[key] { return order }
        // Clients choose the keys, so their number is bounded.
        if orders.count >= 100 { orders = [:] }
        let order = make(self)
        orders[key] = order
        return order
    }

    // MARK: changing

    /// Counts a change at that time.
    mutating func touch(at date: Date) -> Int {
        orders.removeAll(keepingCapacity: true)
        usage = nil
        revision = max(revision + 1, Int(date.timeIntervalSince1970 * 1_000_000))
        return revision
    }

    /// Adds a file, or a folder if `content` is nil. The name must be free.
    @discardableResult
    mutating func add(
        _ name: String,
        to parent: Int,
        content: DiskContent? = nil,
        exif: JSONObject = .init(),
        at date: Date
    ) -> Int {
        let revision = touch(at: date)
        let id = nextID
        nextID += 1
        nodes[id] = DiskNode(
            id: id,
            parent: parent,
            name: name,
            children: content == nil ? [:] : nil,
            content: content,
            exif: exif,
            created: date,
            modified: date,
            revision: revision,
            uploaded: revision
        )
        nodes[parent]?.children?[NameKey(name)] = id
        return id
    }

    /// Replaces the content of a file, which keeps its identity.
    mutating func replace(_ id: Int, content: DiskContent, at date: Date) {
        let revision = touch(at: date)
        nodes[id]?.content = content
        nodes[id]?.modified = date
        nodes[id]?.exif = .init()
        nodes[id]?.revision = revision
        nodes[id]?.uploaded = revision
    }

    /// Removes a node and everything below it permanently.
    mutating func remove(_ id: Int, at date: Date) {
        _ = touch(at: date)
        detach(id)
        for node in subtree(of: id) { nodes[node.id] = nil }
    }

    /// Moves a node to another folder and name, which must be free. Its times are kept.
    mutating func move(_ id: Int, to parent: Int, name: String, at date: Date) {
        let revision = touch(at: date)
        detach(id)
        nodes[id]?.parent = parent
        nodes[id]?.name = name
        nodes[id]?.revision = revision
        nodes[parent]?.children?[NameKey(name)] = id
    }

    /// Copies a node and everything below it, without publications and custom properties.
    mutating func copy(_ id: Int, to parent: Int, name: String, from other: DiskTree? = nil, at date: Date) {
        let source = other ?? self
        guard let node = source.nodes[id] else { return }
        let made = add(name, to: parent, content: node.content, exif: node.exif, at: date)
        for child in (node.children ?? [:]).values.sorted() {
            guard let name = source.nodes[child]?.name else { continue }
            copy(child, to: made, name: name, from: source, at: date)
        }
    }

    /// Moves a node to the trash, under its name with a suffix.
    mutating func discard(_ id: Int, at date: Date) {
        guard let node = nodes[id] else { return }
        let origin = path(of: node)
        let digest = Hexadecimal.text(Insecure.SHA1.hash(data: Array("\(origin) \(id) \(revision)".utf8)))
        for below in subtree(of: id) { nodes[below.id]?.publication = nil }
        move(id, to: trash, name: "\(node.name)_\(digest)", at: date)
        nodes[id]?.trashed = DiskNode.Trashed(name: node.name, origin: origin, at: date)
    }

    mutating func update(_ id: Int, at date: Date, _ change: (inout DiskNode) -> Void) {
        let revision = touch(at: date)
        guard var node = nodes[id] else { return }
        change(&node)
        node.revision = revision
        nodes[id] = node
    }

    /// Counts a view of a published node. This is no change: the revision and cached lists remain.
    mutating func countView(of id: Int) { nodes[id]?.publication?.views += 1 }

    private mutating func detach(_ id: Int) {
        guard let node = nodes[id] else { return }
        nodes[node.parent]?.children?[NameKey(node.name)] = nil
        nodes[id]?.trashed = nil
    }
}

/// The order of a list: a key, and whether it is descending.
struct DiskOrder: Equatable {
    enum Key: String, CaseIterable {
        case name, path, created, modified, size, deleted
    }

    let key: Key
    let isReversed: Bool

    init?(_ text: String) {
        isReversed = text.hasPrefix("-")
        guard let key = Key(rawValue: isReversed ? String(text.dropFirst()) : text) else { return nil }
        self.key = key
    }
}

extension DiskTree {
    /// The children of a folder. Without an order: folders first, then by name.
    mutating func children(of folder: Int, order: DiskOrder?) -> [Int] {
        ordered("folder \(folder) \(order.map { "\($0)" } ?? "")") { tree in
            let nodes = (tree.nodes[folder]?.children ?? [:]).values.compactMap { tree.nodes[$0] }
            return tree.sorted(nodes, order: order) {
                $0.isDirectory != $1.isDirectory ? $0.isDirectory : $0.name < $1.name
            }
        }
    }

    /// All files outside the trash with those media types. Without an order they are sorted by name.
    mutating func files(mediaTypes: [String], order: DiskOrder?) -> [Int] {
        ordered("files \(mediaTypes) \(order.map { "\($0)" } ?? "")") { tree in
            tree.sorted(tree.files(mediaTypes), order: order) { $0.name != $1.name ? $0.name < $1.name : $0.id < $1.id }
        }
    }

    /// All files outside the trash with those media types, the last upload first.
    mutating func lastUploaded(mediaTypes: [String]) -> [Int] {
        ordered("uploads \(mediaTypes)") { tree in
            tree.sorted(tree.files(mediaTypes), order: nil) { $0.uploaded > $1.uploaded }
        }
    }

    /// The published nodes, the last one first.
    mutating func published(directories: Bool?) -> [Int] {
        ordered("published \(directories.map { "\($0)" } ?? "")") { tree in
            let nodes = tree.nodes.values.filter {
                $0.publication != nil && (directories == nil || $0.isDirectory == directories)
            }
            return tree.sorted(Array(nodes), order: nil) {
                ($0.publication?.revision ?? 0) > ($1.publication?.revision ?? 0)
            }
        }
    }

    private func files(_ mediaTypes: [String]) -> [DiskNode] {
        subtree(of: root).filter {
            !$0.isDirectory && (mediaTypes.isEmpty || mediaTypes.contains($0.type.media))
        }
    }

    private func sorted(_ nodes: [DiskNode], order: DiskOrder?, otherwise: (DiskNode, DiskNode) -> Bool) -> [Int] {
        guard let order else { return nodes.sorted(by: otherwise).map(\.id) }
        let sorted: [Int] =
            switch order.key {
            case .name: keyed(nodes) { $0.displayName }
            case .path: keyed(nodes) { path(of: $0).description }
            case .created: keyed(nodes) { $0.created }
            case .modified: keyed(nodes) { $0.modified }
            case .size: keyed(nodes) { $0.content?.size ?? 0 }
            case .deleted: keyed(nodes) { $0.trashed?.at ?? $0.modified }
            }
        return order.isReversed ? sorted.reversed() : sorted
    }

    /// Nodes with equal keys are sorted by identity, so that pages of one list neither overlap nor leave anything out.
    private func keyed<Key: Comparable>(_ nodes: [DiskNode], _ key: (DiskNode) -> Key) -> [Int] {
        nodes.map { (key: key($0), id: $0.id) }.sorted { $0.key != $1.key ? $0.key < $1.key : $0.id < $1.id }.map(\.id)
    }
}
